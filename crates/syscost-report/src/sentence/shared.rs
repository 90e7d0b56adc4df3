//! How much of the time cores were ours, and which samples therefore count.

use syscost_results::estimate::{FAST_STATE, SLOW_STATE, SLOW_STATE_PERCENT, suffix};
use syscost_results::run::Noise;
use syscost_results::{Estimate, Flag, Measurement, Run, Unit};

use crate::units::quantity;

/// The share of the time in which the cores of these CPUs were not shared: `core ours 62 % of the
/// time (CPU 1), 12 % (CPU 0)`; `None` if none is known.
pub fn core_ours<'a>(noise: impl IntoIterator<Item = &'a Noise>) -> Option<String> {
    // While measuring or, if that is unknown, according to the probe before.
    let shares = by_cpu(noise, " of the time", |noise| {
        noise.measured_alone_percent.or(noise.alone_percent)
    })?;
    Some(format!("core ours {shares}"))
}

/// The least and the most of the time for which the cores that measured were ours, in whole percent;
/// `None` if none is known.
pub(crate) fn ends_of_ours(run: &Run) -> Option<(f64, f64)> {
    let used = run.noise.iter().filter(|noise| noise.used);
    let shares = used.filter_map(|noise| noise.measured_alone_percent.or(noise.alone_percent));
    let shares: Vec<f64> = shares.map(f64::round).collect();
    let low = shares.iter().copied().reduce(f64::min)?;
    Some((low, shares.into_iter().fold(low, f64::max)))
}

/// How much SMT siblings slow the cores of these CPUs: `independent instructions take 43 % longer
/// while shared (CPU 1), 20 % (CPU 0)`; `None` if none was shared.
pub fn slower_while_shared<'a>(noise: impl IntoIterator<Item = &'a Noise>) -> Option<String> {
    let shares = by_cpu(noise, " longer while shared", |noise| {
        noise.seen_slowdown_percent()
    })?;
    Some(format!("independent instructions take {shares}"))
}

/// A share for each CPU that has one; the first is followed by what it is a share of.
fn by_cpu<'a>(
    noise: impl IntoIterator<Item = &'a Noise>,
    meaning: &str,
    percent: fn(&Noise) -> Option<f64>,
) -> Option<String> {
    let known = noise
        .into_iter()
        .filter_map(|noise| Some((noise.cpu, percent(noise)?)));
    let parts: Vec<String> = known
        .enumerate()
        .map(|(index, (cpu, percent))| {
            let meaning = if index == 0 { meaning } else { "" };
            format!("{}{meaning} (CPU {cpu})", share(percent))
        })
        .collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// How many of a row's samples are undisturbed, and the operation's cost on a shared core:
/// `undisturbed 34 % of samples; 109 ns while the core is shared (+18 %)`. `None` if sharing was
/// not observed.
pub fn undisturbed(row: &Measurement) -> Option<String> {
    let estimate = row.shown().estimate;
    let mut text = format!(
        "undisturbed {} of samples",
        share(estimate.undisturbed_percent?)
    );
    let Some(shared) = estimate.shared_median else {
        return Some(text);
    };
    text += &format!("; {} while the core is shared", quantity(row.unit, shared));
    // A median over all samples includes some from a shared core.
    let is_of_own_core = !row.flags.contains(&Flag::Disturbed);
    if let Some(median) = estimate
        .median
        .filter(|median| is_of_own_core && *median > 0.0)
    {
        text += &format!(" ({:+.0} %)", 100.0 * (shared / median - 1.0));
    }
    Some(text)
}

/// The two states of a row's single operations: `two states: 45.2 µs, and 85.1 µs in 39 % of single
/// operations`. `None` if they have one.
pub fn states(row: &Measurement) -> Option<String> {
    let details = row.shown().details;
    let detail = |name: &str| details.get(name).copied();
    let of = |name: &str| {
        let value = detail(&format!("{name}_{}", suffix(row.unit)))?;
        Some(quantity(row.unit, value))
    };
    Some(format!(
        "two states: {}, and {} in {} of single operations",
        of(FAST_STATE)?,
        of(SLOW_STATE)?,
        share(detail(SLOW_STATE_PERCENT)?)
    ))
}

/// The numbers of a row with this unit that have no column: their names and values.
pub(crate) fn without_column(unit: Unit, estimate: &Estimate) -> Vec<(&'static str, String)> {
    let raw = estimate
        .raw_median
        .filter(|_| estimate.raw_median != estimate.median);
    let known = [
        ("99th percentile", estimate.p99),
        ("before overhead was taken off", raw),
        ("spread of processes (MAD)", estimate.mad),
    ];
    let known = known
        .into_iter()
        .filter_map(|(name, value)| Some((name, quantity(unit, value?))));
    let coverage = estimate.coverage;
    let coverage = coverage.map(|share| ("interval covers", format!("{:.1} %", 100.0 * share)));
    known.chain(coverage).collect()
}

/// The number of samples and processes, and how many of the processes count: `52 samples from 6
/// processes, 4 of which count`.
pub fn samples(row: &Measurement) -> String {
    let Estimate {
        samples, rounds, ..
    } = row.estimate;
    let number = |count: u64, one: &str, many: &str| match count {
        1 => format!("1 {one}"),
        _ => format!("{count} {many}"),
    };
    let taken = row.samples.iter().flatten();
    let taken = taken.filter(|round| !round.values.is_empty()).count() as u64;
    let counting = u64::from(rounds);
    let samples = number(samples, "sample", "samples");
    match taken > counting {
        true => format!(
            "{samples} from {taken} processes, {counting} of which {}",
            if counting == 1 { "counts" } else { "count" }
        ),
        false => format!(
            "{samples} from {}",
            number(counting, "process", "processes")
        ),
    }
}

/// A share in percent, with one decimal only between 0.05 and 9.95.
pub fn share(percent: f64) -> String {
    match percent {
        0.05..9.95 => format!("{percent:.1} %"),
        _ => format!("{percent:.0} %"),
    }
}
