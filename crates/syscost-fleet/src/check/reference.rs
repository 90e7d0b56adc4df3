//! What a machine is held against.

use syscost_results::compare::{Change, Comparison, FALSE_DISCOVERIES, Row, compare};
use syscost_results::document::{Digest, DigestRow};
use syscost_results::stats::multiple::benjamini_hochberg;
use syscost_results::{Better, Flag, Machine, Run, Status, Unit};

use super::{Doubt, Finding, Findings, Judged, Quota};
use crate::baseline::{Baseline, CohortBaseline};
use crate::deviation::Deviation;

/// What the frequency at which the cores ran is called among the rows. Those of two runs are
/// compared as if they had run at one frequency, so that a slow clock is found once, and not in
/// every row.
const FREQUENCY: &str = "core frequency";

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
    ///
    /// # Errors
    /// Why it cannot.
    pub fn run(base: Run, machine: &Machine) -> Result<Self, String> {
        let (its, this) = (&base.machine.cpu_model, &machine.cpu_model);
        match its == this {
            true => Ok(Reference::Run(Box::new(base))),
            false => Err(format!("the baseline is of a {its}, and this is a {this}")),
        }
    }

    /// What a baseline says of machines like this one.
    ///
    /// # Errors
    /// When it knows none.
    pub fn cohort(baseline: &Baseline, machine: &Machine) -> Result<Self, String> {
        let this = Run {
            machine: machine.clone(),
            ..Run::default()
        };
        let cohort = baseline.cohort_of(&Digest::from(&this)).cloned();
        let cohort = cohort.map(|cohort| Reference::Cohort(Box::new(cohort)));
        cohort.ok_or_else(|| {
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
            Reference::Run(base) => base.machine.cgroup_cpu_quota,
            Reference::Cohort(cohort) => {
                let quota = cohort.facts.get("cgroup_cpu_quota");
                quota.and_then(|quota| quota.as_ref()?.parse().ok())
            }
        };
        let all = f64::from(machine.cpus_allowed);
        Some(Quota {
            cpus: machine.cgroup_cpu_quota?,
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
