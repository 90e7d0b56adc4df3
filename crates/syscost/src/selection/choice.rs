//! Decides which arguments are names, and which are words to search for.

use syscost_harness::Testbed;
use syscost_report::sentence;

use super::words::{is_plainly_program, may_be_words, own_or_all, program};
use super::{Found, Selector, search};
use crate::Failed;

/// Rows that are meant by name, or by words that describe them.
pub(crate) enum Choice {
    /// By name.
    Named(Selector),
    /// By words.
    Found {
        /// The words.
        text: String,
        /// The benchmarks that they find.
        found: Vec<Found>,
    },
}

impl Choice {
    /// Searches for these words; `None` if they find nothing.
    fn of_words(text: &str, here: &Testbed) -> Option<Self> {
        let found = search(text, here);
        let text = text.to_owned();
        (!found.is_empty()).then_some(Choice::Found { text, found })
    }

    /// Whether it means the row of this name.
    pub(crate) fn selects(&self, name: &str) -> bool {
        match self {
            Choice::Named(selector) => selector.selects(name),
            Choice::Found { found, .. } => found.iter().any(|one| one.selects(name)),
        }
    }

    /// Restricts what words mean to syscost's own benchmarks, if they find any.
    pub(crate) fn prefer_own(&mut self) {
        if let Choice::Found { found, .. } = self {
            *found = own_or_all(std::mem::take(found), |one| one.benchmark.id);
        }
    }

    /// The name or the words, as given.
    pub(crate) fn text(&self) -> &str {
        match self {
            Choice::Named(selector) => &selector.text,
            Choice::Found { text, .. } => text,
        }
    }

    /// Whether it is words, not a name.
    pub(crate) fn is_words(&self) -> bool {
        matches!(self, Choice::Found { .. })
    }

    /// The words and what they find; `None` for a name.
    pub(super) fn found(&self) -> Option<(&str, &[Found])> {
        match self {
            Choice::Named(_) => None,
            Choice::Found { text, found } => Some((text, found)),
        }
    }
}

/// Returns what these arguments mean. `is_name` decides which of them are names.
///
/// If all are names or programs of lmbench, each is taken by itself; otherwise they are words, to
/// search for all together. What cannot be a word (`syscall.null`, `call.*`) is always a name. Where
/// nothing has all words, each is still taken by itself if all are names, programs or phrases in
/// quotes: to measure whatever has one of the words would rarely be what is wanted.
///
/// # Errors
/// The error from `neither` for an argument that is not a name and finds nothing; [`Failed::Usage`]
/// if only single words find something.
pub(super) fn choose(
    arguments: &[String],
    is_name: impl Fn(&Selector) -> bool,
    neither: impl Fn(&Selector) -> Failed,
    here: &Testbed,
) -> Result<Vec<Choice>, Failed> {
    let parsed = arguments.iter().map(|text| Selector::parse(text, here));
    let selectors = parsed.collect::<Result<Vec<Selector>, Failed>>()?;
    let each = |selectors: Vec<Selector>| {
        let each = selectors.into_iter().map(|selector| {
            if is_name(&selector) {
                return Ok(Choice::Named(selector));
            }
            Choice::of_words(&selector.text, here).ok_or_else(|| neither(&selector))
        });
        each.collect::<Result<Vec<Choice>, Failed>>()
    };
    let (words, names): (Vec<Selector>, Vec<Selector>) = selectors
        .into_iter()
        .partition(|one| may_be_words(&one.text));
    let mut choices = each(names)?;
    let is_plain = |one: &Selector| is_name(one) || is_plainly_program(&one.text);
    if words.iter().all(is_plain) {
        choices.extend(each(words)?);
        return Ok(choices);
    }
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    let text = texts.join(" ");
    if let Some(together) = Choice::of_words(&text, here) {
        choices.push(together);
        return Ok(choices);
    }
    let is_one =
        |one: &Selector| is_name(one) || program(&one.text).is_some() || one.text.contains(' ');
    let is_each = words.len() == 1 || words.iter().all(is_one);
    let apart = each(words)?;
    if !is_each {
        return Err(none_together(&text, &apart));
    }
    choices.extend(apart);
    Ok(choices)
}

/// The error for words that find something one by one, but nothing together.
fn none_together(text: &str, apart: &[Choice]) -> Failed {
    let each = apart.iter().map(|choice| match choice {
        Choice::Named(selector) => format!("`{}` is a name", selector.text),
        Choice::Found { text, found } => {
            format!(
                "`{text}` finds {}",
                sentence::count(found.len(), "benchmark")
            )
        }
    });
    let each: Vec<String> = each.collect();
    Failed::Usage(format!(
        "nothing has all of these words: `{text}`; one by one, {}",
        each.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::super::benchmarks;

    fn ids(arguments: &[&str]) -> Vec<&'static str> {
        let arguments: Vec<String> = arguments.iter().map(|one| (*one).to_owned()).collect();
        let found = benchmarks(&arguments, &syscost_harness::Testbed::plain()).expect("something");
        found.iter().map(|one| one.benchmark.id).collect()
    }

    fn refusal(arguments: &[&str]) -> String {
        let arguments: Vec<String> = arguments.iter().map(|one| (*one).to_owned()).collect();
        let error = benchmarks(&arguments, &syscost_harness::Testbed::plain())
            .err()
            .expect("a refusal");
        error.to_string()
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
    fn only_names_and_programs_are_taken_one_by_one() {
        let groups = ids(&["syscall", "signal"]);
        assert!(groups.contains(&"syscall.null") && groups.contains(&"signal.catch"));
        assert_eq!(ids(&["syscall", "call.*"])[0], "call.integer");
        assert!(ids(&["lat_ctx", "lat_syscall"]).contains(&"syscall.null"));
        // Though one benchmark has both.
        assert!(ids(&["lat_ctx", "lat_pipe"]).contains(&"switch.ring"));
        assert!(ids(&["switch", "pipe"]).contains(&"switch.pipe"));
        let size = ids(&["cache", "line", "size"]);
        assert!(size.contains(&"memory.line_size") && !size.contains(&"fs.cache_size"));
        let beside = ids(&["timing.loop", "false", "sharing"]);
        assert_eq!(beside[..2], ["timing.loop", "memory.false_sharing"]);
        let phrases = ids(&["false sharing", "branch misprediction"]);
        assert!(phrases.contains(&"memory.false_sharing") && phrases.contains(&"op.branch_miss"));

        let error = refusal(&["sharing", "hackbench"]);
        assert_eq!(
            error,
            "nothing has all of these words: `sharing hackbench`; one by one, `sharing` finds 1 benchmark, `hackbench` finds 1 benchmark"
        );
        assert!(refusal(&["syscall", "hackbench"]).contains("`syscall` is a name"));
        assert!(refusal(&["context", "zebra"]).contains("nothing matches `zebra`"));
    }

    #[test]
    fn a_program_that_is_not_covered_says_why() {
        let error = refusal(&["lat_rand"]);
        assert!(
            error.starts_with("`lat_rand` of lmbench: Not covered: "),
            "{error}"
        );
        assert_eq!(refusal(&["lat_ctx", "lat_rand"]), error);
        // Other things have this name as well.
        assert!(!ids(&["disk"]).is_empty());
    }

    #[test]
    fn a_term_that_is_nearly_right_is_suggested() {
        for (typed, near) in [
            ("lat_ctxx", "`lat_ctx`"),
            ("mispredicton", "`misprediction`"),
        ] {
            let error = refusal(&[typed]);
            assert!(error.contains(near), "{error}");
        }
        for nonsense in ["zebra", "xyzzy", "qqq.rrr"] {
            assert_eq!(
                refusal(&[nonsense]),
                format!("nothing matches `{nonsense}`; to list everything: syscost list")
            );
        }
        assert!(refusal(&["syscall.nul"]).contains("`syscall.null`"));
        for (typed, near) in [("syscal", "`syscall`"), ("memor", "`memory`")] {
            let error = refusal(&[typed]);
            assert!(error.contains(&format!("did you mean {near}")), "{error}");
        }
        let value = refusal(&["same_cache"]);
        assert!(value.contains("`*{cpus=same_cache}`"), "{value}");
    }
}
