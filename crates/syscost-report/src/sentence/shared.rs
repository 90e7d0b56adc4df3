//! In how many probes cores were ours, and which samples therefore count.

use syscost_results::estimate::{FAST_STATE, SLOW_STATE, SLOW_STATE_PERCENT, suffix};
use syscost_results::precision::Grade;
use syscost_results::run::Noise;
use syscost_results::{Better, Estimate, LimitBasis, Measurement, Run, Sharing, Status, Unit};
use syscost_stats::order;

use super::words::{agreeing, count};
use crate::units::{interval, quantity, ratio};

/// The share of the probes that found the cores of these CPUs not shared: `core ours in 62 % of
/// probes (CPU 1), 12 % (CPU 0)`; `None` if none is known.
pub fn core_ours<'a>(noise: impl IntoIterator<Item = &'a Noise>) -> Option<String> {
    // While measuring or, if that is unknown, according to the probe before.
    let shares = by_cpu(noise, " of probes", |noise| {
        noise.measured_alone_percent.or(noise.alone_percent)
    })?;
    Some(format!("core ours in {shares}"))
}

/// The least and the most of the probes in which the cores that measured were ours, in whole percent;
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

/// Shares of the rows from which an hour is good, and fair.
const GOOD: f64 = 0.9;
const FAIR: f64 = 0.5;
/// What an hour is called with fewer.
const POOR: &str = "poor hour";

/// What an hour was like to measure in: by the rows that have a price of their own, and it within 10 %.
fn quality(precise: usize, all: usize) -> &'static str {
    match precise as f64 / all as f64 {
        share if share >= GOOD => "good hour",
        share if share >= FAIR => "fair hour",
        _ => POOR,
    }
}

/// Whether a row's interval lies within 10 % of its median.
fn is_precise(row: &Measurement) -> bool {
    Grade::of(&row.estimate).is_some_and(|grade| grade <= Grade::Fair)
}

/// What a run's hour was like: how many rows have their own price, and how many of these a precise one, what company cost, and
/// what is to be doubted of it: `fair hour: 480 of 522 rows on a core of our own, 350 of them within 10 %; beside neighbours
/// operations cost 1.20x to 1.90x`. `None` if cores were not probed.
pub fn hour(run: &Run) -> Option<String> {
    let rows = run.measurements.iter();
    let probed =
        rows.filter(|row| row.status == Status::Ok && row.estimate.undisturbed_percent.is_some());
    let probed: Vec<&Measurement> = probed.collect();
    // Some row has no sample in which nothing was seen to disturb it.
    let is_own =
        |row: &&&Measurement| !row.is_in_company() && row.estimate.undisturbed_percent != Some(0.0);
    let own: Vec<_> = probed.iter().filter(is_own).collect();
    let precise = own.iter().filter(|row| is_precise(row)).count();
    let word = quality(precise, probed.len());
    let (own, all) = (own.len(), probed.len());
    let mut parts = Vec::new();
    if all > 0 {
        parts.push(match (own == all, precise == own) {
            (true, true) => format!("{word}: every row on a core of our own"),
            (true, false) => {
                format!("{word}: every row on a core of our own, {precise} of them within 10 %")
            }
            (false, true) => format!("{word}: {own} of {all} rows on a core of our own"),
            (false, false) => format!(
                "{word}: {own} of {all} rows on a core of our own, {precise} of them within 10 %"
            ),
        });
    }
    let costs = probed.iter().filter_map(|row| {
        let times = times_own(row)?;
        Some(if row.better == Better::Lower {
            times
        } else {
            1.0 / times
        })
    });
    let costs: Vec<f64> = costs.collect();
    // Four of five rows: the others are what a median of few samples makes of them.
    let ends = [0.1, 0.9].map(|share| Some(ratio(order::quantile(&costs, share)?)));
    if let [Some(low), Some(high)] = ends {
        parts.push(match low == high {
            true => format!("beside neighbours operations cost {low}"),
            false => format!("beside neighbours operations cost {low} to {high}"),
        });
    }
    if !probed.is_empty() && word == POOR {
        parts
            .push("again at a quieter hour (syscost doctor --watch), or with --patient".to_owned());
    }
    for noise in run.noise.iter().filter(|noise| noise.used) {
        let cpu = noise.cpu;
        if noise.limit_basis == Some(LimitBasis::Assumed) {
            parts.push(format!(
                "CPU {cpu} showed probes of one kind only: that they are of an own core is assumed"
            ));
        }
        let seen = noise.alone_percent.zip(noise.measured_alone_percent);
        if let Some((before, while_measuring)) = seen.filter(|(a, b)| (a - b).abs() > CONTRADICTION)
        {
            parts.push(format!(
                "CPU {cpu} seemed its own in {} of probes before the run and in {} while measuring: one of them is wrong, \
                 or the hour changed",
                share(before),
                share(while_measuring)
            ));
        }
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Difference of two shares of probes, in percentage points, that contradict each other: they
/// disagree on what the core was for more than half of it.
const CONTRADICTION: f64 = 50.0;

/// How many times a row's own price the one in company is; `None` if either is not known.
pub(crate) fn times_own(row: &Measurement) -> Option<f64> {
    let estimate = row.shown().estimate;
    let own = estimate.median.filter(|_| !row.is_in_company())?;
    let times = estimate.shared_median? / own;
    (times.is_finite() && times > 0.0).then_some(times)
}

/// How many of a row's samples are undisturbed, and the price in company: `undisturbed 34 % of
/// samples; in company 109 ns (108 to 111 ns), 1.18x`. `None` if sharing was not observed.
pub fn undisturbed(row: &Measurement) -> Option<String> {
    let estimate = row.shown().estimate;
    let own = share(estimate.undisturbed_percent?);
    if row.is_in_company() {
        return Some(format!(
            "undisturbed {own} of samples; the price is that in company: an own core was not seen meanwhile"
        ));
    }
    let Some(price) = estimate.shared_median else {
        return Some(format!("undisturbed {own} of samples"));
    };
    let price = quantity(row.unit, price);
    let within = estimate.shared_ci95_low.zip(estimate.shared_ci95_high);
    let within = within.map(|(low, high)| format!(" ({})", interval(row.unit, low, high)));
    let times = times_own(row).map(|times| format!(", {}", ratio(times)));
    let [within, times] = [within, times].map(Option::unwrap_or_default);
    Some(format!(
        "undisturbed {own} of samples; in company {price}{within}{times}"
    ))
}

/// Up to which ratio of the probes a row's samples count as those of an own core, and what says so.
/// `None` in documents that do not keep it.
pub fn own_limit(row: &Measurement) -> Option<String> {
    let Sharing { limit, basis } = row.sharing.filter(|_| row.status.has_figures())?;
    let why = match basis {
        LimitBasis::Gap => "between own and shared cores, both of which were seen",
        LimitBasis::Assumed => "as assumed: probes of one kind only were seen",
        LimitBasis::Effect => "up to which the row's values do not change",
    };
    let limit = ratio(limit);
    Some(format!(
        "samples count as own up to {limit} the ratio of an own core, {why}"
    ))
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
    let taken = row.samples.iter().flatten();
    let taken = taken.filter(|round| !round.values.is_empty()).count();
    let counting = rounds as usize;
    let samples = count(samples as usize, "sample");
    match taken > counting {
        true => {
            let counting = agreeing(counting, "# of which [counts|count]");
            format!("{samples} from {taken} processes, {counting}")
        }
        false => format!("{samples} from {}", count(counting, "process")),
    }
}

/// A share in percent, with one decimal only between 0.05 and 9.95.
pub fn share(percent: f64) -> String {
    match percent {
        0.05..9.95 => format!("{percent:.1} %"),
        _ => format!("{percent:.0} %"),
    }
}
