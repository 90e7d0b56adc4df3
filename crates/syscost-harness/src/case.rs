//! The variants of a benchmark: sizes, placements, cold and warm.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::benchmark::Setup;
use crate::expect::Expect;
use crate::session::Profile;

/// One variant.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Case {
    params: Vec<(Cow<'static, str>, Cow<'static, str>)>,
    expect: Vec<Expect>,
    pub(crate) setup: Option<Setup>,
    /// Whether it belongs on the CPU that measures the others.
    pub(crate) binds_cpus: bool,
    /// The shortest profile that measures it, if that differs from its benchmark's.
    pub(crate) profile: Option<Profile>,
    /// Whether its samples are taken as they come, even on a shared core.
    pub(crate) ignores_interference: bool,
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

    /// Returns the case with its own expectations.
    #[must_use]
    pub fn expecting(mut self, expect: impl IntoIterator<Item = Expect>) -> Self {
        self.expect.extend(expect);
        self
    }

    /// The value of a parameter as it is written, if it has that parameter.
    pub fn find(&self, key: &str) -> Option<&str> {
        let mut parameters = self.parameters();
        parameters
            .find(|(known, _)| *known == key)
            .map(|(_, value)| value)
    }

    /// Whether it has no parameters: the only case of its benchmark.
    pub fn is_empty(&self) -> bool {
        self.params.is_empty()
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
