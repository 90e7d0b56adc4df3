//! Shared: what the programs of the studies print.

use std::collections::BTreeMap;
use std::process::Output;

use syscost_harness::bencher::Over;
use syscost_harness::prelude::*;
use syscost_results::stats::order::median;

/// The exit status of a program that needs something this machine lacks.
const UNSUPPORTED: i32 = 77;

/// What the runs of a program printed.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Seen {
    facts: BTreeMap<String, Vec<f64>>,
    claims: BTreeMap<String, Vec<(f64, f64)>>,
    singles_ns: Vec<f64>,
    /// The arguments that the kernel started the last run with, its name the first.
    pub(super) arguments: Vec<String>,
}

impl Seen {
    pub(super) fn has_claims(&self) -> bool {
        !self.claims.is_empty()
    }

    /// The result of one run, in the row's unit; keeps the rest.
    pub(super) fn read(
        &mut self,
        ran: &Output,
        ticks_per_ns: f64,
        unit: Unit,
        number_in: Option<&str>,
    ) -> Result<f64, Failure> {
        let said = String::from_utf8_lossy(&ran.stderr).trim().to_owned();
        match ran.status.code() {
            Some(0) => {}
            Some(UNSUPPORTED) => return Err(Failure::Unsupported(said)),
            _ => {
                let status = ran.status;
                return Err(Failure::Failed(format!(
                    "its program ended by {status}: {said}"
                )));
            }
        }
        let printed = String::from_utf8_lossy(&ran.stdout);
        if let (Some(symbol), Some(number)) = (number_in, finite(printed.trim())) {
            return Ok(converted(number, symbol, ticks_per_ns).0);
        }
        let mut result = None;
        self.arguments.clear();
        for line in printed.lines() {
            let broken = || {
                Failure::Failed(format!(
                    "the program printed `{line}`, which is no line of a result"
                ))
            };
            let (kind, rest) = line.split_once(' ').ok_or_else(broken)?;
            let number = |text: &str| finite(text).ok_or_else(broken);
            let (first, rest) = rest.split_once(' ').ok_or_else(broken)?;
            let first = number(first)?;
            match kind {
                "result" => {
                    let (value, symbol) = converted(first, rest, ticks_per_ns);
                    if symbol != unit.symbol() {
                        return Err(broken());
                    }
                    result = Some(value);
                }
                "argument" => self.arguments.push(rest.to_owned()),
                "single" => self.singles_ns.push(converted(first, rest, ticks_per_ns).0),
                "fact" => {
                    let (symbol, name) = rest.split_once(' ').ok_or_else(broken)?;
                    let (value, symbol) = converted(first, symbol, ticks_per_ns);
                    let end = match symbol {
                        "%" => "percent",
                        "B" => "bytes",
                        "B/s" => "bytes_per_s",
                        other => other,
                    };
                    self.facts
                        .entry(format!("{name}_{end}"))
                        .or_default()
                        .push(value);
                }
                "claim" => {
                    let (counted, what) = rest.split_once(' ').ok_or_else(broken)?;
                    let pair = (first, number(counted)?);
                    self.claims.entry(what.to_owned()).or_default().push(pair);
                }
                _ => return Err(broken()),
            }
        }
        result.ok_or_else(|| Failure::Failed("the program printed no result".to_owned()))
    }

    /// Adds what the runs counted to the row: of times the median, of counts and shares the mean.
    pub(super) fn tell(&self, b: &mut Bencher) {
        for (name, values) in &self.facts {
            let value = match name.ends_with("_ns") {
                true => median(values).unwrap_or(f64::NAN),
                false => values.iter().sum::<f64>() / values.len() as f64,
            };
            b.detail_over(over(name), name, value);
        }
        for (what, pairs) in &self.claims {
            // The first that does not hold, if one does not.
            let odd = pairs.iter().find(|(expected, counted)| expected != counted);
            if let Some((expected, counted)) = odd.or(pairs.first()) {
                b.claim_equal(what, *expected, *counted, "program");
            }
        }
        self.singles_ns.iter().for_each(|ns| b.record_single(*ns));
    }
}

/// How a fact is combined over processes: all that a program can say of it is its name.
fn over(name: &str) -> Over {
    let has = |word| name.split('_').any(|one| one == word);
    if has("longest") {
        Over::Max
    } else if has("least") {
        Over::Min
    } else if has("placed") {
        Over::Mean
    } else {
        Over::Median
    }
}

fn finite(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// A value in the unit of this symbol, times in ns, and the symbol of what it now is.
fn converted(value: f64, symbol: &str, ticks_per_ns: f64) -> (f64, &str) {
    match symbol {
        "ticks" => (value / ticks_per_ns, "ns"),
        "us" => (value * 1e3, "ns"),
        "ms" => (value * 1e6, "ns"),
        "s" => (value * 1e9, "ns"),
        "bytes" => (value, "B"),
        "B/tick" => (value * ticks_per_ns * 1e9, "B/s"),
        other => (value, other),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    use super::*;

    fn ran(status: i32, printed: &str, said: &str) -> Output {
        Output {
            status: ExitStatus::from_raw(status << 8),
            stdout: printed.into(),
            stderr: said.into(),
        }
    }

    #[test]
    fn what_a_program_prints_is_read_in_ns() {
        let mut seen = Seen::default();
        let printed = "result 40 ticks\nfact 8 ticks first_operation\nfact 1.5 % zero_or_less\n\
                       claim 1 0.5 answers per round trip\nsingle 2 us\n";
        let result = seen.read(&ran(0, printed, ""), 2.0, Unit::Nanoseconds, None);
        assert_eq!(result.ok(), Some(20.0));
        let facts: Vec<_> = seen
            .facts
            .iter()
            .map(|(name, all)| (name.as_str(), all[0]))
            .collect();
        assert_eq!(
            facts,
            [("first_operation_ns", 4.0), ("zero_or_less_percent", 1.5)]
        );
        assert_eq!(seen.claims["answers per round trip"], [(1.0, 0.5)]);
        assert_eq!(seen.singles_ns, [2000.0]);
    }

    #[test]
    fn a_number_alone_is_in_the_unit_of_its_study() {
        let read = |printed, unit| {
            Seen::default().read(&ran(0, printed, ""), 2.0, Unit::Nanoseconds, unit)
        };
        assert_eq!(read(" 1.5\n", Some("us")).ok(), Some(1500.0));
        assert_eq!(read("result 3 ms", Some("us")).ok(), Some(3e6));
        assert!(read("1.5", None).is_err());
    }

    #[test]
    fn a_program_that_fails_or_says_nothing_is_no_result() {
        let read = |status, printed, said| {
            let ran = ran(status, printed, said);
            Seen::default()
                .read(&ran, 1.0, Unit::Nanoseconds, None)
                .expect_err("no result")
        };
        assert_eq!(
            read(77, "", "no counter\n"),
            Failure::Unsupported("no counter".to_owned())
        );
        assert!(
            read(1, "", "fork: refused")
                .to_string()
                .contains("fork: refused")
        );
        for printed in [
            "",
            "result ns",
            "result 1 B",
            "hello 1 2",
            "fact 1 ns",
            "claim nan 1 x",
            "result inf ns",
        ] {
            assert!(
                matches!(read(0, printed, ""), Failure::Failed(_)),
                "{printed}"
            );
        }
    }

    #[test]
    fn a_rate_by_the_counter_is_one_by_the_second() {
        assert_eq!(converted(2.0, "B/tick", 3.0), (6e9, "B/s"));
    }
}
