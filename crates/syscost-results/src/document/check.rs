//! What a document's numbers must not say.

use std::collections::{BTreeMap, BTreeSet};

use super::{DocumentError, ErrorPlace, TAKE_ANOTHER_COPY};
use crate::estimate::retraced::Retraced;
use crate::measurement::{Estimate, Evidence, Measurement, Status, Unit, Verdict};
use crate::run::{Noise, Run};
use crate::{row_name, run};

/// Maximum relative difference between a figure and the same computed again: rounding errors, and
/// some documents were rounded to seven digits.
const ROUNDING: f64 = 1e-6;

/// Without samples, cycles are only compared with the time at the run's frequencies. The core's
/// frequency at a single row is up to this factor from them.
const OTHER_FREQUENCY: f64 = 2.0;

/// Checks what the types cannot express: that shares are shares, names unique, numbers in order;
/// and that no row contradicts itself: whoever printed its number would print what the document
/// itself shows to be false.
///
/// # Errors
/// The first field that cannot be, with its row and what does not fit.
pub(super) fn check(run: &Run) -> Result<(), DocumentError> {
    check_noise(&run.noise)?;
    check_run(run)?;
    if !is_time(&run.started) {
        let place = ErrorPlace::Field {
            path: "started".to_owned(),
            at: None,
        };
        let problem = format!("`{}` is no time of day in UTC (RFC 3339)", run.started);
        return Err(DocumentError::new(place, problem, TAKE_ANOTHER_COPY));
    }
    let mut names = BTreeSet::new();
    for (index, row) in run.measurements.iter().enumerate() {
        let wrong = |(field, problem): (String, String)| {
            let path = format!("measurements[{index}].{field}");
            let problem = format!("`{}`: {problem}", row.name);
            DocumentError::new(
                ErrorPlace::Field { path, at: None },
                problem,
                TAKE_ANOTHER_COPY,
            )
        };
        if !names.insert(&*row.name) {
            return Err(wrong(("name".to_owned(), "occurs twice".to_owned())));
        }
        check_row(row, run).map_err(wrong)?;
    }
    Ok(())
}

impl Run {
    /// Withholds the numbers of rows that contradict themselves, as no reader would take the document
    /// otherwise: what wrote them is wrong.
    pub fn withhold_contradictions(&mut self) {
        for index in 0..self.measurements.len() {
            let Err((field, problem)) = check_row(&self.measurements[index], self) else {
                continue;
            };
            let row = &mut self.measurements[index];
            row.status = Status::Withheld;
            row.reason = Some(format!("its own `{field}` contradicts it: {problem}"));
            row.drop_figures();
        }
    }
}

/// Whether this is a time that every reader can have: `2026-11-21T08:00:00.5Z`.
fn is_time(text: &str) -> bool {
    let number = |from: usize, to: usize| {
        let digits = text.get(from..to).unwrap_or_default();
        let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit());
        digits.parse::<u32>().ok().filter(|_| is_plain)
    };
    let is_in = |range: std::ops::RangeInclusive<u32>, from: usize| {
        let to = if from == 0 { 4 } else { from + 2 };
        number(from, to).is_some_and(|number| range.contains(&number))
    };
    let marks = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    let has_marks = marks
        .iter()
        .all(|(place, mark)| text.as_bytes().get(*place) == Some(mark));
    let parts = [
        (0, 1970..=9998),
        (5, 1..=12),
        (8, 1..=31),
        (11, 0..=23),
        (14, 0..=59),
        (17, 0..=60),
    ];
    let fraction = text.get(19..).and_then(|rest| rest.strip_suffix('Z'));
    let is_fraction = |rest: &str| {
        let digits = rest
            .strip_prefix('.')
            .unwrap_or(if rest.is_empty() { "0" } else { "" });
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    has_marks
        && parts.into_iter().all(|(from, range)| is_in(range, from))
        && fraction.is_some_and(is_fraction)
}

/// Checks one row; the error is a field of it and what is wrong there.
fn check_row(row: &Measurement, run: &Run) -> Result<(), (String, String)> {
    let at = |field: &str| {
        let field = field.to_owned();
        |problem| (field, problem)
    };
    check_name(row).map_err(at("name"))?;
    check_order(&row.estimate).map_err(at("estimate"))?;
    for (number, round) in row.samples.iter().flatten().enumerate() {
        if round.values.iter().any(|value| !value.is_finite()) {
            let field = format!("samples[{number}].values");
            return Err((field, "a sample is no finite number".to_owned()));
        }
    }
    for (number, claim) in row.evidence.iter().enumerate() {
        check_claim(row.status, claim).map_err(at(&format!("evidence[{number}]")))?;
    }
    let retraced = Retraced::of(row);
    if let Some(found) = retraced {
        check_figures(&row.estimate, found).map_err(at("estimate"))?;
    }
    check_cycles(row, retraced, run).map_err(at("core_cycles"))
}

/// Checks that the name is the benchmark's with the case's parameters.
fn check_name(row: &Measurement) -> Result<(), String> {
    if row.id.is_empty() || row_name::id(&row.name) != row.id {
        return Err(format!("it is no row of its benchmark, `{}`", row.id));
    }
    let named: BTreeMap<&str, &str> = row_name::parameters(&row.name).collect();
    let case = row.case.iter();
    let case: BTreeMap<&str, &str> = case.map(|(name, value)| (&**name, &**value)).collect();
    if named == case {
        return Ok(());
    }
    let case: Vec<String> = case
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    Err(format!("its case is another one: {{{}}}", case.join(",")))
}

/// Checks that the verdict on a claim follows from what was expected and observed, and the status
/// from the verdict.
fn check_claim(status: Status, claim: &Evidence) -> Result<(), String> {
    if claim.verdict == Verdict::Refuted && status.has_figures() {
        return Err(format!("has a number that this evidence refutes: {claim}"));
    }
    match claim.contradicts_itself() {
        true => Err(format!("marked confirmed: {claim}")),
        false => Ok(()),
    }
}

/// Whether two figures are equal but for rounding errors.
fn are_equal(one: f64, other: f64) -> bool {
    (one - other).abs() <= ROUNDING * one.abs().max(other.abs())
}

/// Checks that median and interval are those of the samples.
fn check_figures(estimate: &Estimate, found: Retraced) -> Result<(), String> {
    let Some(median) = estimate.median else {
        return Ok(());
    };
    let found = match found {
        Retraced::Exactly(found) => found,
        Retraced::Between(low, high) => {
            return match low <= median && median <= high {
                true => Ok(()),
                false => Err(format!(
                    "its median is {median:?}, its samples lie from {low:?} to {high:?}"
                )),
            };
        }
    };
    if !found.medians.iter().any(|one| are_equal(*one, median)) {
        let [middle, _] = found.medians;
        return Err(format!(
            "its median is {median:?}, that of its samples {middle:?}"
        ));
    }
    let published = estimate.ci95_low.zip(estimate.ci95_high);
    let Some(((low, high), own)) = published.zip(found.interval) else {
        return Ok(());
    };
    let is_wide_enough = |beyond: f64, end: f64| beyond >= 0.0 || are_equal(end + beyond, end);
    if is_wide_enough(own.0 - low, low) && is_wide_enough(high - own.1, high) {
        return Ok(());
    }
    Err(format!(
        "its interval is {low:?} to {high:?}, narrower than its samples allow: {:?} to {:?}",
        own.0, own.1
    ))
}

/// Checks that core cycles are those of the samples or, without samples, the time at a frequency of
/// the run's cores.
fn check_cycles(row: &Measurement, found: Option<Retraced>, run: &Run) -> Result<(), String> {
    let (Some(cycles), Some(median)) = (row.core_cycles, row.estimate.median) else {
        return Ok(());
    };
    if row.unit != Unit::Nanoseconds {
        return Err("a row in another unit than ns has no core cycles".to_owned());
    }
    let of_samples = match found {
        Some(Retraced::Exactly(figures)) => figures.core_cycles,
        Some(Retraced::Between(..)) | None => None,
    };
    if let Some(of_samples) = of_samples {
        return match are_equal(cycles, of_samples) {
            true => Ok(()),
            false => Err(format!(
                "they are {cycles:?}, those of its samples {of_samples:?}"
            )),
        };
    }
    let run::Frequency {
        low_ghz, high_ghz, ..
    } = match (run.frequency, run.core_ghz) {
        (Some(known), _) => known,
        (None, Some(ghz)) => run::Frequency {
            usual_ghz: ghz,
            is_of_machine: false,
            low_ghz: ghz,
            high_ghz: ghz,
        },
        (None, None) => return Ok(()),
    };
    let ghz = cycles / median;
    if (low_ghz / OTHER_FREQUENCY..=high_ghz * OTHER_FREQUENCY).contains(&ghz) {
        return Ok(());
    }
    Err(format!(
        "{cycles:?} in {median:?} ns are {:?} GHz, and the cores ran at {:?} to {:?} GHz",
        thousandth(ghz),
        thousandth(low_ghz),
        thousandth(high_ghz)
    ))
}

/// With three digits after the point; however large, its debug form is short.
fn thousandth(number: f64) -> f64 {
    match number.abs() < 1e12 {
        true => (1e3 * number).round() / 1e3,
        false => number,
    }
}

/// Checks that shares of a whole are shares of a whole.
pub(super) fn check_noise(noise: &[Noise]) -> Result<(), DocumentError> {
    for (index, cpu) in noise.iter().enumerate() {
        for (field, percent) in [
            ("lost_percent", Some(cpu.lost_percent)),
            ("alone_percent", cpu.alone_percent),
            ("measured_alone_percent", cpu.measured_alone_percent),
        ] {
            if percent.is_some_and(|percent| !(0.0..=100.0).contains(&percent)) {
                let path = format!("noise[{index}].{field}");
                return Err(DocumentError::new(
                    ErrorPlace::Field { path, at: None },
                    "a share in percent is from 0 to 100",
                    TAKE_ANOTHER_COPY,
                ));
            }
        }
    }
    Ok(())
}

/// Maximum size of a machine's facts as JSON, in bytes: real ones have 2 to 20 KiB.
const MAX_FACTS: usize = 256 << 10;

/// Checks that times and frequencies can be some, and that facts have the length of facts: exports repeat them for
/// each row.
fn check_run(run: &Run) -> Result<(), DocumentError> {
    let wrong = |path: &str, problem: String| {
        let path = path.to_owned();
        let place = ErrorPlace::Field { path, at: None };
        Err(DocumentError::new(place, problem, TAKE_ANOTHER_COPY))
    };
    if !(0.0..1e9).contains(&run.duration_s) {
        return wrong("duration_s", format!("no run takes {} s", run.duration_s));
    }
    let usual = run
        .frequency
        .iter()
        .flat_map(|one| [one.usual_ghz, one.low_ghz, one.high_ghz]);
    let usual = usual.map(|ghz| ("frequency", ghz));
    for (field, ghz) in run
        .core_ghz
        .map(|ghz| ("core_ghz", ghz))
        .into_iter()
        .chain(usual)
    {
        if !(1e-3..1e3).contains(&ghz) {
            return wrong(field, format!("no core runs at {ghz:?} GHz"));
        }
    }
    let far = run
        .peer
        .as_ref()
        .map(|peer| ("peer.machine", &peer.machine));
    for (field, machine) in [("machine", &run.machine)].into_iter().chain(far) {
        let size = serde_json::to_vec(machine).map_or(0, |json| json.len());
        if size > MAX_FACTS {
            return wrong(
                field,
                format!("{size} bytes, more than any machine's facts have"),
            );
        }
    }
    Ok(())
}

/// Checks that figures are finite and in order.
pub(super) fn check_order(estimate: &Estimate) -> Result<(), String> {
    let Estimate {
        median,
        ci95_low,
        ci95_high,
        min,
        best,
        mad,
        p99,
        raw_median,
        ..
    } = *estimate;
    let all = [median, ci95_low, ci95_high, min, best, mad, p99, raw_median];
    if all.iter().flatten().any(|value| !value.is_finite()) {
        return Err("a number is not finite".to_owned());
    }
    let share = estimate.undisturbed_percent;
    if share.is_some_and(|percent| !(0.0..=100.0).contains(&percent)) {
        return Err("a share in percent is from 0 to 100".to_owned());
    }
    let ordered = |low: Option<f64>, high: Option<f64>| !matches!((low, high), (Some(low), Some(high)) if low > high);
    if !ordered(ci95_low, ci95_high) || !ordered(ci95_low, median) || !ordered(median, ci95_high) {
        return Err("the median is not within its interval".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::is_time;

    #[test]
    fn a_time_is_one_that_every_reader_can_have() {
        for time in [
            "2026-11-21T08:00:00Z",
            "1970-01-01T00:00:00.123456Z",
            "9998-12-31T23:59:60Z",
        ] {
            assert!(is_time(time), "{time}");
        }
        for other in [
            "",
            "yesterday",
            "9999-12-31T23:59:59Z",
            "-009999-01-01T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-11-21T08:00:00",
            "2026-11-21T08:00:00.Z",
            "2026-11-21 08:00:00Z",
            "2026-11-21T08:00:00+01:00",
            "+026-11-21T08:00:00Z",
        ] {
            assert!(!is_time(other), "{other}");
        }
    }
}
