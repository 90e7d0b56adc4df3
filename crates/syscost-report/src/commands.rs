//! Commands of a user: a line each, and a sentence for each that is compared with the first.

use syscost_results::commands::{
    CommandRows, ComparedCommand, JudgedBy, commands, compared, text_of,
};
use syscost_results::compare::{Change, Row as ComparedRow};
use syscost_results::{ClaimId, Fact, Measurement, Run, Status, Unit};
use syscost_stats::order::median;
use syscost_stats::student::{deviation, mean};

use crate::TableOptions;
use crate::document::{Block, Column, Look, Row, Table, Text, terminal};
use crate::sentence;
use crate::tone::Tone;
use crate::units::{Figures, quantity};

/// The counts that have a column, and what claims them.
const COUNTS: [(&str, &str, u8); 3] = [
    ("faults", "minor page faults per operation", 2),
    ("switches", "switches of all its tasks per operation", 3),
    ("tasks", "tasks that made system calls", 4),
];

const SHARED: &str = "; few runs were undisturbed, so all count";

/// Maximum number of kinds of system calls that are named.
const MAX_KINDS: usize = 6;

/// The commands of a run, for a terminal.
pub fn text(run: &Run, options: &TableOptions) -> String {
    terminal(&blocks(run, options.quiet), options)
}

/// The same for any medium.
pub fn blocks(run: &Run, is_quiet: bool) -> Vec<Block> {
    let all = commands(run);
    let mut columns = vec![
        Column::right("CPU time"),
        Column::right("elapsed"),
        Column::right("peak memory"),
        Column::right("calls").rank(1),
    ];
    columns.extend(COUNTS.map(|(heading, _, rank)| Column::right(heading).rank(rank)));
    let mut blocks = vec![Block::Table(Table {
        class: "commands",
        caption: "Commands".to_owned(),
        names: "command".into(),
        columns,
        rows: all.iter().map(line).collect(),
    })];
    if !is_quiet {
        blocks.extend(all.iter().filter_map(calls).map(Block::note));
    }
    if let [first, others @ ..] = &all[..] {
        for other in others {
            blocks.push(Block::Paragraph(verdict(run, first, other)));
        }
    }
    blocks
}

/// The line of a command.
fn line(command: &CommandRows<'_>) -> Row {
    let rows = [Some(command.cpu), command.wall, command.memory];
    let figures = rows.map(|row| row.map_or_else(String::new, figure));
    let counts = COUNTS.map(|(_, claim, _)| {
        observed(command.cpu, claim).map_or_else(String::new, Fact::to_string)
    });
    let calls = match kinds(command.cpu)
        .iter()
        .map(|(_, count)| count)
        .sum::<f64>()
    {
        0.0 => String::new(),
        calls => format!("{calls}"),
    };
    let mut line = Row::new(
        Text::of(Look::Code, readable(command.name)),
        figures.into_iter().chain([calls]).chain(counts),
    );
    let reason = |row: &Measurement| match row.status {
        Status::Ok => None,
        _ => Some(Text::from(sentence::no_number(row)).tone(Tone::Bad)),
    };
    line.notes.extend(reason(command.cpu));
    let waited = command.waited_percent().filter(|percent| *percent > 1.0);
    line.notes.extend(waited.map(|percent| {
        let words = format!(
            "waited for the CPU for {percent:.0} % of its time: other programs, not the command"
        );
        Text::from(words).tone(Tone::Care)
    }));
    line.notes.extend(command.cheap_first_run_ns().map(|ns| {
        let words = format!(
            "its first run took {}: what earlier runs or --prepare leave behind is part of this price",
            quantity(Unit::Nanoseconds, ns)
        );
        Text::from(words).tone(Tone::Care)
    }));
    line
}

/// A figure with its interval and the flags that matter.
fn figure(row: &Measurement) -> String {
    match Figures::of(row) {
        Some(figures) => format!("{} {}", figures.with_half_width(), figures.unit),
        None => row.status.words().to_owned(),
    }
}

/// What was observed of a command by this claim.
fn observed<'r>(row: &'r Measurement, claim: &str) -> Option<&'r Fact> {
    let id = ClaimId::of(claim);
    let found = row.evidence.iter().find(|one| one.claim.id == id);
    found?.observed.as_ref()
}

/// How often a command makes each kind of system call, the most frequent first.
fn kinds(row: &Measurement) -> Vec<(&str, f64)> {
    const OF_CALL: &str = " system calls per operation";
    let kinds = row.evidence.iter().filter_map(|one| {
        let call = one.claim.sentence.strip_suffix(OF_CALL)?;
        Some((call, one.observed.as_ref()?.number()?))
    });
    let mut kinds: Vec<(&str, f64)> = kinds.collect();
    kinds.sort_by(|one, other| other.1.total_cmp(&one.1));
    kinds
}

/// The kinds of system calls that a command makes most.
fn calls(command: &CommandRows<'_>) -> Option<String> {
    let kinds = kinds(command.cpu);
    let named = kinds.iter();
    let named: Vec<String> = named
        .map(|(call, count)| format!("{call} {count}"))
        .collect();
    let name = readable(command.name);
    (!named.is_empty()).then(|| format!("{name}: {}", sentence::listed(&named, MAX_KINDS)))
}

/// How a command compares with the first, in a sentence.
fn verdict(run: &Run, first: &CommandRows<'_>, other: &CommandRows<'_>) -> Text {
    let [base, name] = [first, other].map(|one| readable(one.name));
    let ComparedCommand {
        by,
        row,
        in_company,
    } = compared(run, first, other);
    let Some(row) = row else {
        let words = format!("{name}: cannot tell, one of the two has no number");
        return Text::from(words).tone(Tone::Care);
    };
    let (word, tone) = match row.verdict {
        Change::Worse => ("slower", Tone::Bad),
        Change::Better => ("faster", Tone::Good),
        Change::Same => ("no difference found", Tone::Plain),
        Change::Inconclusive => ("cannot tell", Tone::Care),
    };
    let ends = row.ci95_low.zip(row.ci95_high);
    let bound = match row.verdict {
        Change::Worse | Change::Better => String::new(),
        Change::Same => format!(
            "; more than {} either way is ruled out",
            percent(ends.map_or(row.same_within, furthest))
        ),
        Change::Inconclusive => row.detectable.map_or_else(String::new, |least| {
            format!("; a difference of {} would have been found", percent(least))
        }),
    };
    let by = match by {
        JudgedBy::CpuTime => "CPU time".to_owned(),
        JudgedBy::Elapsed => "elapsed time (they wait for more than the CPU)".to_owned(),
        JudgedBy::CpuTimeBesideOthers(waited) => format!(
            "CPU time (one waited for the CPU for {waited:.0} % of its elapsed time, which so cannot be compared)"
        ),
    };
    Text::of(Look::Tag, word)
        .with(Look::Code, name)
        .with(Look::Plain, format!(" takes {} the {by} of ", ratio(&row)))
        .with(Look::Code, base)
        .with(Look::Plain, bound)
        .with(Look::Plain, if in_company { SHARED } else { "" })
        .tone(tone)
}

/// `1.021 times [1.016, 1.026]`.
fn ratio(row: &ComparedRow) -> String {
    match row.ci95_low.zip(row.ci95_high) {
        Some((low, high)) => format!("{:.3} times [{low:.3}, {high:.3}]", row.ratio),
        None => format!("{:.3} times", row.ratio),
    }
}

/// How far from 1 an interval reaches, as a share that is rounded up as it is shown.
fn furthest((low, high): (f64, f64)) -> f64 {
    let furthest = high.max(low.recip()) - 1.0;
    (1000.0 * furthest).ceil() / 1000.0
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// The name of a command, for people.
pub fn readable(name: &str) -> String {
    sentence::fact(&text_of(name))
}

/// With what a command ended each time; `None` where a signal ended it, or nothing tells.
fn exit_code(row: &Measurement) -> Option<i32> {
    let ended = observed(row, "end of each run")?.to_string();
    ended.strip_prefix("exit status: ")?.parse().ok()
}

/// The commands in the form of hyperfine's `--export-json`.
pub fn hyperfine(run: &Run) -> serde_json::Value {
    let results = commands(run).into_iter().map(|command| {
        if command.cpu.status != Status::Ok {
            let error = sentence::no_number(command.cpu);
            return serde_json::json!({ "command": readable(command.name), "error": error });
        }
        let rounds = || command.cpu.samples.iter().flatten();
        let series = |name: &str| -> Vec<f64> {
            let all = rounds().filter_map(|round| round.also.get(name));
            all.flatten().copied().collect()
        };
        let seconds = |name: &str| -> Vec<f64> { series(name).iter().map(|ns| ns / 1e9).collect() };
        let cpu: Vec<f64> = rounds().flat_map(|round| round.values.clone()).collect();
        let (times, user) = (seconds("wall_ns"), mean(&seconds("user_ns")));
        let bytes = series("peak_bytes").into_iter().map(|bytes| bytes as u64);
        let mut sorted = times.clone();
        sorted.sort_by(f64::total_cmp);
        serde_json::json!({
            "command": readable(command.name),
            "mean": mean(&times),
            "stddev": (times.len() > 1).then(|| deviation(&times)),
            "median": median(&times),
            "user": user,
            "system": mean(&cpu) / 1e9 - user,
            "min": sorted.first(),
            "max": sorted.last(),
            "times": times,
            "memory_usage_byte": bytes.collect::<Vec<u64>>(),
            "exit_codes": vec![exit_code(command.cpu); sorted.len()],
        })
    });
    serde_json::json!({ "results": results.collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use syscost_results::fixture::{row, run};

    /// The rows of a command that takes so long in each round, of which it has the CPU for this share.
    fn of_command(name: &str, wall_ns: &[f64], on_cpu: f64, waited: f64) -> Vec<Measurement> {
        let of = |id: &str, share: f64| {
            let rounds = wall_ns.iter().map(|ns| vec![share * ns]);
            let mut row = row(&format!("{id}{{command={name}}}"), rounds.collect());
            row.id = id.to_owned();
            row.case = [("command".to_owned(), name.to_owned())].into();
            row.details.insert("waited_percent".to_owned(), waited);
            row
        };
        vec![of("command.cpu", on_cpu), of("command.wall", 1.0)]
    }

    /// What is said of a second command that takes this many times as long as the first.
    fn said(times: f64, on_cpu: f64, waited: f64) -> String {
        // Rounds differ by up to 1 %, in another order for each command.
        let walls = |factor: f64, step: usize| -> Vec<f64> {
            let spread = |index: usize| 1.0 + 0.01 * (index * step % 12) as f64 / 12.0;
            (0..12).map(|index| factor * 1e7 * spread(index)).collect()
        };
        let mut all = of_command("a", &walls(1.0, 5), on_cpu, waited);
        all.extend(of_command("b%2c", &walls(times, 7), on_cpu, waited));
        let mut run = run("r", all);
        run.config.profile = "standard".to_owned();
        text(
            &run,
            &TableOptions {
                width: 200,
                ..TableOptions::default()
            },
        )
    }

    #[test]
    fn a_difference_is_told_with_what_it_was_judged_by() {
        let slower = said(1.1, 0.99, 0.0);
        assert!(slower.contains("slower: b, takes 1.1"), "{slower}");
        assert!(slower.contains("the CPU time of a"), "{slower}");
        let faster = said(0.9, 0.2, 0.0);
        assert!(faster.contains("faster: b, takes 0.9"), "{faster}");
        assert!(faster.contains("the elapsed time (they wait"), "{faster}");
        let beside = said(1.1, 0.2, 30.0);
        assert!(beside.contains("waited for the CPU for 30 %"), "{beside}");
        let same = said(1.0, 0.99, 0.0);
        assert!(same.contains("no difference found: b,"), "{same}");
        // What is ruled out follows from the interval beside it.
        assert_eq!(percent(furthest((0.987, 1.045))), "4.5 %");
        assert_eq!(percent(furthest((0.9, 1.045))), "11.2 %");
    }

    #[test]
    fn runs_that_are_all_dearer_than_the_first_say_so() {
        let said = |first_ns: f64| {
            let mut all = of_command("a", &[2.2e6, 2.5e6, 2.4e6], 1.0, 0.0);
            all[0].details.insert("first_run_ns".to_owned(), first_ns);
            text(&run("r", all), &TableOptions::default())
        };
        assert!(said(1e6).contains("its first run took 1.00 ms"));
        assert!(!said(1.2e6).contains("first run"));
    }
}
