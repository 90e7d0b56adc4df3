//! What a machine is held against.

use syscost_results::compare::{Change, Comparison, FALSE_DISCOVERIES, Row, compare};
use syscost_results::document::{Digest, DigestRow};
use syscost_results::{Better, Flag, Machine, Run, Status, Unit};
use syscost_stats::multiple::benjamini_hochberg;

use super::{Doubt, Finding, Findings, Judged, Quota};
use crate::baseline::{Baseline, CohortBaseline};
use crate::deviation::Deviation;

/// What the frequency at which the cores ran is called among the rows. Those of two runs are
/// compared as if they had run at one frequency, so that a slow clock is found once, and not in
/// every row.
pub(super) const FREQUENCY: &str = "core frequency";

/// What a machine is held against.
#[derive(Debug)]
pub enum Reference {
    /// A run of the machine itself, or of one like it.
    Run(Box<Run>),
    /// What machines like it cost.
    Cohort(Box<CohortBaseline>),
}

impl Reference {
    /// This run, as far as this machine can be held against it.
    pub fn run(base: Run, machine: &Machine) -> Result<Self, String> {
        let (its, this) = (&base.machine.cpu_model, &machine.cpu_model);
        match its == this {
            true => Ok(Reference::Run(Box::new(base))),
            false => Err(format!("the baseline is of a {its}, and this is a {this}")),
        }
    }

    /// What a baseline says of machines like this one.
    pub fn cohort(baseline: &Baseline, machine: &Machine) -> Result<Self, String> {
        let this = Run {
            machine: machine.clone(),
            ..Run::default()
        };
        let cohort = baseline.cohort_of(&Digest::from(&this)).cloned();
        let cohort = cohort.map(|cohort| Reference::Cohort(Box::new(cohort)));
        cohort.ok_or_else(|| {
            let told = crate::facts::of(&Digest::from(&this));
            let mut facts = baseline.cohorts.iter().flat_map(|cohort| &cohort.facts);
            let unknown = facts.find(|(name, value)| value.is_some() && !told.contains_key(*name));
            if let Some((name, _)) = unknown {
                return format!(
                    "the baseline tells machines apart by {name}, which a check does not know; make it with other --cohort facts"
                );
            }
            let models = baseline.cohorts.iter().flat_map(|cohort| {
                let model = cohort.facts.get("cpu_model").cloned();
                model.flatten()
            });
            let models: Vec<String> = models.collect();
            format!(
                "the baseline knows no machines like this {} (but of {})",
                machine.cpu_model,
                models.join(", ")
            )
        })
    }

    /// Whether it has a number of this row.
    pub fn has(&self, name: &str) -> bool {
        match self {
            Reference::Run(base) => {
                let mut rows = base.measurements.iter();
                rows.any(|row| row.name == name && row.status == Status::Ok)
            }
            Reference::Cohort(cohort) => cohort.rows.iter().any(|row| row.name == name),
        }
    }

    /// This machine's quota of CPUs, if it has one, and how many there should be: as many as the
    /// baseline's quota allowed, or all that this process may use.
    pub fn quota(&self, machine: &Machine) -> Option<Quota> {
        let quota = match self {
            Reference::Run(base) => base.machine.cgroup_cpu_quota.what().copied(),
            Reference::Cohort(cohort) => {
                let quota = cohort.facts.get("cgroup_cpu_quota");
                quota.and_then(|quota| quota.as_ref()?.parse().ok())
            }
        };
        let all = f64::from(machine.cpus_allowed);
        Some(Quota {
            cpus: *machine.cgroup_cpu_quota.what()?,
            expected: quota.map_or(all, |quota| all.min(quota)),
        })
    }

    /// What was found of each of these rows, and of the frequency.
    pub fn judge(&self, run: &Run, rows: &[String], margin: f64) -> Findings {
        match self {
            Reference::Run(base) => against_run(base, run, rows, margin),
            Reference::Cohort(cohort) => against_cohort(cohort, run, rows, margin),
        }
    }
}

/// As [`Reference::judge`], by the comparison of two runs.
fn against_run(base: &Run, run: &Run, rows: &[String], margin: f64) -> Findings {
    let comparison = compare(&[base], &[run], &[]);
    let rows = rows
        .iter()
        .map(|name| (name.clone(), of_row(&comparison, run, name, margin)));
    let frequency = frequency(base, run).map(|judged| judged.finding(margin, true));
    let frequency = frequency.map(|finding| (FREQUENCY.to_owned(), finding));
    rows.chain(frequency).collect()
}

/// As [`Reference::judge`], by the test that finds outliers among many machines.
fn against_cohort(cohort: &CohortBaseline, run: &Run, rows: &[String], margin: f64) -> Findings {
    let measured = |name: &String| run.measurements.iter().find(|row| row.name == *name);
    let measured: Vec<Option<DigestRow>> = rows
        .iter()
        .map(|name| measured(name).map(DigestRow::from))
        .collect();
    let deviations: Vec<Option<Deviation>> = measured
        .iter()
        .map(|row| cohort.deviation(row.as_ref()?))
        .collect();
    let p_values: Vec<f64> = deviations
        .iter()
        .map(|deviation| deviation.map_or(1.0, |deviation| deviation.p_value))
        .collect();
    let shown = benjamini_hochberg(&p_values, FALSE_DISCOVERIES);
    let findings = measured.iter().zip(deviations).zip(shown);
    let findings = findings.map(|((row, deviation), is_shown)| {
        let (Some(row), Some(deviation)) = (row, deviation) else {
            return Finding::Unsure(row.as_ref().map_or(Doubt::NoNumber, doubt));
        };
        let expected = cohort.row(row).map_or(f64::NAN, |known| known.median);
        let [ratio, low, high] = deviation.shares().map(|share| 1.0 + share);
        let judged = Judged {
            name: row.name.clone(),
            unit: row.unit,
            better: row.better,
            expected,
            found: ratio * expected,
            ratio,
            ci95: [low, high],
        };
        judged.finding(margin, is_shown)
    });
    rows.iter().cloned().zip(findings).collect()
}

/// Why a row without a deviation has none.
fn doubt(row: &DigestRow) -> Doubt {
    match row.status == Status::Ok {
        true if row.flags.contains(&Flag::TooFewRounds) => Doubt::FewRounds,
        true if row.flags.contains(&Flag::Disturbed) => Doubt::Shared,
        true => Doubt::Wide,
        false => Doubt::NoNumber,
    }
}

/// What the comparison says of a row.
fn of_row(comparison: &Comparison, run: &Run, name: &str, margin: f64) -> Finding {
    let Some(row) = comparison.rows.iter().find(|row| row.name == name) else {
        let missing = comparison.missing.iter().find(|row| row.name == name);
        return Finding::Unsure(match missing {
            Some(row) if row.to_noise => Doubt::Shared,
            Some(_) | None => Doubt::NoNumber,
        });
    };
    let Some(judged) = judged(row) else {
        let few = run.config.min_rounds;
        let mut measured = run.measurements.iter();
        let is_short = measured.any(|row| row.name == name && row.estimate.rounds < few);
        return Finding::Unsure(match (is_short, row.disturbed) {
            (true, _) => Doubt::FewRounds,
            (false, true) => Doubt::Shared,
            (false, false) => Doubt::Wide,
        });
    };
    let is_shown = matches!(row.verdict, Change::Worse | Change::Better);
    match judged.finding(margin, is_shown) {
        // Interference makes it worse, never better.
        Finding::Worse(_) | Finding::Unsure(_) if row.disturbed => Finding::Unsure(Doubt::Shared),
        finding => finding,
    }
}

/// The row as it is judged; `None` without an interval.
fn judged(row: &Row) -> Option<Judged> {
    Some(Judged {
        name: row.name.clone(),
        unit: row.unit,
        better: row.better,
        expected: row.base,
        found: row.new,
        ratio: row.ratio,
        ci95: [row.ci95_low?, row.ci95_high?],
    })
}

/// The frequency as it is judged, by the range of it in which nine of ten samples were taken.
fn frequency(base: &Run, run: &Run) -> Option<Judged> {
    let (base, new) = (base.frequency?, run.frequency?);
    let middle = [base, new].map(|one| f64::midpoint(one.low_ghz, one.high_ghz));
    Some(Judged {
        name: FREQUENCY.to_owned(),
        unit: Unit::Gigahertz,
        better: Better::Higher,
        expected: middle[0],
        found: middle[1],
        ratio: middle[1] / middle[0],
        ci95: [new.low_ghz / base.high_ghz, new.high_ghz / base.low_ghz],
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use syscost_results::run::Frequency;
    use syscost_results::{Bound, Estimate, Evidence, Known, Measurement, RoundSamples};

    use super::*;
    use crate::baseline::{ExpectedRow, VERSION};

    /// A row of six processes around this level, in ns.
    fn row(name: &str, level: f64) -> Measurement {
        let at = |round: u32| level * (1.0 + 0.001 * f64::from(round));
        let evidence = Evidence::judged("one call", Bound::Exactly(1.0), 1.0, "audit");
        Measurement {
            name: name.to_owned(),
            id: name.to_owned(),
            revision: 1,
            unit: Unit::Nanoseconds,
            status: Status::Ok,
            evidence: vec![evidence],
            estimate: Estimate {
                median: Some(at(2)),
                ci95_low: Some(at(0)),
                ci95_high: Some(at(5)),
                rounds: 6,
                ..Estimate::default()
            },
            samples: Some(
                (0..6)
                    .map(|round| RoundSamples {
                        round,
                        values: vec![at(round); 5],
                        ..RoundSamples::default()
                    })
                    .collect(),
            ),
            ..Measurement::default()
        }
    }

    /// A run of these rows.
    fn run(rows: &[(&str, f64)]) -> Run {
        let mut run = Run {
            measurements: rows.iter().map(|(name, level)| row(name, *level)).collect(),
            ..Run::default()
        };
        run.machine.cpu_model = "Z80".to_owned();
        run.config.min_rounds = 6;
        run
    }

    fn against(base: Run) -> Reference {
        let machine = base.machine.clone();
        Reference::run(base, &machine).expect("the same machine")
    }

    /// What is found of `x`, with `y` and `z` beside it.
    fn of_x(reference: &Reference, run: &Run) -> Finding {
        let names = ["x", "y", "z"].map(str::to_owned);
        let mut findings = reference.judge(run, &names, 0.1);
        findings.remove(0).1
    }

    #[test]
    fn a_slower_row_is_worse_than_the_run_and_others_are_not() {
        let reference = against(run(&[("x", 50.0), ("y", 50.0), ("z", 9.0)]));
        let names = ["x", "y", "z"].map(str::to_owned);
        let now = run(&[("x", 75.0), ("y", 50.5), ("z", 6.0)]);
        let findings = reference.judge(&now, &names, 0.1);
        let [
            (_, Finding::Worse(x)),
            (_, Finding::Within),
            (_, Finding::Better(z)),
        ] = &findings[..]
        else {
            panic!("{findings:?}");
        };
        assert!((x.ratio - 1.5).abs() < 0.01 && x.ci95[0] > 1.45, "{x:?}");
        assert!((z.ratio - 0.667).abs() < 0.01, "{z:?}");
    }

    #[test]
    fn what_others_may_have_caused_is_not_held_against_the_machine() {
        let reference = against(run(&[("x", 50.0), ("y", 50.0), ("z", 9.0)]));
        let with = |change: fn(&mut Measurement)| {
            let mut now = run(&[("x", 75.0), ("y", 50.0), ("z", 9.0)]);
            change(&mut now.measurements[0]);
            of_x(&reference, &now)
        };
        let shared = with(|x| x.flags.push(Flag::Disturbed));
        assert_eq!(shared, Finding::Unsure(Doubt::Shared));
        let short = with(|x| {
            x.estimate.rounds = 2;
            x.samples = x.samples.take().map(|rounds| rounds[..2].to_vec());
        });
        assert_eq!(short, Finding::Unsure(Doubt::FewRounds));
        let failed = with(|x| x.status = Status::Unsupported);
        assert_eq!(failed, Finding::Unsure(Doubt::NoNumber));
    }

    #[test]
    fn a_low_frequency_is_found_by_itself() {
        let at = |low_ghz, high_ghz| {
            let mut run = run(&[("x", 50.0)]);
            run.frequency = Some(Frequency {
                usual_ghz: low_ghz,
                is_of_machine: false,
                low_ghz,
                high_ghz,
            });
            run
        };
        let reference = against(at(3.9, 4.1));
        let frequency = |now: Run| {
            let mut findings = reference.judge(&now, &["x".to_owned()], 0.1);
            let (name, finding) = findings.remove(1);
            assert_eq!(name, FREQUENCY);
            finding
        };
        assert!(matches!(frequency(at(1.9, 2.1)), Finding::Worse(_)));
        assert_eq!(frequency(at(3.8, 4.2)), Finding::Within);
        // It may be the base's lowest.
        assert_eq!(frequency(at(3.4, 4.0)), Finding::Unsure(Doubt::Wide));
    }

    #[test]
    fn machines_of_one_kind_are_what_one_of_them_is_held_against() {
        let expected = |name: &str, median| ExpectedRow {
            name: name.to_owned(),
            revision: 1,
            unit: Unit::Nanoseconds,
            better: Better::Lower,
            median,
            scale: 0.01,
            freedom: 7.0,
            machines: 20,
        };
        let model = Some("Z80".to_owned());
        let baseline = Baseline {
            syscost_baseline: VERSION,
            cohorts: vec![CohortBaseline {
                facts: BTreeMap::from([("cpu_model".to_owned(), model)]),
                machines: 20,
                rows: vec![expected("x", 50.0), expected("y", 50.0)],
            }],
        };
        let now = |x| run(&[("x", x), ("y", 50.0), ("z", 9.0)]);
        let reference = Reference::cohort(&baseline, &now(1.0).machine).expect("of this kind");
        assert!(reference.has("x") && !reference.has("z"));
        let Finding::Worse(x) = of_x(&reference, &now(75.0)) else {
            panic!("it is half as slow again");
        };
        assert!((x.ratio - 1.5).abs() < 0.01 && x.expected == 50.0, "{x:?}");
        assert_eq!(of_x(&reference, &now(50.0)), Finding::Within);
        let mut shared = now(75.0);
        shared.measurements[0].flags.push(Flag::Disturbed);
        let shared = of_x(&reference, &shared);
        assert_eq!(shared, Finding::Unsure(Doubt::Shared));
        let mut stranger = now(1.0).machine;
        stranger.cpu_model = "6502".to_owned();
        let why = Reference::cohort(&baseline, &stranger).expect_err("another kind");
        assert!(why.contains("6502") && why.contains("Z80"), "{why}");
        let why = Reference::run(now(1.0), &stranger).expect_err("another processor");
        assert!(why.contains("6502") && why.contains("Z80"), "{why}");
    }

    #[test]
    fn a_quota_counts_by_what_it_takes_away() {
        let quota = |then: Known<f64>, now: Known<f64>| {
            let mut base = run(&[]);
            base.machine.cgroup_cpu_quota = then;
            let mut machine = base.machine.clone();
            (machine.cgroup_cpu_quota, machine.cpus_allowed) = (now, 4);
            let quota = against(base).quota(&machine);
            quota.map(|quota| (quota.cpus, quota.expected))
        };
        use Known::{No, Unknown, Yes};
        assert_eq!((quota(No, No), quota(Yes(0.5), Unknown)), (None, None));
        assert_eq!(quota(Unknown, Yes(0.5)), Some((0.5, 4.0)));
        assert_eq!(quota(Yes(0.5), Yes(0.5)), Some((0.5, 0.5)));
        assert_eq!(quota(Yes(64.0), Yes(2.0)), Some((2.0, 4.0)));
    }
}
