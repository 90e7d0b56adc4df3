//! What a machine is held against.

use syscost_results::compare::{Change, Comparison, Row, compare};
use syscost_results::{Better, Machine, Run, Status, Unit};

use super::{Doubt, Finding, Findings, Judged};

/// What the frequency at which the cores ran is called among the rows. These are compared as if
/// they had run at one frequency, so that a slow clock is found once, and not in every row.
const FREQUENCY: &str = "core frequency";

/// What a machine is held against.
#[derive(Debug)]
pub enum Reference {
    /// A run of the machine itself, or of one like it.
    Run(Box<Run>),
}

impl Reference {
    /// Whether it has a number of this row.
    pub fn has(&self, name: &str) -> bool {
        let Reference::Run(base) = self;
        let mut rows = base.measurements.iter();
        rows.any(|row| row.name == name && row.status == Status::Ok)
    }

    /// Why this machine cannot be held against it; `None` if it can.
    pub fn stranger(&self, machine: &Machine) -> Option<String> {
        let Reference::Run(base) = self;
        let (its, this) = (&base.machine.cpu_model, &machine.cpu_model);
        (its != this).then(|| format!("the baseline is of a {its}, and this is a {this}"))
    }

    /// How many CPUs its control group allowed; `None` if all.
    pub fn quota(&self) -> Option<f64> {
        let Reference::Run(base) = self;
        base.machine.cgroup_cpu_quota
    }

    /// What was found of each of these rows, and of the frequency.
    pub fn judge(&self, run: &Run, rows: &[String], margin: f64) -> Findings {
        let Reference::Run(base) = self;
        let comparison = compare(&[base], &[run], &[]);
        let rows = rows
            .iter()
            .map(|name| (name.clone(), of_row(&comparison, run, name, margin)));
        let frequency = frequency(base, run).map(|judged| judged.finding(margin, true));
        let frequency = frequency.map(|finding| (FREQUENCY.to_owned(), finding));
        rows.chain(frequency).collect()
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
