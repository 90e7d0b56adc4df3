//! Shared: what the programs of the studies print.

use std::collections::BTreeMap;

use syscost_harness::prelude::*;
use syscost_stats::order::median;
use syscost_sys::counters::Usage;

use super::started::Ended;

/// The exit status of a program that needs something this machine lacks.
const UNSUPPORTED: i32 = 77;

/// What the runs of a program printed.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ProgramOutput {
    facts: BTreeMap<String, Vec<f64>>,
    claims: BTreeMap<String, Vec<(f64, f64)>>,
    singles_ns: Vec<f64>,
    /// The arguments that the kernel started the last run with, its name the first.
    pub(super) arguments: Vec<String>,
}

impl ProgramOutput {
    /// The result of one run, in the row's unit, and what was counted for it; keeps the rest.
    pub(super) fn read(
        &mut self,
        ended: &Ended,
        ticks_per_ns: f64,
        unit: Unit,
        number_in: Option<&str>,
    ) -> Result<Ran, Failure> {
        let said = ended.said.trim().to_owned();
        match ended.status.code() {
            Some(0) => {}
            Some(UNSUPPORTED) => return Err(Failure::Unsupported(said)),
            _ => {
                let status = ended.status;
                return Err(Failure::Failed(format!(
                    "its program ended by {status}: {said}"
                )));
            }
        }
        let ran = |result, marked| Ran {
            result,
            whole: ended.whole,
            first: ended.first,
            marked,
        };
        if let (Some(symbol), Some(number)) = (number_in, finite(ended.printed.trim())) {
            let number = cost(number)?;
            return Ok(ran(converted(number, symbol, ticks_per_ns).0, None));
        }
        let (mut result, mut marked) = (None, None);
        self.arguments.clear();
        for line in ended.printed.lines() {
            let broken = || {
                let comma = match is_with_comma(line) {
                    true => ": a number has a point, as in 5.3",
                    false => "",
                };
                Failure::Failed(format!(
                    "the program printed `{line}`, which is no line of a result{comma}"
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
                    // What is published may be a difference.
                    result = Some(if number_in.is_some() {
                        cost(value)?
                    } else {
                        value
                    });
                }
                "between" => marked = Some(between(first, rest).ok_or_else(broken)?),
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
        if marked.is_some_and(|marked| marked.used - ended.whole != Usage::default()) {
            let what = "the program counted more between begin() and end() than the kernel in all";
            return Err(Failure::Failed(what.to_owned()));
        }
        let result = result.map(|result| ran(result, marked));
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

/// What was counted between the marks: operations, minor and major faults, voluntary and involuntary switches.
fn between(operations: f64, rest: &str) -> Option<Marked> {
    let numbers = rest.split(' ').map(|number| number.parse().ok());
    let numbers: Vec<u64> = numbers.collect::<Option<_>>()?;
    let [
        minor_faults,
        major_faults,
        voluntary_switches,
        involuntary_switches,
    ] = numbers[..]
    else {
        return None;
    };
    (operations >= 1.0).then_some(Marked {
        operations: operations as u64,
        used: Usage {
            minor_faults,
            major_faults,
            voluntary_switches,
            involuntary_switches,
            max_rss_kib: 0,
        },
    })
}

/// A number that may be a cost or a rate: none takes no time, or less.
fn cost(number: f64) -> Result<f64, Failure> {
    let what = || format!("the program printed the result {number}, which nothing can cost");
    (number > 0.0)
        .then_some(number)
        .ok_or_else(|| Failure::Failed(what()))
}

/// Whether it is a number but for a comma in the place of its point.
fn is_with_comma(line: &str) -> bool {
    line.contains(',') && finite(&line.trim().replacen(',', ".", 1)).is_some()
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

    fn ended(status: i32, printed: &str, said: &str) -> Ended {
        Ended {
            status: ExitStatus::from_raw(status << 8),
            printed: printed.to_owned(),
            said: said.to_owned(),
            whole: Usage {
                minor_faults: 30,
                involuntary_switches: 4,
                ..Usage::default()
            },
            first: None,
        }
    }

    fn result(ran: Result<Ran, Failure>) -> Option<f64> {
        ran.ok().map(|ran| ran.result)
    }

    #[test]
    fn what_a_program_prints_is_read_in_ns() {
        let mut seen = ProgramOutput::default();
        let printed = "result 40 ticks\nfact 8 ticks first_operation\nfact 1.5 % zero_or_less\n\
                       claim 1 0.5 answers per round trip\nsingle 2 us\n";
        let ran = seen.read(&ended(0, printed, ""), 2.0, Unit::Nanoseconds, None);
        assert_eq!(result(ran), Some(20.0));
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
            ProgramOutput::default().read(&ended(0, printed, ""), 2.0, Unit::Nanoseconds, unit)
        };
        assert_eq!(result(read(" 1.5\n", Some("us"))), Some(1500.0));
        assert_eq!(result(read("result 3 ms", Some("us"))), Some(3e6));
        assert!(read("1.5", None).is_err());
        for printed in ["0", "-5", "result -5 ns"] {
            let refused = read(printed, Some("ns")).expect_err(printed).to_string();
            assert!(refused.contains("which nothing can cost"), "{refused}");
        }
        let refused = read("5,3\n", Some("ns")).expect_err("a comma").to_string();
        assert!(
            refused.contains("`5,3`") && refused.contains("as in 5.3"),
            "{refused}"
        );
    }

    #[test]
    fn a_program_that_fails_or_says_nothing_is_no_result() {
        let read = |status, printed, said| {
            let ended = ended(status, printed, said);
            ProgramOutput::default()
                .read(&ended, 1.0, Unit::Nanoseconds, None)
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
            "result 1 ns\nbetween 1 2 3 4",
            "result 1 ns\nbetween 0 2 3 4 5",
            // More than the kernel has counted in all.
            "result 1 ns\nbetween 1 31 0 0 0",
        ] {
            assert!(
                matches!(read(0, printed, ""), Failure::Failed(_)),
                "{printed}"
            );
        }
    }

    #[test]
    fn what_was_counted_between_the_marks_is_read() {
        let read = ProgramOutput::default().read(
            &ended(0, "result 1 ns\nbetween 1000 30 0 0 4", ""),
            1.0,
            Unit::Nanoseconds,
            None,
        );
        let marked = read.expect("a result").marked.expect("it has marks");
        let used = marked.used;
        assert_eq!(
            (
                marked.operations,
                used.minor_faults,
                used.involuntary_switches
            ),
            (1000, 30, 4)
        );
    }

    #[test]
    fn a_rate_by_the_counter_is_one_by_the_second() {
        assert_eq!(converted(2.0, "B/tick", 3.0), (6e9, "B/s"));
    }
}
