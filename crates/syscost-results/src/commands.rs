//! Commands of a user, compared with the first of them: `syscost time`.

use crate::compare::{Comparison, Row, compare_pair};
use crate::{Flag, Measurement, Run, row_name};

/// The rows of one command.
#[derive(Debug, Clone, Copy)]
pub struct CommandRows<'r> {
    /// What its rows call it.
    pub name: &'r str,
    /// Its CPU time, its elapsed time and its peak memory.
    pub cpu: &'r Measurement,
    /// See `cpu`.
    pub wall: Option<&'r Measurement>,
    /// See `cpu`.
    pub memory: Option<&'r Measurement>,
}

/// By what commands are compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum JudgedBy {
    /// By their CPU time, which is nearly all of the time that they take.
    CpuTime,
    /// By the time that they take: they wait for other things than the CPU.
    Elapsed,
    /// By their CPU time, since one waited for the CPU for so much of its time, in percent, that the time
    /// that it takes says more of other programs.
    CpuTimeBesideOthers(f64),
}

/// How a command compares with the first.
#[derive(Debug, Clone)]
pub struct ComparedCommand {
    /// By what.
    pub by: JudgedBy,
    /// The verdict; `None` where one has no number.
    pub row: Option<Row>,
    /// Whether too few runs were undisturbed, so that all count.
    pub in_company: bool,
}

/// Minimum share of the elapsed time that CPU time is of a command that does nothing else.
const MOSTLY_CPU: f64 = 0.9;

/// The same share at most, of one that uses no two CPUs at once: the clocks differ a little.
const ONE_CPU: f64 = 1.02;

/// Maximum share of the elapsed time, in percent, that a command may have waited for the CPU for that time to be
/// its own: the least difference that is called one ([`MIN_PAIRED_MARGIN`](crate::compare::MIN_PAIRED_MARGIN)).
const MOST_WAITED_PERCENT: f64 = 1.0;

/// The parameter of rows that names a command.
pub(crate) const COMMAND: &str = "command";

/// The claim that names the command that was measured.
pub const EXECUTED: &str = "command that the kernel executes";

/// The claim that a command prints the same in each run.
pub const PRINTED: &str = "output of each run";

/// The detail with the share of the elapsed time in which a command was ready and had no CPU; of one that had a single
/// task at a time.
pub const WAITED_PERCENT: &str = "waited_percent";

/// The detail with the CPU time of a command's first run, in ns, before which nothing of the run had started
/// it.
pub const FIRST_RUN: &str = "first_run_ns";

/// How many times as long a run may take on a core that is shared, as a factor.
const SHARED_CORE: f64 = 2.0;

/// A text as the value of a row's parameter: what has a meaning in a row's name, and control characters, are
/// written as `%` and two hexadecimal digits.
pub fn row_value(text: &str) -> String {
    let is_plain = |character: char| !character.is_control() && !",{}%".contains(character);
    let written = |character: char| match is_plain(character) {
        true => character.to_string(),
        false => {
            let mut bytes = [0; 4];
            let bytes = character.encode_utf8(&mut bytes).bytes();
            bytes.map(|byte| format!("%{byte:02x}")).collect()
        }
    };
    text.chars().map(written).collect()
}

/// The text that a value was made of.
pub fn text_of(value: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = value.as_bytes();
    while let [first, more @ ..] = rest {
        let digits = more.get(..2).filter(|_| *first == b'%');
        let digits = digits.and_then(|two| str::from_utf8(two).ok());
        let byte = digits.and_then(|two| u8::from_str_radix(two, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = byte.map_or(more, |_| &more[2..]);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The command that a row is of, as its name has it; `None` of a row that syscost's own catalogue names.
pub(crate) fn command_of(row: &Measurement) -> Option<&str> {
    let is_of_user = row_name::group(&row.id) == COMMAND;
    let command = row.case.get(COMMAND).filter(|_| is_of_user);
    command.map(String::as_str)
}

/// The commands of a run, in the order in which they were given.
pub fn commands(run: &Run) -> Vec<CommandRows<'_>> {
    let of = |id: &'static str| run.measurements.iter().filter(move |row| row.id == id);
    let rows = of("command.cpu").filter_map(|cpu| {
        let other = |id| of(id).find(|row| command_of(row) == command_of(cpu));
        Some(CommandRows {
            name: command_of(cpu)?,
            cpu,
            wall: other("command.wall"),
            memory: other("command.memory"),
        })
    });
    rows.collect()
}

impl CommandRows<'_> {
    /// The share of its elapsed time in which it was ready and had no CPU, in percent.
    pub fn waited_percent(&self) -> Option<f64> {
        self.cpu.details.get(WAITED_PERCENT).copied()
    }

    /// The CPU time of its first run, in ns, where each later one took more than twice as much, which no
    /// shared core explains: what runs leave behind is part of the price, or what prepares them.
    pub fn cheap_first_run_ns(&self) -> Option<f64> {
        let first = self.cpu.details.get(FIRST_RUN).copied()?;
        let rounds = self.cpu.samples.iter().flatten();
        let least = rounds.flat_map(|round| &round.values).copied();
        (least.fold(f64::INFINITY, f64::min) > SHARED_CORE * first).then_some(first)
    }

    fn is_mostly_cpu(&self) -> bool {
        let medians = self
            .cpu
            .estimate
            .median
            .zip(self.wall.and_then(|row| row.estimate.median));
        medians.is_some_and(|(cpu, wall)| (MOSTLY_CPU * wall..=ONE_CPU * wall).contains(&cpu))
    }
}

/// How another command compares with the first of a run. Their rounds were measured in turn.
pub fn compared(run: &Run, first: &CommandRows<'_>, other: &CommandRows<'_>) -> ComparedCommand {
    let waited = [first, other].map(|one| one.waited_percent().unwrap_or(0.0));
    let waited = waited[0].max(waited[1]);
    let by = match first.is_mostly_cpu() && other.is_mostly_cpu() {
        true => JudgedBy::CpuTime,
        false if waited > MOST_WAITED_PERCENT => JudgedBy::CpuTimeBesideOthers(waited),
        false => JudgedBy::Elapsed,
    };
    let rows = match by {
        JudgedBy::Elapsed => first.wall.zip(other.wall),
        JudgedBy::CpuTime | JudgedBy::CpuTimeBesideOthers(_) => Some((first.cpu, other.cpu)),
    };
    let row = rows.and_then(|(first, other)| {
        let own = alone(run, first, other).rows.pop();
        let own = own.filter(|row| row.ci95_low.is_some());
        // Else all count, of both, since they were in turn.
        own.or_else(|| {
            let all = [first, other].map(with_all_samples);
            let row = alone(run, &all[0], &all[1]).rows.pop()?;
            Some(Row {
                disturbed: true,
                ..row
            })
        })
    });
    ComparedCommand {
        by,
        in_company: row.as_ref().is_some_and(|row| row.disturbed),
        // Measured in turn, company meets both alike: it may hide a difference, and does not make one.
        row: row.map(|row| Row {
            company: Some(1.0),
            ..row
        }),
    }
}

/// A row all of whose samples count, whatever disturbed them.
fn with_all_samples(row: &Measurement) -> Measurement {
    let mut row = row.clone();
    row.flags.retain(|flag| *flag != Flag::Disturbed);
    row.sharing = None;
    for round in row.samples.iter_mut().flatten() {
        round.alone_percent = None;
        round.ratios.clear();
        round.own_limit = None;
        round.disturbed.clear();
    }
    row
}

/// Two rows of a run, compared as if they were one row of two.
fn alone(run: &Run, first: &Measurement, other: &Measurement) -> Comparison {
    let of = |row: &Measurement| Run {
        measurements: vec![Measurement {
            name: first.id.clone(),
            case: Default::default(),
            ..row.clone()
        }],
        ..run.clone()
    };
    compare_pair(&of(first), &of(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_is_a_value() {
        for (text, value) in [
            ("git status -s", "git status -s"),
            ("awk '{print $1,$2}' a=b", "awk '%7bprint $1%2c$2%7d' a=b"),
            ("100%\n\u{1b}[2J\u{85}", "100%25%0a%1b[2J%c2%85"),
        ] {
            assert_eq!(row_value(text), value);
            assert_eq!(text_of(value), text);
            let name = format!("command.cpu{{command={value}}}");
            let parameters: Vec<_> = row_name::parameters(&name).collect();
            assert_eq!(parameters, [("command", value)]);
        }
    }

    #[test]
    fn a_value_that_no_text_was_made_into_is_read_as_it_stands() {
        for (value, text) in [("%", "%"), ("%zz", "%zz"), ("%c3%bc", "ü")] {
            assert_eq!(text_of(value), text);
        }
    }
}
