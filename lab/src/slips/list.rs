//! The list of slips, and the sources with them in.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

const LIST: &str = include_str!("list.toml");

/// A slip of one line: what stands in a source file, and what it could have been.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Slip {
    pub(super) name: String,
    pub(super) kind: String,
    /// Relative to `crates`.
    file: PathBuf,
    /// An expression, or statements.
    old: String,
    /// What it is once in, if not in the file.
    at: Option<String>,
    new: String,
    /// Rows that it makes wrong, by benchmark and values.
    pub(super) rows: Vec<String>,
    /// Whether only the timed pass slips.
    #[serde(default)]
    pub(super) timed_only: bool,
    /// Why a number that is off is kept.
    pub(super) kept: Option<String>,
}

#[derive(Deserialize)]
struct List {
    slip: Vec<Slip>,
}

impl Slip {
    /// Where it is in its file; `None` unless it is there once.
    fn start(&self, text: &str) -> Option<usize> {
        let Some(at) = &self.at else {
            return once(text, &self.old);
        };
        Some(once(text, at)? + once(at, &self.old)?)
    }
}

fn once(text: &str, part: &str) -> Option<usize> {
    let mut found = text.match_indices(part);
    let (start, _) = found.next()?;
    found.next().is_none().then_some(start)
}

/// All slips.
pub(super) fn slips() -> Result<Vec<Slip>> {
    Ok(toml::from_str::<List>(LIST)
        .context("reading the list")?
        .slip)
}

/// A piece of a source file with the numbers of its slips, from 1 on, and what they make of it.
type Places<'s> = BTreeMap<usize, (Range<usize>, Vec<(usize, &'s str)>)>;

/// The source file of this path relative to `crates`, with its slips in; `None` if it has none.
pub(super) fn with_slips(
    slips: &[Slip],
    path: &std::path::Path,
    text: &str,
) -> Result<Option<String>> {
    let mut places = Places::new();
    for (index, slip) in slips
        .iter()
        .enumerate()
        .filter(|(_, slip)| slip.file == path)
    {
        let start = slip
            .start(text)
            .with_context(|| format!("{}: not once in {}", slip.name, path.display()))?;
        let place = start..start + slip.old.len();
        let (range, all) = places
            .entry(place.start)
            .or_insert((place.clone(), Vec::new()));
        ensure!(*range == place, "{}: another slip begins there", slip.name);
        all.push((index + 1, &slip.new));
    }
    let ranges: Vec<_> = places.values().map(|(range, _)| range).collect();
    let overlaps = ranges.windows(2).any(|two| two[0].end > two[1].start);
    ensure!(!overlaps, "two slips overlap in {}", path.display());
    let mut slipped = text.to_owned();
    for (range, all) in places.into_values().rev() {
        let old = &text[range.clone()];
        slipped.replace_range(range, &choice(old, &all));
    }
    Ok((slipped != text).then_some(slipped))
}

/// Rust code that does the one or the other.
fn choice(old: &str, new: &[(usize, &str)]) -> String {
    let arms = new.iter();
    let arms = arms.map(|(number, new)| format!("if crate::slip({number}) {{ {new} }} else "));
    let chosen = format!("{}{{ {old} }}", arms.collect::<String>());
    match old.ends_with([';', '}']) {
        true => chosen,
        false => format!("({chosen})"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use syscost_benches::CATALOGUE;
    use xtask::workspace;

    use super::*;

    #[test]
    fn each_old_line_is_in_the_sources() {
        let slips = slips().expect("a list");
        for file in slips.iter().map(|slip| &slip.file).collect::<BTreeSet<_>>() {
            let path = workspace::root().join("crates").join(file);
            let text = std::fs::read_to_string(&path).expect("a source file");
            let slipped = with_slips(&slips, file, &text).unwrap_or_else(|error| panic!("{error}"));
            assert!(slipped.is_some(), "{}", file.display());
        }
    }

    #[test]
    fn each_slip_has_a_name_of_its_own_and_rows_of_known_benchmarks() {
        let slips = slips().expect("a list");
        let names: BTreeSet<&str> = slips.iter().map(|slip| &*slip.name).collect();
        assert_eq!(names.len(), slips.len());
        for slip in &slips {
            assert!(!slip.rows.is_empty(), "{}", slip.name);
            for row in &slip.rows {
                let id = row.split('{').next().expect("an id");
                assert!(CATALOGUE.find(id).is_some(), "{}: {row}", slip.name);
            }
        }
    }

    fn slip(old: &str, new: &str) -> Slip {
        Slip {
            name: new.to_owned(),
            kind: String::new(),
            file: "a.rs".into(),
            old: old.to_owned(),
            new: new.to_owned(),
            at: None,
            rows: Vec::new(),
            timed_only: false,
            kept: None,
        }
    }

    #[test]
    fn slips_are_put_where_their_lines_are() {
        let slips = [slip("b + c", "b"), slip("e;", "f;"), slip("b + c", "c")];
        let slipped = with_slips(&slips, Path::new("a.rs"), "let a = b + c;\ne;\n");
        let expected = "let a = (if crate::slip(1) { b } else if crate::slip(3) { c } else { b + c });\n\
             if crate::slip(2) { f; } else { e; }\n";
        assert_eq!(slipped.expect("placed").as_deref(), Some(expected));
        let elsewhere = with_slips(&slips, Path::new("b.rs"), "");
        assert_eq!(elsewhere.expect("none"), None);
    }

    #[test]
    fn a_line_that_is_gone_or_there_twice_fails() {
        for text in ["", "b + c + b + c"] {
            assert!(with_slips(&[slip("b + c", "b")], Path::new("a.rs"), text).is_err());
        }
        let overlapping = [slip("b + c", "b"), slip("c + d", "d")];
        assert!(with_slips(&overlapping, Path::new("a.rs"), "b + c + d").is_err());
    }
}
