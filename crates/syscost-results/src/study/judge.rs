//! Judges a run against a study.

use serde::Serialize;

use super::figure::{JudgedFigure, figures, published_ratios};
use super::printed::Scale;
use super::verdict::{Disturbed, Facts, Sentence, verdict};
use super::view::{self, Seen, View};
use super::{Cycles, Quantity, Ratio, Study};
use crate::{Evidence, Measurement, Run};

/// So many undisturbed results have no range of their own: that of all results is taken for it.
const FEW: u64 = 4;

/// Prefix of the detail with the standard deviation of a procedure's trials; the unit follows.
const TRIALS_STDDEV: &str = "trials_stddev_";

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
    /// Its ratios, in their order.
    pub judged_ratios: Vec<JudgedRatio>,
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
    /// The scale at which all its figures are shown: that of the text, if there is one.
    #[serde(skip)]
    pub scale: Scale,
    /// The verdict.
    pub verdict: Sentence,
}

/// One ratio: as published, as measured here, and by syscost's method.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgedRatio {
    /// The ratio.
    #[serde(flatten)]
    pub ratio: Ratio,
    /// Of the published figures: machine and ratio.
    pub published: Vec<(String, f64)>,
    /// Of the published procedures here, by the figures that are compared; null if either is
    /// missing or not above zero.
    pub as_published: Option<f64>,
    /// By syscost's method; null likewise.
    pub by_method: Option<f64>,
}

/// Compares a run with a study.
pub fn judge(study: &Study, run: &Run) -> JudgedStudy {
    let quantities = study.quantities.iter();
    let judged: Vec<JudgedQuantity> = quantities
        .map(|quantity| of(study, quantity, run))
        .collect();
    let ratios = study.ratios.iter().map(|ratio| {
        let by = |seen: fn(&JudgedQuantity) -> Option<&View>| {
            let figure = |id: &str| {
                let view = seen(judged.iter().find(|one| one.id == id)?)?;
                (view.value > 0.0).then_some(view.value)
            };
            Some(figure(&ratio.of)? / figure(&ratio.to)?)
        };
        JudgedRatio {
            ratio: ratio.clone(),
            published: published_ratios(study, ratio),
            as_published: by(JudgedQuantity::compared),
            by_method: by(JudgedQuantity::by_method),
        }
    });
    JudgedStudy {
        study: study.clone(),
        run: run.id.clone(),
        counter: match study.cycles {
            Cycles::Tsc => (run.clock.source == "tsc").then_some(run.clock.ghz),
            Cycles::Core => None,
        },
        judged_ratios: ratios.collect(),
        judged,
    }
}

/// A way to view a row.
type By = fn(&Run, &Measurement, Cycles) -> Seen;

fn of(study: &Study, quantity: &Quantity, run: &Run) -> JudgedQuantity {
    let find = |name: &Option<String>| {
        let name = name.as_ref()?;
        Some(view::row(run, name, quantity.unit))
    };
    let (repeated, measured) = (find(&quantity.as_published), find(&quantity.ours));
    let seen = |row: &Option<Result<&Measurement, String>>, by: By| {
        Some(match row.as_ref()? {
            Ok(row) => by(run, row, study.cycles),
            Err(reason) => Seen::Missing {
                reason: reason.clone(),
            },
        })
    };
    let as_published = seen(&repeated, view::as_published);
    let mut undisturbed = seen(&repeated, view::undisturbed);
    if let (Some(Seen::Figure(few)), Some(Seen::Figure(all))) = (&mut undisturbed, &as_published)
        && few.from < FEW
    {
        few.middle = all.middle;
    }
    let scale = quantity.ours_scale.unwrap_or(1.0);
    let ours = seen(&measured, view::estimate).map(|seen| seen.times(scale));
    let row = Facts::found(&repeated);
    let method = Facts::found(&measured);
    let evidence =
        |row: Option<&Measurement>| row.map_or_else(Vec::new, |row| row.evidence.clone());
    let published = figures(study, quantity);
    let compared = compared(undisturbed.as_ref(), as_published.as_ref());
    let printed = quantity.published.iter().find_map(|one| one.value.as_ref());
    let shown = compared.or_else(|| ours.as_ref()?.figure());
    let scale = match (printed, shown) {
        (Some(printed), _) => printed.scale(quantity.unit),
        (None, shown) => Scale::reached(quantity.unit, shown.map_or(0.0, |view| view.value)),
    };
    let facts = Facts {
        compared,
        disturbed: match undisturbed.as_ref().and_then(Seen::figure) {
            Some(_) => None,
            None => Some(match row.and_then(|row| row.estimate.undisturbed_percent) {
                Some(_) => Disturbed::All,
                None => Disturbed::Unknown,
            }),
        },
        as_published: repeated,
        ours: measured,
        seen: ours.as_ref(),
        published: &published,
        scale,
    };
    let verdict = verdict(quantity, &facts);
    JudgedQuantity {
        id: quantity.id.clone(),
        published,
        verdict,
        as_published,
        undisturbed,
        ours,
        scale,
        evidence: evidence(row),
        ours_evidence: evidence(method),
        trials_stddev: row.and_then(|row| {
            let mut details = row.details.iter();
            let (_, value) = details.find(|(name, _)| name.starts_with(TRIALS_STDDEV))?;
            Some(*value)
        }),
        histogram: row.map_or_else(Vec::new, |row| row.histogram.clone()),
    }
}

/// Noise must not look like a fault of the method: undisturbed results are compared, if there are
/// any.
fn compared<'s>(undisturbed: Option<&'s Seen>, all: Option<&'s Seen>) -> Option<&'s View> {
    let figure = |seen: Option<&'s Seen>| seen.and_then(Seen::figure);
    figure(undisturbed).or_else(|| figure(all))
}

impl JudgedQuantity {
    /// The figure of the published procedure that is compared with all others: of undisturbed
    /// results, if there are any.
    pub fn compared(&self) -> Option<&View> {
        compared(self.undisturbed.as_ref(), self.as_published.as_ref())
    }

    /// syscost's figure.
    pub fn by_method(&self) -> Option<&View> {
        self.ours.as_ref()?.figure()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{row, run};
    use crate::measurement::Cause;
    use crate::measurement::Disturbance;
    use crate::study::Kind;
    use crate::{Fact, Status, Unit, Verdict};

    const STUDY: &str = r#"
id = "mine"
title = "Mine"
source = "A note"
about = "What I measured."
cycles = "tsc"

[[machine]]
id = "old"
name = "An old machine"

[[quantity]]
id = "getpid"
title = "getpid()"
table = "System calls"
unit = "ns"
procedure = "One at a time."
as_published = "study.mine.getpid"
ours = "syscall.null"
published = [{ machine = "old", value = "90.0", place = "page 1" }]

[[quantity.claim]]
counted = "getpid system calls per operation"
at_least = 1.0
broken = "No system call happened."

[[quantity]]
id = "switch"
title = "Switch"
table = "Switches"
unit = "ns"
procedure = "Nobody says how."
ours = "switch.pipe"
published = [{ machine = "old", value = "1.80 us", place = "page 1" }]

[[ratio]]
title = "switch : system call"
of = "switch"
to = "getpid"
words = "twenty times"
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
    fn four_views_and_a_verdict() {
        let rows = vec![
            published_row(),
            row("syscall.null", vec![vec![100.0; 2]; 6]),
        ];
        let judged = &judge(&study(), &run("r", rows)).judged[0];
        let all = judged.as_published.as_ref().and_then(Seen::figure);
        let all = all.expect("it was run");
        let ends = (all.value, all.low, all.high);
        assert_eq!(ends, (21.0, Some(12.0), Some(30.0)));
        assert_eq!(all.cycles, Some(21.0 * 2.5), "ticks of the counter");
        assert_eq!(judged.compared().expect("undisturbed").value, 12.0);
        assert_eq!(judged.verdict.kind, Kind::Differs);
        assert_eq!(
            judged.verdict.text,
            "Not counted here: getpid system calls per operation. The same procedure gives 12.0 ns \
             here: 7.50 times as fast as old. syscost's method gives 100 ns, 8.33 times as much; \
             why is not known."
        );
    }

    #[test]
    fn without_an_undisturbed_result_the_verdict_says_so_first() {
        let mut disturbed = published_row();
        for round in disturbed.samples.iter_mut().flatten() {
            let cause = Cause::SharedCore;
            round.disturbed.push(Disturbance { sample: 0, cause });
        }
        let judged = &judge(&study(), &run("r", vec![disturbed])).judged[0];
        assert!(
            judged
                .verdict
                .text
                .starts_with("A neighbour disturbed every result")
        );
        assert_eq!(judged.compared().expect("all of them").value, 21.0);
    }

    #[test]
    fn what_is_not_repeated_is_still_compared_with_the_text_and_makes_ratios() {
        let rows = vec![
            published_row(),
            row("switch.pipe", vec![vec![3600.0; 2]; 6]),
            row("syscall.null", vec![vec![90.0; 2]; 6]),
        ];
        let judged = judge(&study(), &run("r", rows));
        assert_eq!(
            judged.judged[1].verdict.text,
            "syscost's method gives 3.60 µs here: 2 times as slow as old. The published procedure \
             is not repeated here."
        );
        let ratio = &judged.judged_ratios[0];
        assert_eq!(ratio.published, [("old".to_owned(), 20.0)]);
        assert_eq!((ratio.as_published, ratio.by_method), (None, Some(40.0)));
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
        let missing = "No figure of syscost's method: not part of this run.";
        assert!(verdict.text.ends_with(missing), "{}", verdict.text);
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
