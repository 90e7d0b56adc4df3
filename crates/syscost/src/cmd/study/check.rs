//! Checks a study of the user against the catalogue: its rows must exist, and count what they are
//! judged by.

use std::collections::BTreeMap;

use syscost_benches::CATALOGUE;
use syscost_harness::Testbed;
use syscost_harness::{Catalogue, Row};
use syscost_results::study::{Study, means};
use syscost_results::{ClaimId, Unit, row_name};
use syscost_studies::{Lines, StudyError, counted};

use super::counts::Counts;
use crate::selection::{self, most_similar, similar};

/// Checks that what a study names exists, by the catalogue and, for counts that no benchmark
/// declares, as far as `counts` tells; and that its id is not one of `published`.
///
/// # Errors
/// The first name that does not exist, with its line and field and similar names.
pub(super) fn check(
    study: &Study,
    lines: &Lines<'_>,
    published: &[String],
    counts: Counts<'_>,
) -> Result<(), StudyError> {
    if published.contains(&study.id) {
        let id = &study.id;
        let problem = format!("field `id`: `{id}` is a published study; choose another id");
        let line = lines.of("id");
        return Err(StudyError { line, problem });
    }
    let everything = CATALOGUE.all();
    let rows = Catalogue::rows(everything, &Testbed::plain());
    // With the beginning of what is said if there is no such count.
    let mut claims: Vec<(Counted<'_>, StudyError)> = Vec::new();
    for (index, quantity) in study.quantities.iter().enumerate() {
        let error = |part: &str, what: &str| {
            let field = part.rsplit('.').next().unwrap_or(part);
            StudyError {
                line: lines.of(&format!("quantity.{index}.{part}")),
                problem: format!("quantity `{}`, field `{field}`: {what}", quantity.id),
            }
        };
        let find = |name: &Option<String>, field| match name {
            None => Ok(None),
            Some(name) => row(name, quantity.unit, &rows).map_err(|what| error(field, &what)),
        };
        // What a program of the study's own counts, only a run knows.
        let repeated = match quantity.is_own() {
            true => None,
            false => find(&quantity.as_published, "as_published")?,
        };
        let ours = find(&quantity.ours, "ours")?;
        let claimed = match &quantity.as_published {
            Some(_) => repeated,
            None => ours,
        };
        for (part, name) in counted(quantity) {
            match claimed {
                Some(row) => claims.push((Counted { name, row }, error(&part, ""))),
                // Only a run has the rows of a far end.
                None if quantity.as_published.is_some() || quantity.ours.is_some() => {}
                None => {
                    let what = "there is no row that could count it; give `ours` or `as_published`";
                    return Err(error(&part, what));
                }
            }
        }
    }
    claims.retain(|(claim, _)| !claim.is_declared());
    let mut known: BTreeMap<String, Option<Vec<String>>> = BTreeMap::new();
    for (claim, mut error) in claims {
        let of_row = known.entry(claim.row.name());
        let of_row = of_row.or_insert_with(|| counts.of(claim.row));
        if let Some(problem) = of_row.as_ref().and_then(|known| claim.problem(known)) {
            error.problem += &problem;
            return Err(error);
        }
    }
    Ok(())
}

/// A count that a claim or a reason names.
struct Counted<'s> {
    name: &'s str,
    /// The row that counts it.
    row: &'s Row,
}

impl Counted<'_> {
    /// Whether the row's benchmark declares this count, so that the row need not be measured.
    fn is_declared(&self) -> bool {
        let own = self.row.case.expect();
        let mut all = self.row.benchmark.expect.iter().copied().chain(own);
        let id = ClaimId::of(self.name);
        all.any(|expect| ClaimId::of(&expect.counter.claim()) == id)
    }

    /// Explains that there is no such count, if the row has only the `known` ones.
    fn problem(&self, known: &[String]) -> Option<String> {
        let (name, row) = (self.name, self.row.name());
        let id = ClaimId::of(name);
        if known.iter().any(|one| ClaimId::of(one) == id) {
            return None;
        }
        let near = similar(name, known);
        let instead = match near.is_empty() {
            true => format!("it counts {}", quoted(known)),
            false => format!("nearest: {}", quoted(&near)),
        };
        Some(format!("{row} counts nothing called `{name}`; {instead}"))
    }
}

/// Finds the row of this name; `None` for one of a far end, which only a run has.
fn row<'r>(name: &str, unit: Unit, rows: &'r [Row]) -> Result<Option<&'r Row>, String> {
    let id = row_name::id(name);
    if let Some(row) = rows.iter().find(|row| means(name, &row.name())) {
        let (is, wanted) = (row.benchmark.unit, unit);
        return match is == wanted {
            true => Ok(Some(row)),
            false => Err(format!(
                "the row is in {}, the quantity in {}",
                is.symbol(),
                wanted.symbol()
            )),
        };
    }
    let of_id = rows.iter().filter(|row| row.benchmark.id == id);
    let of_id: Vec<String> = of_id.map(Row::name).collect();
    if !of_id.is_empty() && name.contains("path=remote") {
        return Ok(None);
    }
    // A parameter or a value that does not exist.
    if let Err(error) = selection::check(name, &Testbed::plain()) {
        return Err(error.to_string());
    }
    let near = match of_id.is_empty() {
        true => similar(name, rows.iter().map(Row::name)),
        false => most_similar(name, of_id),
    };
    Err(match &near[..] {
        [] => format!(
            "no row is called `{name}`; to list the rows of a benchmark: syscost explain ID"
        ),
        near => format!("no row is called `{name}`; nearest: {}", quoted(near)),
    })
}

fn quoted(names: &[impl AsRef<str>]) -> String {
    let quoted: Vec<String> = names
        .iter()
        .map(|name| format!("`{}`", name.as_ref()))
        .collect();
    quoted.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::study::published;

    const MINE: &str = r#"
id = "mine"
title = "Mine"
source = "A note"
about = "A loop."

[[quantity]]
id = "null"
title = "getppid"
table = "System calls"
unit = "ns"
procedure = "A loop."
ours = "syscall.null{call=getppid}"

[[quantity.claim]]
counted = "getppid system calls per operation"
at_least = 1.0
broken = "None."
"#;

    fn refused(right: &str, wrong: &str) -> Option<String> {
        assert!(MINE.contains(right), "{right}");
        let text = MINE.replace(right, wrong);
        let (study, lines) = syscost_studies::parse_with_lines(&text).expect("its form is right");
        let ids: Vec<String> = published().into_iter().map(|study| study.id).collect();
        let counts = Counts::These(&["getppid system calls per operation", "tries_count"]);
        let refusal = check(&study, &lines, &ids, counts).err()?;
        Some(format!("mine.toml{refusal}"))
    }

    #[test]
    fn names_that_exist_pass() {
        assert_eq!(refused("mine", "mine"), None);
        assert_eq!(
            refused("getppid system calls per operation", "tries_count"),
            None
        );
        let far = "net.tcp.round_trip{path=remote,family=*,size=1}";
        assert_eq!(refused("syscall.null{call=getppid}", far), None);
    }

    #[test]
    fn unknown_names_are_refused_with_their_line_and_the_nearest() {
        for (right, wrong, said) in [
            (
                "id = \"mine\"",
                "id = \"three-costs\"",
                "mine.toml:2: field `id`: `three-costs` is a published study; choose another id",
            ),
            (
                "call=getppid}",
                "call=getppidd}",
                "mine.toml:13: quantity `null`, field `ours`: syscall.null has no call=getppidd; ",
            ),
            (
                "syscall.null{call=getppid}",
                "syscal.null{call=getppid}",
                "mine.toml:13: quantity `null`, field `ours`: no row is called `syscal.null{call=getppid}`; nearest: `syscall.null{call=getppid}`",
            ),
            (
                "syscall.null{call=getppid}",
                "syscall.null",
                "mine.toml:13: quantity `null`, field `ours`: no row is called `syscall.null`; nearest: `syscall.null{",
            ),
            (
                "syscall.null{call=getppid}",
                "zebra",
                "mine.toml:13: quantity `null`, field `ours`: no row is called `zebra`; to list",
            ),
            (
                "unit = \"ns\"",
                "unit = \"B/s\"",
                "mine.toml:13: quantity `null`, field `ours`: the row is in ns, the quantity in B/s",
            ),
            (
                "\"getppid system calls per operation",
                "\"getppid system call per operation",
                "mine.toml:16: quantity `null`, field `counted`: syscall.null{call=getppid} counts nothing called `getppid system call per operation`; nearest: `getppid system calls per operation`",
            ),
            (
                "\"getppid system calls per operation",
                "\"zebra",
                "mine.toml:16: quantity `null`, field `counted`: syscall.null{call=getppid} counts nothing called `zebra`; it counts `getppid system calls per operation`, `tries_count`",
            ),
        ] {
            let refusal = refused(right, wrong).expect(wrong);
            assert!(refusal.starts_with(said), "{refusal}\n{said}");
        }
    }
}
