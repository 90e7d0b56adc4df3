//! Names, or words to search for.

use super::words::own_or_all;
use super::{Selector, search};
use crate::Failed;

/// Rows that are meant by name, or by words that say what they are.
pub(crate) enum Choice {
    /// By name.
    Named(Selector),
    /// By words.
    Found {
        /// The words.
        text: String,
        /// The benchmarks that have them.
        ids: Vec<&'static str>,
    },
}

impl Choice {
    /// What these words find, if anything.
    fn of_words(text: &str) -> Option<Self> {
        let found = search(text);
        let ids: Vec<&'static str> = found.iter().map(|benchmark| benchmark.id).collect();
        let text = text.to_owned();
        (!ids.is_empty()).then_some(Choice::Found { text, ids })
    }

    /// Whether it means the row of this name.
    pub(crate) fn selects(&self, name: &str) -> bool {
        match self {
            Choice::Named(selector) => selector.selects(name),
            Choice::Found { ids, .. } => ids.contains(&name.split('{').next().unwrap_or_default()),
        }
    }

    /// Words mean syscost's own benchmarks where they find any.
    pub(super) fn prefer_own(&mut self) {
        if let Choice::Found { ids, .. } = self {
            *ids = own_or_all(std::mem::take(ids), |id| id);
        }
    }

    /// What names it, if it is no words.
    pub(super) fn selector(&self) -> Option<&Selector> {
        match self {
            Choice::Named(selector) => Some(selector),
            Choice::Found { .. } => None,
        }
    }

    /// What was written.
    pub(crate) fn text(&self) -> &str {
        match self {
            Choice::Named(selector) => &selector.text,
            Choice::Found { text, .. } => text,
        }
    }

    /// The words and what they find, if it is no name.
    pub(super) fn found(&self) -> Option<(&str, &[&'static str])> {
        match self {
            Choice::Named(_) => None,
            Choice::Found { text, ids } => Some((text, ids)),
        }
    }
}

/// What is meant by these arguments: names all of them, as `is_name` tells; or else words to search for, all of them together; or else each for itself, a name
/// or words.
///
/// # Errors
/// What `neither` says of one that is neither.
pub(super) fn choose(
    arguments: &[String],
    is_name: impl Fn(&Selector) -> bool,
    neither: impl Fn(&Selector) -> Failed,
) -> Result<Vec<Choice>, Failed> {
    let parsed = arguments.iter().map(|text| Selector::parse(text));
    let selectors = parsed.collect::<Result<Vec<Selector>, Failed>>()?;
    if !selectors.iter().all(&is_name)
        && let Some(all) = Choice::of_words(&arguments.join(" "))
    {
        return Ok(vec![all]);
    }
    let each = selectors.into_iter().map(|selector| {
        if is_name(&selector) {
            return Ok(Choice::Named(selector));
        }
        Choice::of_words(&selector.text).ok_or_else(|| neither(&selector))
    });
    each.collect()
}

#[cfg(test)]
mod tests {
    use super::super::benchmarks;

    fn ids(arguments: &[&str]) -> Vec<&'static str> {
        let arguments: Vec<String> = arguments.iter().map(|one| (*one).to_owned()).collect();
        let found = benchmarks(&arguments).expect("something");
        found.iter().map(|benchmark| benchmark.id).collect()
    }

    #[test]
    fn names_are_names_and_other_words_are_searched_for_together() {
        let switches = ids(&["switch"]);
        assert!(switches.iter().all(|id| id.starts_with("switch.")));
        let found = ids(&["context", "switch"]);
        assert!(
            found.contains(&"switch.pipe") && !found.contains(&"switch.wakeup"),
            "{found:?}"
        );
        assert_eq!(found, ids(&["context switch"]));
        let both = ["syscall.null", "switch.pipe", "switch.ring"];
        assert_eq!(ids(&["lat_ctx", "syscall.null"]), both);
        assert!(ids(&["memory", "lat_ctx"]).contains(&"switch.ring"));
    }

    #[test]
    fn a_term_that_is_nearly_right_is_suggested() {
        for (typed, near) in [
            ("lat_ctxx", "`lat_ctx`"),
            ("mispredicton", "`misprediction`"),
        ] {
            let error = benchmarks(&[typed.to_owned()]).err().expect("it is none");
            assert!(error.to_string().contains(near), "{error}");
        }
        for nonsense in ["zebra", "xyzzy", "qqq.rrr"] {
            let error = benchmarks(&[nonsense.to_owned()]).err().expect("none");
            assert_eq!(
                error.to_string(),
                format!("nothing matches `{nonsense}`; to list everything: syscost list")
            );
        }
        let error = benchmarks(&["syscall.nul".to_owned()])
            .err()
            .expect("it is none");
        assert!(error.to_string().contains("`syscall.null`"), "{error}");
    }
}
