//! `syscost explain`: explains what a benchmark measures and what it does not, how to read it, and
//! what proves it; of a group, what to look at first.

use std::fmt::Write;

use anyhow::Result;
use syscost_benches::CATALOGUE;
use syscost_harness::doc::{GROUP_HEADINGS, explanation};
use syscost_harness::expect::SYSCALL_FLOOR_CYCLES;
use syscost_harness::session::Profile;
use syscost_harness::{Case, Catalogue, Entry, Expect, Group, Testbed};
use syscost_report::sentence::{self, count};
use syscost_report::units::{Figures, quantity};
use syscost_report::wrap::{beside, together};
use syscost_results::beside::{figure_of, is_of_one_machine};
use syscost_results::{Measurement, Run, Status, row_name};
use syscost_store::LATEST;

use super::study::{published, published_of};
use crate::cli::ExplainArguments;
use crate::error::exit;
use crate::selection::{self, choose_of, names_of};
use crate::terminal::{BOLD, DIM, RESET, note, text_width, wrapped, wrapped_item};
use crate::{kept, references};

/// Maximum number of other matches that are named.
const MAX_OTHERS: usize = 6;

/// Runs the command.
pub(crate) fn run(arguments: &ExplainArguments) -> Result<u8> {
    let words = arguments.words.join(" ");
    // A row's full name explains its benchmark.
    let id = row_name::id(&words);
    let mut groups = CATALOGUE.groups();
    if let Some(group) = groups.find(|group| group.name == words) {
        super::print(&about_group(group)?)?;
        return Ok(exit::DONE);
    }
    if let Some(benchmark) = CATALOGUE.find(id) {
        selection::check(&words, &Testbed::plain())?;
        super::print(&text(benchmark)?)?;
        return Ok(exit::DONE);
    }
    let found = selection::own_or_all(selection::search(&words, &Testbed::plain()), |one| {
        one.benchmark.id
    });
    let found: Vec<&'static Entry> = found.iter().map(|one| one.benchmark).collect();
    let Some(best) = best(&words, &found) else {
        return Err(selection::unknown(&words).into());
    };
    super::print(&text(best)?)?;
    let others = found.iter().map(|one| one.id).filter(|id| *id != best.id);
    let others: Vec<&str> = others.collect();
    if !others.is_empty() {
        note!("{}", note_of_match(&words, best.id, &others));
    }
    Ok(exit::DONE)
}

/// A group: what it is about, what to look at first, with the latest numbers, and its benchmarks.
fn about_group(group: &'static Group) -> Result<String> {
    let explained = explanation(group.source);
    let rows: usize = group
        .benchmarks
        .iter()
        .map(|one| (one.cases)(&Testbed::plain()).len())
        .sum();
    let mut out = format!(
        "{BOLD}{}{RESET}  {}  {DIM}{} with {}{RESET}\n\n{}\n",
        group.name,
        group.title,
        count(group.benchmarks.len(), "benchmark"),
        count(rows, "row"),
        paragraphs(&explained.summary)
    );
    for (heading, body) in &explained.sections {
        writeln!(out, "\n{BOLD}{heading}{RESET}")?;
        match heading == GROUP_HEADINGS[0] {
            true => out += &first_look(group, body),
            false => writeln!(out, "{}", paragraphs(body))?,
        }
    }
    out.push('\n');
    for benchmark in group.benchmarks {
        let line = format!("{BOLD}{}{RESET}  {}", benchmark.id, benchmark.title);
        writeln!(out, "{}", wrapped_item(&line, "  ", "      "))?;
    }
    let next = format!(
        "`syscost explain ID` explains a benchmark, `syscost list {0}` says which rows can be measured here, `syscost run {0}` measures them.",
        group.name
    );
    writeln!(out, "\n{}", wrapped(&next, ""))?;
    Ok(out)
}

/// The rows of a group to look at first, and their figures in the latest run.
fn first_look(group: &Group, list: &str) -> String {
    let latest = latest_with(|row| row.id.starts_with(&format!("{}.", group.name)));
    let mut out = String::new();
    for item in list.split(ITEM).filter(|item| !item.is_empty()) {
        let text = item.split_whitespace().collect::<Vec<_>>().join(" ");
        out += &(wrapped_item(&text, "  - ", "    ") + "\n");
        let figure = latest.as_ref().zip(named_row(item));
        if let Some(figure) = figure.and_then(|(run, name)| first_of(run, name)) {
            out += &format!("{}\n", wrapped(&format!("{DIM}{figure}{RESET}"), "      "));
        }
    }
    out
}

/// The name of the row that an item of a list is about: its first words, marked as code.
fn named_row(item: &str) -> Option<&str> {
    item.trim_start().strip_prefix('`')?.split('`').next()
}

/// Returns the best match for the words: a benchmark with them as a tag, else one that is called by them, as
/// `memory.page_fault` by `page`, else one with them in its title, else the first.
fn best(words: &str, found: &[&'static Entry]) -> Option<&'static Entry> {
    let tagged = found.iter().find(|one| one.tags().any(|tag| tag == words));
    let small = words.to_lowercase();
    let is_called = |one: &&&'static Entry| {
        let mut parts = one.id.split(['.', '_']);
        parts.any(|part| part == small)
    };
    let called = || found.iter().find(is_called);
    let is_titled = |one: &&&'static Entry| one.title.to_lowercase().contains(&small);
    let titled = || found.iter().find(is_titled);
    tagged
        .or_else(called)
        .or_else(titled)
        .or(found.first())
        .copied()
}

/// A note about what else the words find.
fn note_of_match(words: &str, best: &str, others: &[&str]) -> String {
    let named = sentence::listed(others, MAX_OTHERS);
    let all = match others.len() > MAX_OTHERS {
        true => format!(", which `syscost list {words}` lists"),
        false => String::new(),
    };
    format!("This is {best}. `{words}` also finds {named}{all}; each is explained by its id.")
}

fn text(benchmark: &'static Entry) -> Result<String> {
    let explained = explanation(benchmark.source);
    let mut out = String::new();
    let heading = format!(
        "{BOLD}{}{RESET}  {}  {DIM}[{}]{RESET}",
        benchmark.id,
        benchmark.title,
        benchmark.unit.symbol()
    );
    writeln!(out, "{}\n", wrapped_item(&heading, "", "  "))?;
    writeln!(out, "{}", paragraphs(&explained.summary))?;
    for (heading, body) in &explained.sections {
        writeln!(out, "\n{BOLD}{heading}{RESET}\n{}", paragraphs(body))?;
    }
    if !benchmark.tags.is_empty() {
        let tags = wrapped(benchmark.tags, "  ");
        writeln!(out, "\n{BOLD}Search terms{RESET}\n{tags}")?;
    }
    out += &programs(benchmark);
    writeln!(out, "\n{BOLD}Evidence{RESET}")?;
    for expect in benchmark.expect {
        writeln!(out, "{}", wrapped_item(&claim(expect), "  ", "    "))?;
    }
    writeln!(out, "{}", paragraphs(&other_checks(benchmark)))?;
    out += &parameters(benchmark);
    out += &rows(benchmark);
    out += &known_figures(benchmark);
    Ok(out)
}

/// The claims that the benchmark does not declare, as `expect::complete` adds them. How it
/// measures, which they depend on, is known for certain only while it runs.
fn other_checks(benchmark: &Entry) -> String {
    let checks = match &benchmark.computation {
        Some(computation) => format!(
            "Computed in every round from the rows of {}, whose evidence is its own as well.",
            computation.from.join(", ")
        ),
        None if !benchmark.unit.is_timed() => format!(
            "It observes values instead of timing operations, so only its own claims are checked; `syscost run {} -v` shows them \
             all.",
            benchmark.id
        ),
        None => format!(
            "Unless stated otherwise, each operation must make only the system calls named, take no page faults, not sleep, scale \
             linearly with work, and cost at least {SYSCALL_FLOOR_CYCLES} core cycles per system call, and half of what getppid costs there.\n\n\
             - Tasks that work together: none may be switched out or migrate; their CPUs share the cycles.\n\
             - Copies on several CPUs: none may migrate.\n\
             - Operations timed one by one: linear scaling is not checked.\n\
             - Values observed instead of timed: only the benchmark's own claims are checked.\n"
        ),
    };
    format!("{checks}\n{WITHHOLDS}")
}

/// What every claim is good for.
const WITHHOLDS: &str = "A refuted claim withholds the number.";

/// What the parameters in its rows' names mean; empty if there are none.
fn parameters(benchmark: &Entry) -> String {
    let items = benchmark.parameters.iter();
    let items = items.map(|(key, meaning)| {
        wrapped_item(&format!("{BOLD}{key}{RESET}  {meaning}"), "  ", "    ") + "\n"
    });
    let items: String = items.collect();
    match items.as_str() {
        "" => items,
        items => format!("\n{BOLD}Parameters{RESET}\n{items}"),
    }
}

/// The benchmark's rows: which profiles measure them, why they cannot be measured here, and what is
/// claimed of each.
fn rows(benchmark: &Entry) -> String {
    let here = Testbed::plain();
    let cases = (benchmark.cases)(&here);
    let reasons = cases.iter().map(|case| {
        let reason = (benchmark.support)(case, &here).err();
        reason.map(|reason| reason.to_string())
    });
    let reasons: Vec<Option<String>> = reasons.collect();
    let shared = shared(&reasons);
    let mut out = format!("\n{BOLD}Rows{RESET}\n");
    let mut explain = |text: &str| {
        out += &wrapped(text, "  ");
        out.push('\n');
    };
    let profiles: Vec<Profile> = cases
        .iter()
        .map(|case| Profile::first_with(benchmark, case))
        .collect();
    for profile in Profile::ALL {
        if let Some((mark, meaning)) = mark(profile)
            && profiles.contains(&profile)
        {
            explain(&format!("{mark}: measured {meaning}."));
        }
    }
    if let Some(reason) = shared {
        explain(&format!("Unsupported here: {reason}"));
    }
    for ((case, profile), reason) in cases.iter().zip(profiles).zip(&reasons) {
        let name = format!("  {}{}  ", benchmark.id, case.suffix());
        let mut notes: Vec<String> = Vec::new();
        notes.extend(mark(profile).map(|(mark, _)| mark.to_owned()));
        match reason {
            Some(_) if shared.is_some() => {}
            Some(reason) => notes.push(format!("unsupported here: {reason}")),
            None if case.expect().is_empty() => {}
            None => notes.push(claims(case)),
        }
        let notes = match notes.as_slice() {
            [] => String::new(),
            notes => format!("{DIM}{}{RESET}", notes.join(" ")),
        };
        for line in beside(&name, &notes, text_width(), "      ") {
            out += &line;
            out.push('\n');
        }
    }
    out
}

/// The mark of rows that this profile is the first to measure, and its meaning; `None` for those of
/// every usual run.
fn mark(profile: Profile) -> Option<(&'static str, &'static str)> {
    match profile {
        Profile::Quick => Some(("[quick]", "in quick runs as well")),
        Profile::Standard => None,
        Profile::Full => Some((
            "[full]",
            "in full and careful runs only, or when given by name",
        )),
        Profile::Careful => Some(("[careful]", "in careful runs only, or when given by name")),
    }
}

/// The reason that all of several rows share.
fn shared(reasons: &[Option<String>]) -> Option<&str> {
    match reasons {
        [first, rest @ ..] if !rest.is_empty() && rest.iter().all(|reason| reason == first) => {
            first.as_deref()
        }
        _ => None,
    }
}

/// Describes how the benchmark differs from similar programs of lmbench; empty if there are none.
fn programs(benchmark: &Entry) -> String {
    let mut out = String::new();
    for program in benchmark.tags().filter_map(selection::program) {
        if out.is_empty() {
            out += &format!("\n{BOLD}Compared with lmbench{RESET}\n");
        }
        let note = format!("{}: {}", program.name, program.note);
        out += &wrapped_item(&note, "  - ", "    ");
        out.push('\n');
    }
    out
}

fn claim(expect: &Expect) -> String {
    let open = expect.open.map(|why| format!(" ({why})"));
    let (claim, bound) = (expect.counter.claim(), expect.bound.fact());
    format!("{claim}: {bound}{}", open.unwrap_or_default())
}

fn claims(case: &Case) -> String {
    case.expect()
        .iter()
        .map(claim)
        .collect::<Vec<_>>()
        .join("; ")
}

/// Wraps paragraphs and lists.
fn paragraphs(text: &str) -> String {
    let blocks: Vec<String> = text.split("\n\n").map(block).collect();
    blocks.join("\n\n")
}

/// Wraps a paragraph, or the items of a list, each of which begins on its own line.
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

/// Start of a list item.
const ITEM: &str = "- ";

/// Maximum number of rows of one benchmark with known figures; those of shorter profiles come first.
const MAX_FIGURES: usize = 8;

/// Known figures of a benchmark's rows: in the latest run, on the reference machines, and as
/// published; empty if no figure is known.
fn known_figures(benchmark: &'static Entry) -> String {
    // Without a run that has it, only other machines' figures are shown.
    let latest = latest_with(|row| row.id == benchmark.id);
    let references: Vec<_> = references::shipped().collect();
    let studies = published();
    let mut rows = Catalogue::rows(std::iter::once(benchmark), &Testbed::plain());
    rows.sort_by_key(|row| Profile::first_with(benchmark, &row.case));
    let lines = rows.iter().map(|row| {
        let name = row.name();
        let mut known: Vec<String> = Vec::new();
        let is_today = |row: &Measurement| row.revision == benchmark.revision;
        known.extend(
            latest
                .as_ref()
                .and_then(|run| latest_of(run, &name, is_today)),
        );
        known.extend(references.iter().filter_map(|reference| {
            let reference = reference.as_beside();
            let found = row_of(reference.run, &name)
                .filter(|row| is_today(row) && !is_of_one_machine(row))?;
            let value = figure_of(found, found.unit)?;
            let value = quantity(found.unit, value);
            Some(together(&format!("{} {value}", reference.name)))
        }));
        known.extend(published_of(&studies, &name));
        (name, known)
    });
    let lines: Vec<(String, Vec<String>)> = lines
        .filter(|(_, known)| !known.is_empty())
        .take(MAX_FIGURES)
        .collect();
    if lines.is_empty() {
        return String::new();
    }
    let mut out = format!("\n{BOLD}Known figures{RESET}\n");
    for (name, known) in lines {
        let known = format!("{DIM}{}{RESET}", known.join("; "));
        out += &format!("{}\n{}\n", wrapped(&name, "  "), wrapped(&known, "    "));
    }
    out
}

/// The latest kept run with a figure of such a row.
fn latest_with(is_meant: impl Fn(&Measurement) -> bool) -> Option<Run> {
    let is_meant = |row: &Measurement| row.status == Status::Ok && is_meant(row);
    let has_it = |run: &Run| run.measurements.iter().any(is_meant);
    let (loaded, _) = kept::having(LATEST, has_it).ok()?;
    Some(loaded.run).filter(has_it)
}

/// The figure of the first of a run's rows that this selector means.
fn first_of(run: &Run, selector: &str) -> Option<String> {
    let choices = choose_of(names_of(run), &[selector.to_owned()], &Testbed::plain()).ok()?;
    let mut rows = run.measurements.iter();
    let row = rows.find(|row| {
        row.status == Status::Ok && choices.iter().any(|choice| choice.selects(&row.name))
    })?;
    latest_of(run, &row.name, |_| true)
}

fn row_of<'r>(run: &'r Run, name: &str) -> Option<&'r Measurement> {
    run.measurements.iter().find(|row| row.name == name)
}

/// The latest run's figure, with its machine: a kept run may be of another one.
fn latest_of(run: &Run, name: &str, is_today: impl Fn(&Measurement) -> bool) -> Option<String> {
    let row = row_of(run, name).filter(|row| row.status == Status::Ok && is_today(row))?;
    let figures = Figures::of(row)?;
    let day = run.started.get(..10).unwrap_or(&run.started);
    let machine = match run.machine.hostname.as_str() {
        "" => &run.machine.cpu_model,
        name => name,
    };
    let figures = format!("{} {}", figures.with_half_width(), figures.unit);
    Some(format!(
        "latest run ({machine}, {day}) {}",
        together(&figures)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_of_several_matches_is_explained_and_the_others_are_named() {
        let found = |words: &str| {
            let found = selection::search(words, &Testbed::plain());
            let found: Vec<&'static Entry> = found.iter().map(|one| one.benchmark).collect();
            best(words, &found).map(|one| one.id)
        };
        assert_eq!(found("lat_ctx"), Some("switch.pipe"));
        assert_eq!(found("getpid"), Some("syscall.null"));
        assert_eq!(found("TLB reach"), Some("memory.tlb_reach"));
        assert_eq!(found("page"), Some("memory.page_fault"));
        assert_eq!(found("zebra"), None);
        assert_eq!(
            note_of_match("lat_ctx", "switch.pipe", &["switch.ring"]),
            "This is switch.pipe. `lat_ctx` also finds switch.ring; each is explained by its id."
        );
        let many = note_of_match("a", "b", &["c"; 8]);
        assert!(
            many.contains("c, c and 2 more, which `syscost list a` lists"),
            "{many}"
        );
    }

    #[test]
    fn every_group_is_explained_and_names_rows_to_look_at_first() {
        for group in CATALOGUE.visible_groups() {
            let explained = explanation(group.source);
            let headings = explained.sections.iter().map(|(heading, _)| &heading[..]);
            assert!(headings.eq(GROUP_HEADINGS), "{}", group.name);
            assert!(explained.summary.contains("\n\n"), "{}", group.name);
            let list = &explained.sections[0].1;
            let items: Vec<&str> = list.split(ITEM).filter(|item| !item.is_empty()).collect();
            assert!((3..=5).contains(&items.len()), "{}", group.name);
            for item in items {
                let name = named_row(item).expect("it begins with a row's name");
                let benchmark = CATALOGUE.find(row_name::id(name)).expect(name);
                assert!(benchmark.id.starts_with(group.name), "{name}");
                for (key, _) in row_name::parameters(name) {
                    let mut known = benchmark.parameters.iter();
                    assert!(known.any(|(known, _)| *known == key), "{name}");
                }
            }
        }
    }

    #[test]
    fn a_reason_that_all_rows_share_is_stated_once() {
        let same = Some("no counter".to_owned());
        let two = [same.clone(), same.clone()];
        assert_eq!(shared(&two), Some("no counter"));
        for others in [&two[..1], &[same.clone(), None], &[None, None], &[]] {
            assert_eq!(shared(others), None, "{others:?}");
        }
    }

    #[test]
    fn the_checks_depend_on_what_is_measured() {
        let of = |id: &str| other_checks(CATALOGUE.find(id).expect("it exists"));
        assert!(of("syscall.null").contains("at least 50 core cycles per system call"));
        assert!(of("timing.noise").starts_with("It observes values"));
        assert!(of("scale.law").starts_with("Computed in every round"));
    }

    #[test]
    fn every_parameter_of_a_row_is_explained() {
        for benchmark in CATALOGUE.benchmarks() {
            let text = parameters(benchmark);
            for (key, _) in (benchmark.cases)(&Testbed::plain())
                .iter()
                .flat_map(Case::parameters)
            {
                let is_explained = text.contains(&format!("{BOLD}{key}{RESET}  "));
                assert!(is_explained, "{}: {key}", benchmark.id);
            }
        }
        let poll = parameters(CATALOGUE.find("syscall.poll").expect("it exists"));
        let fds = format!("{BOLD}fds{RESET}  Descriptors that are waited for.\n");
        assert!(
            poll.starts_with(&format!("\n{BOLD}Parameters{RESET}\n")),
            "{poll}"
        );
        assert!(poll.ends_with(&fds), "{poll}");
    }

    #[test]
    fn a_profile_stands_before_the_claims_of_its_row() {
        let benchmark = CATALOGUE.find("syscall.null").expect("it exists");
        let text = rows(benchmark);
        assert!(
            text.contains("[quick]: measured in quick runs as well."),
            "{text}"
        );
        assert!(
            text.contains("[quick] getppid system calls per operation: 1"),
            "{text}"
        );
    }

    #[test]
    fn what_differs_from_lmbench_is_explained() {
        let benchmark = CATALOGUE.find("memory.bandwidth").expect("it exists");
        let text = programs(benchmark);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("bw_mem: `copy` counts the bytes"), "{text}");
    }

    #[test]
    fn items_of_a_list_begin_on_lines_of_their_own() {
        let text = "One\nparagraph.\n\n- `a`: first\n  of all.\n- `b`: second.";
        let shown = "  One paragraph.\n\n  - `a`: first of all.\n  - `b`: second.";
        assert_eq!(paragraphs(text), shown);
    }
}
