//! Judges a run against a study.

use serde::Serialize;

use super::verdict::{Rows, Sentence, verdict};
use super::view::{self, Seen, View};
use super::{Cycles, Figure, Quantity, Study, StudyMachine};
use crate::{Evidence, Measurement, Run, Unit};

/// Relative difference allowed between the printed cycles and time of one figure, because of rounding.
const ROUNDING: f64 = 0.01;

/// Relative difference allowed between the mean of printed runs and the printed mean.
const MEAN_ROUNDING: f64 = 0.005;

/// A printed average is of at least three runs; if fewer are given, the others are illegible in the text.
const MIN_RUNS: usize = 3;

/// Prefix of the detail with the standard deviation of a procedure's trials; the unit follows.
const TRIALS_STDDEV: &str = "trials_stddev_";

/// What was computed rather than printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Converted {
    /// The time, from cycles.
    Value,
    /// The cycles, from time.
    Cycles,
}

/// A study, judged by a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgedStudy {
    /// The study.
    #[serde(flatten)]
    pub study: Study,
    /// Id of the run.
    pub run: String,
    /// Rate of this machine's time-stamp counter in GHz, where the study's cycles are its ticks.
    pub counter: Option<f64>,
    /// Its quantities, in their order.
    pub judged: Vec<JudgedQuantity>,
}

/// One quantity: four views of it, and the verdict.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgedQuantity {
    /// Id of the quantity.
    pub id: String,
    /// What was published.
    pub published: Vec<JudgedFigure>,
    /// The published procedure on this machine; null if it is not repeated.
    pub as_published: Option<Seen>,
    /// The same, from undisturbed results only.
    pub undisturbed: Option<Seen>,
    /// syscost's method.
    pub ours: Option<Seen>,
    /// What was counted for the published procedure.
    pub evidence: Vec<Evidence>,
    /// What was counted for syscost's method.
    pub ours_evidence: Vec<Evidence>,
    /// Standard deviation of the procedure's trials, in the quantity's unit, if it prints one.
    pub trials_stddev: Option<f64>,
    /// How often each value occurred, for its chart: value in the quantity's unit, count.
    #[serde(skip)]
    pub histogram: Vec<(f64, u64)>,
    /// The verdict.
    pub verdict: Sentence,
}

/// One published figure, in both units if they can be known.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgedFigure {
    /// Id of the machine.
    pub machine: String,
    /// In the quantity's unit.
    pub value: Option<f64>,
    /// In cycles.
    pub cycles: Option<f64>,
    /// Which of the two was computed from the machine's stated clock; null if neither.
    pub converted: Option<Converted>,
    /// The figure in words, if it is not a number.
    pub words: Option<String>,
    /// Single results that the text prints; see [`Figure::runs`].
    pub runs: Vec<f64>,
    /// Where in the text.
    pub place: String,
    /// What is doubtful: according to the study, and where its own numbers disagree.
    pub doubts: Vec<String>,
}

/// The figures published for a quantity, with what follows from them alone.
pub fn figures(study: &Study, quantity: &Quantity) -> Vec<JudgedFigure> {
    let published = quantity.published.iter();
    published
        .map(|one| figure(one, quantity.unit, study.machine(&one.machine)))
        .collect()
}

fn figure(figure: &Figure, unit: Unit, machine: Option<&StudyMachine>) -> JudgedFigure {
    let clock = machine
        .and_then(|machine| machine.clock_ghz)
        .filter(|_| unit == Unit::Nanoseconds);
    let mut doubts: Vec<String> = figure.doubt.iter().cloned().collect();
    let off = |one: f64, other: f64| (one / other - 1.0).abs();
    if let (Some(value), Some(cycles), Some(ghz)) = (figure.value, figure.cycles, clock)
        && off(cycles / ghz, value) > ROUNDING
    {
        doubts.push(format!(
            "{cycles} cycles at {ghz} GHz are {:.2} ns, not {value}",
            cycles / ghz
        ));
    }
    let printed = figure.cycles.or(figure.value);
    if let (Some(printed), true) = (printed, figure.runs.len() >= MIN_RUNS) {
        let mean = figure.runs.iter().sum::<f64>() / figure.runs.len() as f64;
        if off(mean, printed) > MEAN_ROUNDING {
            doubts.push(format!(
                "the mean of its {} printed runs is {mean:.2}, not {printed}",
                figure.runs.len()
            ));
        }
    }
    let (value, cycles, converted) = match (figure.value, figure.cycles, clock) {
        (Some(value), None, Some(ghz)) => (Some(value), Some(value * ghz), Some(Converted::Cycles)),
        (None, Some(cycles), Some(ghz)) => {
            (Some(cycles / ghz), Some(cycles), Some(Converted::Value))
        }
        (value, cycles, _) => (value, cycles, None),
    };
    JudgedFigure {
        machine: figure.machine.clone(),
        value,
        cycles,
        converted,
        words: figure.words.clone(),
        runs: figure.runs.clone(),
        place: figure.place.clone(),
        doubts,
    }
}

/// Compares a run with a study.
pub fn judge(study: &Study, run: &Run) -> JudgedStudy {
    let judged = study.quantities.iter();
    JudgedStudy {
        study: study.clone(),
        run: run.id.clone(),
        counter: match study.cycles {
            Cycles::Tsc => (run.clock.source == "tsc").then_some(run.clock.ghz),
            Cycles::Core => None,
        },
        judged: judged.map(|quantity| of(study, quantity, run)).collect(),
    }
}

/// A way to view a row.
type By = fn(&Run, &Measurement, Cycles) -> Seen;

fn of(study: &Study, quantity: &Quantity, run: &Run) -> JudgedQuantity {
    let unit = quantity.unit;
    let find = |name: &Option<String>| name.as_ref().map(|name| view::row(run, name, unit));
    let rows = Rows {
        as_published: find(&quantity.as_published),
        ours: find(&quantity.ours),
    };
    let seen = |row: &Option<Result<&Measurement, String>>, by: By| {
        Some(match row.as_ref()? {
            Ok(row) => by(run, row, study.cycles),
            Err(reason) => Seen::Missing {
                reason: reason.clone(),
            },
        })
    };
    let as_published = seen(&rows.as_published, view::as_published);
    let undisturbed = seen(&rows.as_published, view::undisturbed);
    let scale = quantity.ours_scale.unwrap_or(1.0);
    let ours = seen(&rows.ours, view::estimate).map(|seen| seen.times(scale));
    // Noise must not look like a fault of the method: undisturbed results are compared, if there are any.
    let compared = match &undisturbed {
        Some(Seen::Figure(_)) => undisturbed.clone(),
        Some(Seen::Missing { .. }) | None => as_published.clone(),
    };
    let published_row = Rows::found(&rows.as_published);
    let evidence =
        |row: Option<&Measurement>| row.map_or_else(Vec::new, |row| row.evidence.clone());
    JudgedQuantity {
        id: quantity.id.clone(),
        published: figures(study, quantity),
        verdict: verdict(quantity, &rows, compared.as_ref(), ours.as_ref()),
        as_published,
        undisturbed,
        ours,
        evidence: evidence(published_row),
        ours_evidence: evidence(Rows::found(&rows.ours)),
        trials_stddev: published_row.and_then(|row| {
            let mut details = row.details.iter();
            let (_, value) = details.find(|(name, _)| name.starts_with(TRIALS_STDDEV))?;
            Some(*value)
        }),
        histogram: published_row.map_or_else(Vec::new, |row| row.histogram.clone()),
    }
}

impl JudgedQuantity {
    /// The figure of the published procedure to show if there is room for only one.
    pub fn here(&self) -> Option<&View> {
        self.as_published.as_ref()?.figure()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{row, run};
    use crate::measurement::Cause;
    use crate::measurement::Disturbance;
    use crate::study::Kind;
    use crate::{Fact, Status, Verdict};

    const STUDY: &str = r#"
id = "mine"
title = "Mine"
source = "A note"
about = "What I measured."
cycles = "tsc"

[[machine]]
id = "old"
name = "An old machine"
clock_ghz = 2.0

[[machine]]
id = "unclocked"
name = "Nobody says how fast"

[[quantity]]
id = "getpid"
title = "getpid()"
table = "System calls"
unit = "ns"
procedure = "One at a time."
as_published = "study.mine.getpid"
ours = "syscall.null"
why = "it reads the clock each time."
published = [
  { machine = "old", cycles = 200.0, value = 90.0, runs = [180.0, 190.0, 200.0], place = "page 1" },
  { machine = "old", cycles = 20.0, place = "page 2" },
  { machine = "unclocked", cycles = 20.0, place = "page 3" },
]

[[quantity.claim]]
counted = "getpid system calls per operation"
at_least = 1.0
broken = "No system call happened."
"#;

    fn study() -> Study {
        Study::parse(STUDY).expect("it is right")
    }

    fn published_row() -> crate::Measurement {
        let mut row = row("study.mine.getpid", vec![vec![12.0, 30.0]; 6]);
        for round in row.samples.iter_mut().flatten() {
            let cause = Cause::SharedCore;
            round.disturbed = vec![Disturbance { sample: 1, cause }];
        }
        row.estimate.median = Some(12.0);
        row.estimate.undisturbed_percent = Some(50.0);
        row
    }

    #[test]
    fn figures_that_disagree_with_themselves_are_marked() {
        let judged = judge(&study(), &run("r", Vec::new()));
        let [first, converted, unclocked] = &judged.judged[0].published[..] else {
            panic!("three figures");
        };
        assert_eq!(
            first.doubts,
            [
                "200 cycles at 2 GHz are 100.00 ns, not 90",
                "the mean of its 3 printed runs is 190.00, not 200"
            ]
        );
        assert_eq!(
            (converted.value, converted.converted),
            (Some(10.0), Some(Converted::Value))
        );
        assert_eq!((unclocked.value, unclocked.converted), (None, None));
    }

    #[test]
    fn four_views_and_a_verdict() {
        let rows = vec![
            published_row(),
            row("syscall.null", vec![vec![100.0; 2]; 6]),
        ];
        let judged = &judge(&study(), &run("r", rows)).judged[0];
        let here = judged.here().expect("it was run");
        assert_eq!(
            (here.value, here.low, here.high),
            (21.0, Some(12.0), Some(30.0))
        );
        assert_eq!(here.cycles, Some(21.0 * 2.5), "ticks of the counter");
        let undisturbed = judged.undisturbed.as_ref().expect("looked at");
        assert_eq!(undisturbed.figure().expect("seen").value, 12.0);
        assert_eq!(judged.verdict.kind, Kind::Differs);
        assert_eq!(
            judged.verdict.text,
            "Not counted here: getpid system calls per operation. The published way gives 88 % less than syscost's: it reads the clock each time."
        );
    }

    #[test]
    fn a_broken_claim_comes_first() {
        let mut published = published_row();
        published.evidence = vec![Evidence {
            claim: "getpid system calls per operation".into(),
            expected: Fact::Number(0.0),
            observed: Some(Fact::Number(0.0)),
            source: "seccomp audit".into(),
            verdict: Verdict::Confirmed,
            reason: None,
        }];
        let judged = judge(&study(), &run("r", vec![published]));
        let verdict = &judged.judged[0].verdict;
        assert_eq!(verdict.kind, Kind::NotWhatItSays);
        assert!(verdict.text.starts_with("No system call happened."));
        assert!(
            verdict
                .text
                .contains("No figure by syscost's way: not part of this run.")
        );
    }

    #[test]
    fn rows_are_found_in_whatever_directory_and_by_whatever_far_end_there_was() {
        let in_any = STUDY.replace("\"syscall.null\"", "\"fs.read{dir=*,size=4K}\"");
        let rows = vec![row("fs.read{dir=ssd,size=4K}", vec![vec![100.0; 2]; 6])];
        let judged = judge(
            &Study::parse(&in_any).expect("it is right"),
            &run("r", rows),
        );
        let ours = judged.judged[0].ours.as_ref().and_then(Seen::figure);
        assert_eq!(ours.expect("it is there").value, 100.0);
        let far = STUDY.replace("\"syscall.null\"", "\"net.x{path=remote,family=*}\"");
        let judged = judge(
            &Study::parse(&far).expect("it is right"),
            &run("r", Vec::new()),
        );
        let ours = judged.judged[0].ours.as_ref().expect("it is asked for");
        assert!(ours.reason().expect("there is none").contains("--peer"));
    }

    #[test]
    fn a_row_in_another_unit_agrees_with_nothing() {
        let mut rate = row("syscall.null", vec![vec![21.0; 2]; 6]);
        rate.unit = Unit::BytesPerSecond;
        let judged = &judge(&study(), &run("r", vec![published_row(), rate])).judged[0];
        let reason = judged.ours.as_ref().and_then(Seen::reason);
        assert_eq!(reason, Some("its row is in B/s, the quantity in ns"));
        assert_eq!(judged.verdict.kind, Kind::NotCompared);
    }

    #[test]
    fn a_row_without_a_number_says_why() {
        let mut withheld = published_row();
        withheld.status = Status::Withheld;
        withheld.reason = Some("it lied".into());
        let mut larger = row("syscall.null", vec![vec![100.0; 2]; 6]);
        larger.status = Status::AboveRange;
        larger.unit = Unit::Bytes;
        larger.estimate.ci95_low = Some(f64::from(1 << 20));
        larger.reason = Some("its time ended".into());
        let mut nothing = row("syscall.null", vec![vec![100.0; 2]; 6]);
        nothing.status = Status::BelowResolution;
        let judged = &judge(&study(), &run("r", vec![nothing])).judged[0];
        let reason = judged.ours.as_ref().and_then(Seen::reason);
        assert_eq!(reason, Some("below resolution"));
        let judged = &judge(&study(), &run("r", vec![larger])).judged[0];
        let reason = judged.ours.as_ref().and_then(Seen::reason);
        assert_eq!(reason, Some("larger than 1 MiB: its time ended"));
        let mut never_ours = row("syscall.null", vec![vec![100.0; 2]; 6]);
        never_ours.estimate.median = None;
        let judged = &judge(&study(), &run("r", vec![withheld, never_ours])).judged[0];
        let reason = |seen: &Option<Seen>| seen.as_ref().unwrap().reason().unwrap().to_owned();
        assert_eq!(reason(&judged.as_published), "withheld: it lied");
        assert_eq!(reason(&judged.ours), "it has no median");
        assert_eq!(judged.verdict.kind, Kind::NotCompared);
    }
}
