//! Commands of a user: a line each, and a sentence for each that is compared with the first.

use syscost_results::commands::{CommandRows, ComparedCommand, JudgedBy, commands, compared};
use syscost_results::compare::{Change, Row as ComparedRow};
use syscost_results::{ClaimId, Evidence, Fact, Measurement, Run, Status};

use crate::TableOptions;
use crate::document::{Block, Column, Look, Row, Table, Text, terminal};
use crate::sentence;
use crate::tone::Tone;
use crate::units::Figures;

/// The counts that have a column, and what claims them.
const COUNTS: [(&str, &str, u8); 3] = [
    ("faults", "minor page faults per operation", 2),
    ("switches", "switches of all its tasks per operation", 3),
    ("tasks", "tasks that made system calls", 4),
];

const SHARED: &str = "; few runs had a core of their own, so all count";

/// How many kinds of system calls are named.
const MOST_KINDS: usize = 6;

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
    ];
    columns.push(Column::right("calls").rank(1));
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
        noted(command.cpu, claim).map_or_else(String::new, |n| format!("{n}"))
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
    line
}

/// A figure with its interval and the flags that matter.
fn figure(row: &Measurement) -> String {
    match Figures::of(row) {
        Some(figures) => format!("{} {}", figures.with_half_width(), figures.unit),
        None => row.status.words().to_owned(),
    }
}

/// What was noted of a command by this claim.
fn noted(row: &Measurement, claim: &str) -> Option<f64> {
    let id = ClaimId::of(claim);
    let mut notes = row.evidence.iter().filter(|one| one.claim.id == id);
    match notes.next()?.observed {
        Some(Fact::Number(number)) => Some(number),
        Some(Fact::Text(_)) | None => None,
    }
}

/// How often a command makes each kind of system call, the most frequent first.
fn kinds(row: &Measurement) -> Vec<(&str, f64)> {
    const OF_CALL: &str = " system calls per operation";
    let count = |one: &Evidence| match one.observed {
        Some(Fact::Number(count)) => Some(count),
        Some(Fact::Text(_)) | None => None,
    };
    let kinds = row.evidence.iter().filter_map(|one| {
        let call = one.claim.sentence.strip_suffix(OF_CALL)?;
        Some((call, count(one)?))
    });
    let mut kinds: Vec<(&str, f64)> = kinds.collect();
    kinds.sort_by(|one, other| other.1.total_cmp(&one.1));
    kinds
}

/// The kinds of system calls that a command makes most.
fn calls(command: &CommandRows<'_>) -> Option<String> {
    let kinds = kinds(command.cpu);
    let named = kinds.iter().take(MOST_KINDS);
    let named: Vec<String> = named
        .map(|(call, count)| format!("{call} {count}"))
        .collect();
    let more = kinds.len().saturating_sub(MOST_KINDS);
    let more = match more {
        0 => String::new(),
        more => format!(" and {}", sentence::count(more, "other kind")),
    };
    let name = readable(command.name);
    (!named.is_empty()).then(|| format!("{name}: {}{more}", named.join(", ")))
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
    let bound = match row.verdict {
        Change::Worse | Change::Better => String::new(),
        Change::Same => format!(
            "; more than {} either way is ruled out",
            percent(row.same_within)
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

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// The name of a command without what its rows' names need.
pub fn readable(name: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = name.as_bytes();
    while let [first, more @ ..] = rest {
        let digits = more
            .get(..2)
            .filter(|_| *first == b'%')
            .and_then(|two| str::from_utf8(two).ok());
        match digits.and_then(|two| u8::from_str_radix(two, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &more[2..];
            }
            None => {
                bytes.push(*first);
                rest = more;
            }
        }
    }
    sentence::fact(&String::from_utf8_lossy(&bytes))
}

/// With what a command ended each time; `None` where a signal ended it, or nothing tells.
fn exit_code(row: &Measurement) -> Option<i32> {
    let id = ClaimId::of("end of each run");
    let ended = row.evidence.iter().find(|one| one.claim.id == id)?;
    match &ended.observed {
        Some(Fact::Text(text)) => text.strip_prefix("exit status: ")?.parse().ok(),
        _ => None,
    }
}

/// The commands in the form of hyperfine's `--export-json`.
pub fn hyperfine(run: &Run) -> serde_json::Value {
    let results = commands(run).into_iter().map(|command| {
        if command.cpu.status != Status::Ok {
            let error = sentence::no_number(command.cpu);
            return serde_json::json!({ "command": readable(command.name), "error": error });
        }
        let samples = command.cpu.samples.iter().flatten();
        let bytes = samples
            .clone()
            .flat_map(|round| round.also.get("peak_bytes").into_iter().flatten());
        let bytes: Vec<u64> = bytes.map(|bytes| *bytes as u64).collect();
        let of = |series: &str| -> Vec<f64> {
            let all = samples
                .clone()
                .flat_map(|round| round.also.get(series).into_iter().flatten());
            all.map(|ns| ns / 1e9).collect()
        };
        let cpu = samples
            .clone()
            .flat_map(|round| round.values.iter().map(|ns| ns / 1e9));
        let (times, user) = (of("wall_ns"), of("user_ns"));
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
        let middle = mean(&times);
        let squares: f64 = times.iter().map(|one| (one - middle).powi(2)).sum();
        let deviation = (times.len() > 1).then(|| (squares / (times.len() - 1) as f64).sqrt());
        let user = mean(&user);
        let mut sorted = times.clone();
        sorted.sort_by(f64::total_cmp);
        serde_json::json!({
            "command": readable(command.name),
            "mean": middle,
            "stddev": deviation,
            "median": syscost_stats::order::median(&times),
            "user": user,
            "system": mean(&cpu.collect::<Vec<_>>()) - user,
            "min": sorted.first(),
            "max": sorted.last(),
            "times": times.clone(),
            "memory_usage_byte": bytes,
            "exit_codes": vec![exit_code(command.cpu); times.len()],
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
    }

    #[test]
    fn a_name_is_read_as_it_was_given() {
        for (name, text) in [
            ("a%2cb", "a,b"),
            ("100%25", "100%"),
            ("%", "%"),
            ("%zz", "%zz"),
            ("%c3%bc", "ü"),
        ] {
            assert_eq!(readable(name), text);
        }
    }
}
