//! The variants of a benchmark: sizes, placements, cold and warm.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::benchmark::Setup;
use crate::expect::Expect;
use crate::failure::Failure;
use crate::here::Here;

/// The variants a benchmark has.
pub enum Cases {
    /// Only one, without parameters.
    One,
    /// These variants, whatever the machine.
    Rows(fn(&Here) -> Vec<Case>),
    /// The variants that this machine has: clocks, CPU pairs.
    Here(fn(&Here) -> Vec<Case>),
}

/// One variant.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Case {
    params: Vec<(Cow<'static, str>, Cow<'static, str>)>,
    expect: Vec<Expect>,
    pub(crate) setup: Option<Setup>,
    /// Whether it belongs on the CPU that measures the others.
    pub(crate) binds_cpus: bool,
    asked: Asked,
}

/// Which parameters have been asked for, as a bitmap of their indexes. Not part of the case's identity.
#[derive(Debug, Default)]
struct Asked(AtomicU64);

impl Clone for Asked {
    fn clone(&self) -> Self {
        Self(AtomicU64::new(self.0.load(Relaxed)))
    }
}

impl PartialEq for Asked {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Case {
    /// A case with these parameters.
    pub fn new<V: Into<Cow<'static, str>>>(
        params: impl IntoIterator<Item = (&'static str, V)>,
    ) -> Self {
        Self {
            params: params
                .into_iter()
                .map(|(key, value)| (Cow::Borrowed(key), value.into()))
                .collect(),
            ..Self::default()
        }
    }

    /// Returns the case with one more parameter, before all others.
    #[must_use]
    pub fn with_first(mut self, key: &'static str, value: impl Into<Cow<'static, str>>) -> Self {
        self.params.insert(0, (Cow::Borrowed(key), value.into()));
        self
    }

    /// Returns the case with its own expectations.
    #[must_use]
    pub fn expecting(mut self, expect: impl IntoIterator<Item = Expect>) -> Self {
        self.expect.extend(expect);
        self
    }

    /// Returns the case with a more expensive set-up than its benchmark's: about this many seconds.
    #[must_use]
    pub fn expensive(mut self, seconds: f64) -> Self {
        self.setup = Some(Setup::Expensive { seconds });
        self
    }

    /// The value of a parameter that it has.
    ///
    /// # Panics
    /// When it has none of that name: a misspelt one must not pass for an empty value. A parameter that only
    /// some cases have is read by [`Case::find`].
    pub fn get(&self, key: &str) -> &str {
        match self.find(key) {
            Some(value) => value,
            None => panic!("a case has no parameter `{key}`, only {}", self.suffix()),
        }
    }

    /// The value of a parameter that only some cases have.
    pub fn find(&self, key: &str) -> Option<&str> {
        let place = self.params.iter().position(|(k, _)| k == key)?;
        self.asked.0.fetch_or(1 << place, Relaxed);
        Some(&self.params[place].1)
    }

    /// Forgets which parameters have been asked for so far.
    pub(crate) fn forget_asked(&self) {
        self.asked.0.store(0, Relaxed);
    }

    /// A parameter that was not asked for since then: nothing depends on its value.
    pub(crate) fn unasked(&self) -> Option<&str> {
        let asked = self.asked.0.load(Relaxed);
        let mut params = self.params.iter().enumerate();
        let (_, (key, _)) = params.find(|(place, _)| asked & (1 << place) == 0)?;
        Some(key)
    }

    /// Whether a parameter with two values has the first of these rather than the second.
    ///
    /// # Errors
    /// `Broken` when it has neither: a renamed value must not fall into an `else`.
    pub fn is(&self, key: &str, value: &str, other: &str) -> Result<bool, Failure> {
        match self.get(key) {
            is if is == value => Ok(true),
            is if is == other => Ok(false),
            _ => Err(self.unknown(key)),
        }
    }

    /// The error that a parameter has a value which its benchmark does not know.
    pub fn unknown(&self, key: &str) -> Failure {
        let value = self.find(key).unwrap_or("nothing");
        Failure::Broken(format!("knows no {key}={value}"))
    }

    /// Number of parameters.
    pub fn len(&self) -> usize {
        self.params.len()
    }

    /// Whether it has no parameters: the only case of its benchmark.
    pub fn is_empty(&self) -> bool {
        self.params.is_empty()
    }

    /// The value of a numeric parameter. `4K` is 4096.
    ///
    /// # Panics
    /// When it has none of that name, or its value is not a number.
    pub fn number(&self, key: &str) -> u64 {
        let value = self.get(key);
        syscost_params::size(value)
            .unwrap_or_else(|| panic!("`{key}={value}` of a case is no number"))
    }

    /// As [`Case::number`], where the parameter may be missing or not be a number.
    pub fn find_number(&self, key: &str) -> Option<u64> {
        syscost_params::size(self.find(key)?)
    }

    /// The value of a parameter that is a time, in nanoseconds: `50us`. `None` if it is not a time.
    pub fn nanoseconds(&self, key: &str) -> Option<u64> {
        syscost_params::nanoseconds(self.get(key))
    }

    /// The case's own expectations.
    pub fn expect(&self) -> &[Expect] {
        &self.expect
    }

    /// How expensive its set-up is, if that differs from its benchmark's.
    pub fn setup(&self) -> Option<Setup> {
        self.setup
    }

    /// `{key=value,…}`, or nothing for the only case.
    pub fn suffix(&self) -> String {
        if self.params.is_empty() {
            return String::new();
        }
        let list: Vec<String> = self
            .params
            .iter()
            .map(|(k, v)| format!("{k}={v}"))
            .collect();
        format!("{{{}}}", list.join(","))
    }

    /// The parameters and their values, in order.
    pub fn parameters(&self) -> impl Iterator<Item = (&str, &str)> {
        self.params.iter().map(|(key, value)| (&**key, &**value))
    }

    /// The parameters as a map.
    pub fn to_map(&self) -> BTreeMap<String, String> {
        self.params
            .iter()
            .map(|(k, v)| (k.to_string(), v.to_string()))
            .collect()
    }
}

impl Cases {
    /// The cases on this machine, in order.
    pub fn list(&self, here: &Here) -> Vec<Case> {
        match self {
            Cases::One => vec![Case::default()],
            Cases::Rows(cases) | Cases::Here(cases) => cases(here),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_parameter_is_no_empty_value() {
        let case = Case::new([("size", "4K"), ("via", "pipe")]);
        let asked = |ask: fn(&Case)| std::panic::catch_unwind(|| ask(&case)).is_ok();
        assert!(asked(|case| assert_eq!(case.get("via"), "pipe")));
        assert!(!asked(|case| assert_eq!(case.get("vai"), "")));
        assert!(!asked(|case| assert_eq!(case.number("sise"), 0)));
        assert!(
            !asked(|case| assert_eq!(case.number("via"), 0)),
            "no number"
        );
        assert_eq!(case.is("via", "pipe", "fifo"), Ok(true));
        assert_eq!(case.is("via", "fifo", "pipe"), Ok(false));
        let neither = case.is("via", "fifo", "eventfd").unwrap_err();
        assert!(neither.to_string().contains("via=pipe"), "{neither}");
        assert_eq!((case.find("via"), case.find("vai")), (Some("pipe"), None));
    }

    #[test]
    fn a_parameter_that_is_never_asked_for_is_known() {
        let case = Case::new([("size", "4K"), ("via", "pipe")]);
        assert_eq!(case.clone().unasked(), Some("size"));
        case.number("size");
        assert_eq!(case.unasked(), Some("via"));
        case.find("via");
        assert_eq!(case.unasked(), None);
        case.forget_asked();
        assert_eq!(case.unasked(), Some("size"));
        assert_eq!(Case::default().unasked(), None);
    }

    #[test]
    fn the_only_case_has_no_suffix() {
        assert_eq!(Cases::One.list(&Here::plain())[0].suffix(), "");
    }
}
