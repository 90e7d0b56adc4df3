//! The variants of a benchmark: sizes, placements, cold and warm.

use std::any::{Any, type_name};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use syscost_params::{Params, TaskRole, Value};

use crate::expect::Expect;
use crate::placement::Placement;
use crate::profile::Profile;
use crate::profile::Setup;
use crate::proof::Proof;

/// A row of any benchmark.
pub(crate) type Erased = dyn Any + Send + Sync;

/// One variant: a row with its name, and what follows from the row.
#[derive(Debug)]
pub struct Case<R: ?Sized = Erased> {
    /// The row.
    pub row: Arc<R>,
    pub(crate) facts: Facts,
}

/// What is known of a case whatever its row's type.
#[derive(Debug, Clone, Default)]
pub(crate) struct Facts {
    parameters: Vec<(&'static str, Cow<'static, str>)>,
    /// For each parameter of its type, where it is among those, if it has a value.
    named: Vec<Option<usize>>,
    /// What its values say of its tasks and CPUs.
    pub(crate) roles: Vec<TaskRole>,
    /// Where its tasks are, if a parameter says so.
    pub(crate) placement: Option<Placement>,
    /// What proves the parameters of such a row. Found when it is measured or explained: there are
    /// many rows, and some proofs assemble code.
    pub(crate) proofs: Option<fn(&Erased) -> Vec<Proof>>,
    pub(crate) setup: Option<Setup>,
    /// The shortest profile that measures it, if that differs from its benchmark's.
    pub(crate) profile: Option<Profile>,
    /// Whether its samples are taken as they come, even on a shared core.
    pub(crate) ignores_interference: bool,
}

impl Facts {
    /// What these parameters say, in the order of their type's.
    fn of(meanings: &[(&'static str, &'static str)], parameters: &[Parameter]) -> Self {
        let of = |(key, _): &(&'static str, _)| parameters.iter().find(|one| one.key == *key);
        let in_order = || meanings.iter().filter_map(of);
        let mut count = 0..;
        let named = in_order().map(|one| (!one.text.is_empty()).then(|| count.next()).flatten());
        let parameters = in_order().filter(|one| !one.text.is_empty());
        Self {
            named: named.collect(),
            parameters: parameters.map(|one| (one.key, one.text.clone())).collect(),
            roles: in_order().map(|one| one.role).collect(),
            placement: in_order().find_map(|one| one.placement),
            ..Self::default()
        }
    }
}

/// A parameter with its value, for [`rows`](crate::rows).
#[doc(hidden)]
#[derive(Debug)]
pub struct Parameter {
    key: &'static str,
    text: Cow<'static, str>,
    role: TaskRole,
    placement: Option<Placement>,
}

impl Parameter {
    /// The parameter of this field with this value.
    pub fn new(field: &'static str, value: &(impl Value + 'static)) -> Self {
        Self {
            placement: placement_of(value),
            key: field.trim_start_matches("r#"),
            text: value.text(),
            role: value.task_role(),
        }
    }
}

/// The placement that a value is, if it is one, or one that only some rows have.
fn placement_of(value: &dyn Any) -> Option<Placement> {
    let optional = || value.downcast_ref::<Option<Placement>>().copied().flatten();
    value.downcast_ref().copied().or_else(optional)
}

impl<R: ?Sized> Clone for Case<R> {
    fn clone(&self) -> Self {
        Self {
            facts: self.facts.clone(),
            row: Arc::clone(&self.row),
        }
    }
}

/// The only case of its benchmark.
impl Default for Case {
    fn default() -> Self {
        Case::only(()).erased()
    }
}

impl<R: Send + Sync + 'static> Case<R> {
    /// The only case of its benchmark.
    pub fn only(row: R) -> Self {
        Self {
            facts: Facts::default(),
            row: Arc::new(row),
        }
    }

    /// The same as a row of any benchmark.
    pub fn erased(self) -> Case {
        Case {
            facts: self.facts,
            row: self.row,
        }
    }
}

impl<R: Params> Case<R> {
    /// The same case as one of a row that is made of this one.
    pub fn map<S>(self, make: impl FnOnce(R) -> S) -> Case<S> {
        Case {
            facts: self.facts,
            row: Arc::new(make(Arc::unwrap_or_clone(self.row))),
        }
    }

    /// The case of these parameters. One without a value is left out of the name.
    #[doc(hidden)] // of the macro `rows`
    pub fn of(row: R, parameters: &[Parameter]) -> Self {
        Self {
            facts: Facts::of(R::MEANINGS, parameters),
            row: Arc::new(row),
        }
    }
}

impl Case {
    /// The row, if it is one of this type.
    pub fn row<R: Params>(&self) -> Option<&R> {
        self.row.downcast_ref()
    }

    /// What proves each of its parameters, in their order; of those without a value, too.
    pub(crate) fn proofs(&self) -> Vec<Proof> {
        self.facts.proofs.map_or_else(Vec::new, |of| of(&*self.row))
    }

    /// What is counted to prove its parameters; one count may prove several.
    pub fn expect(&self) -> Vec<Expect> {
        Proof::counts(&self.proofs())
    }

    /// The row of a benchmark whose rows are of this type.
    ///
    /// # Panics
    /// When it is another benchmark's.
    pub(crate) fn own_row<R: Params>(&self) -> &R {
        let other = || panic!("{} is no {}", self.suffix(), type_name::<R>());
        self.row().unwrap_or_else(other)
    }
}

impl<R: ?Sized> Case<R> {
    /// Returns the case as one that the profiles from this one on measure, whatever its row says.
    #[must_use]
    pub fn in_profile(mut self, profile: Profile) -> Self {
        self.facts.profile = Some(profile);
        self
    }

    /// These proofs of its parameters, in their order, each with the parameter's name and value, if
    /// it has one.
    pub(crate) fn with_parameters<'p>(
        &'p self,
        proofs: &'p [Proof],
    ) -> impl Iterator<Item = (&'p Proof, (&'static str, &'p str))> {
        // A row without proofs has no parameters.
        proofs
            .iter()
            .zip(&self.facts.named)
            .filter_map(|(proof, index)| {
                let (key, value) = &self.facts.parameters[(*index)?];
                Some((proof, (*key, &**value)))
            })
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
        self.facts.parameters.is_empty()
    }

    /// How expensive its set-up is, if that differs from its benchmark's.
    pub fn setup(&self) -> Option<Setup> {
        self.facts.setup
    }

    /// `{key=value,…}`, or nothing for the only case.
    pub fn suffix(&self) -> String {
        if self.is_empty() {
            return String::new();
        }
        let parameters = self.parameters();
        let list: Vec<String> = parameters.map(|(k, v)| format!("{k}={v}")).collect();
        format!("{{{}}}", list.join(","))
    }

    /// The parameters and their values, in order.
    pub fn parameters(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.facts
            .parameters
            .iter()
            .map(|(key, value)| (*key, &**value))
    }

    /// The parameters as a map.
    pub fn to_map(&self) -> BTreeMap<String, String> {
        let owned = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned());
        self.parameters().map(owned).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows;

    #[derive(Params, Clone)]
    #[expect(dead_code)] // only what it says of its tasks is read
    struct Row {
        cpus: Option<Placement>,
    }

    #[test]
    fn a_placement_is_known_where_only_some_rows_have_one() {
        let rows = rows!(Row {
            cpus: [None, Some(Placement::Distinct)]
        });
        let placed = rows.iter().map(|case| case.facts.placement);
        let expected = [None, Some(Placement::Distinct)];
        assert_eq!(placed.collect::<Vec<_>>(), expected);
    }
}
