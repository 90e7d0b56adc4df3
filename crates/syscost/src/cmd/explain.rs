//! `syscost explain`: what a benchmark measures, what not, how to read it, and what proves it.

mod values;

use std::fmt::Write;

use anyhow::Result;
use syscost_benches::CATALOGUE;
use syscost_harness::doc::explanation;
use syscost_harness::{Benchmark, Case, Expect};

use crate::cli::ExplainArguments;
use crate::error::exit;
use crate::terminal::{BOLD, DIM, RESET, note, wrapped, wrapped_item};
use crate::{Failed, selection};

/// Runs the verb.
pub(crate) fn run(arguments: &ExplainArguments) -> Result<u8> {
    let words = arguments.words.join(" ");
    // A row's full name explains its benchmark.
    let id = words.split('{').next().unwrap_or_default();
    if CATALOGUE.visible_groups().any(|group| group.name == id) {
        let what = format!("`{id}` is a group; `syscost list {id}` lists its benchmarks");
        return Err(Failed::Usage(what).into());
    }
    let found = match CATALOGUE.find(id) {
        Some(benchmark) => {
            selection::check(&words)?;
            vec![benchmark]
        }
        None => selection::own_or_all(selection::search(&words), |one| one.id),
    };
    match found.as_slice() {
        [] => return Err(selection::unknown(&words).into()),
        [benchmark] => super::print(&text(benchmark)?)?,
        several => {
            super::print(&super::list::lines(several)?)?;
            note!("several benchmarks match `{words}`; explain one of them by its id");
        }
    }
    Ok(exit::DONE)
}

fn text(benchmark: &'static Benchmark) -> Result<String> {
    let explained = explanation(benchmark.source);
    let mut out = String::new();
    writeln!(
        out,
        "{BOLD}{}{RESET}  {}  {DIM}[{}]{RESET}\n",
        benchmark.id,
        benchmark.title,
        benchmark.unit.symbol()
    )?;
    writeln!(out, "{}", paragraphs(&explained.summary))?;
    for (heading, body) in &explained.sections {
        writeln!(out, "\n{BOLD}{heading}{RESET}\n{}", paragraphs(body))?;
    }
    if !benchmark.tags.is_empty() {
        let tags = wrapped(&benchmark.tags.join(", "), "  ");
        writeln!(out, "\n{BOLD}Found by{RESET}\n{tags}")?;
    }
    writeln!(out, "\n{BOLD}Evidence{RESET}")?;
    for expect in benchmark.expect {
        writeln!(out, "  {}", claim(expect))?;
    }
    let others = match &benchmark.derive {
        Some(derive) => format!(
            "Computed in every round from the rows of {}, whose evidence is its own as well. A refuted claim withholds the \
             number.",
            derive.from.join(", ")
        ),
        None => "Unless it says otherwise, every benchmark must also make no system calls it does not name, take no page \
                 faults, never sleep, take twice the time for twice the work, and cost more than 50 core cycles per system \
                 call. Where several tasks do an operation together, none of them may be switched out or moved, and the \
                 system calls are shared by their CPUs; where it is timed one by one, nothing is said of twice the work; of \
                 values that a benchmark observes itself, nothing is expected that is not declared. A refuted claim withholds \
                 the number."
            .to_owned(),
    };
    writeln!(out, "{}", paragraphs(&others))?;
    writeln!(out, "\n{BOLD}Rows{RESET}")?;
    for case in benchmark.cases.list() {
        write!(out, "  {}{}", benchmark.id, case.suffix())?;
        let mut notes = Vec::new();
        if (benchmark.careful)(&case) {
            notes.push("in careful runs, or by name".to_owned());
        } else if (benchmark.quick)(&case) {
            notes.push("in quick runs, too".to_owned());
        }
        if let Err(reason) = (benchmark.support)(&case) {
            notes.push(format!("unsupported here: {reason}"));
        } else if !case.expect().is_empty() {
            notes.push(claims(&case));
        }
        if !notes.is_empty() {
            write!(out, "  {DIM}{}{RESET}", notes.join("; "))?;
        }
        out.push('\n');
    }
    out += &values::text(benchmark);
    Ok(out)
}

fn claim(expect: &Expect) -> String {
    format!("{}: {}", expect.counter.claim(), expect.bound.fact())
}

fn claims(case: &Case) -> String {
    case.expect()
        .iter()
        .map(claim)
        .collect::<Vec<_>>()
        .join("; ")
}

/// Paragraphs and lists, each wrapped.
fn paragraphs(text: &str) -> String {
    let blocks: Vec<String> = text.split("\n\n").map(block).collect();
    blocks.join("\n\n")
}

/// A paragraph, or the items of a list, each of which begins on a line of its own.
fn block(text: &str) -> String {
    let mut pieces: Vec<String> = Vec::new();
    for line in text.lines() {
        match pieces.last_mut() {
            Some(piece) if !line.starts_with(ITEM) => *piece += &format!(" {}", line.trim_start()),
            _ => pieces.push(line.to_owned()),
        }
    }
    let wrapped = pieces.iter().map(|piece| match piece.strip_prefix(ITEM) {
        Some(item) => wrapped_item(item, "  - ", "    "),
        None => wrapped(piece, "  "),
    });
    wrapped.collect::<Vec<_>>().join("\n")
}

/// What an item of a list begins with.
const ITEM: &str = "- ";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_of_a_list_begin_on_lines_of_their_own() {
        let text = "One\nparagraph.\n\n- `a`: first\n  of all.\n- `b`: second.";
        let shown = "  One paragraph.\n\n  - `a`: first of all.\n  - `b`: second.";
        assert_eq!(paragraphs(text), shown);
    }
}
