//! The ratio of one row: its interval, its margin, and the chance that nothing changed.

use super::drift;
use super::frequency::{self, AtOne};
use super::level::{BetweenRuns, Difference, Level, MIN_EXACT};
use super::notes::{notes, of_frequency, of_share};
use super::paired;
use super::pool::{Pooled, p99};
use super::{Change, ComparedIn, How, MIN_MARGIN, MIN_PAIRED_MARGIN, Pair, Row, same_within};
use crate::Unit;
use crate::estimate::between::MIN_PROCESSES;
use crate::stats::interval::Interval;
use crate::stats::{normal, shift, signed_rank};

/// The row of two pooled sides, with its verdict still to be decided; the third are the base's
/// further runs. `None` without medians, or if core cycles are asked for and not known.
pub(super) fn row(sides: &[Pooled<'_>; 3], how: How) -> Option<Row> {
    let [base, new, spread] = sides;
    if how.in_cycles {
        let one = frequency::converted(sides, frequency::CYCLES, base.core_ghz?)?;
        let mut row = at_one(&one, how, ComparedIn::CoreCycles)?;
        let left_out = spread.estimates.len() - one.sides[2].estimates.len();
        if left_out > 0 {
            row.notes.push(format!(
                "{left_out} of {} --spread runs left out: their core cycles are not known",
                spread.estimates.len()
            ));
        }
        let is_time = row.unit == Unit::Nanoseconds;
        return Some(Row {
            cycles: is_time.then_some(Pair {
                base: row.base * one.ghz,
                new: row.new * one.ghz,
            }),
            // Tails are known as times only.
            p99: None,
            ..row
        });
    }
    let is_lowered = how.in_turn && paired::is_of_another_frequency(base, new);
    match frequency::at_one(sides).filter(|_| !is_lowered) {
        Some(one) => at_one(&one, how, ComparedIn::OneFrequency),
        None => {
            let mut row = row_of(sides, how, 0.0)?;
            row.notes.extend(of_frequency(base, new, row.ratio.ln()));
            Some(row)
        }
    }
}

/// The row of sides that were converted to one frequency.
fn at_one(one: &AtOne<'_>, how: How, compared_in: ComparedIn) -> Option<Row> {
    let mut row = row_of(&one.sides, how, one.error)?;
    if compared_in == ComparedIn::OneFrequency {
        row.core_share = Some(one.share);
        row.notes
            .extend(of_share([&one.sides[0], &one.sides[1]], one.ghz, one.share));
    }
    Some(Row { compared_in, ..row })
}

/// The row of the sides as they are; `off` is a further standard error of the ratio, as a
/// logarithm.
fn row_of(sides: &[Pooled<'_>; 3], how: How, off: f64) -> Option<Row> {
    let [base, new, _] = sides;
    let first = base.first?;
    let (base_median, new_median) = (base.median()?, new.median()?);
    let levels = Level::of_both(base, new);
    let stretch = levels.as_ref().map_or(1.0, Level::stretch);
    // What whole runs differ by is no difference between rounds measured in turn.
    let apart = levels.as_ref().filter(|_| !how.in_turn);
    let runs = apart.and_then(|levels| BetweenRuns::of(levels, sides));
    let found = levels.as_ref().map(|levels| {
        // Rounds that move together are pairs, whichever way the interval is narrower: the better
        // of two intervals covers less than either.
        let in_pairs = how.in_turn.then(|| paired::ratios(base, new)).flatten();
        let in_pairs = in_pairs.and_then(|ratios| Found::of_rounds(&ratios));
        in_pairs.unwrap_or_else(|| {
            let apart = Level::difference(levels, stretch, runs);
            Found::of_processes(levels, apart, stretch)
        })
    });
    let (ratio, grain) = (
        found
            .as_ref()
            .map_or(new_median / base_median, |found| found.centre.exp()),
        grain(base).hypot(grain(new)),
    );
    let mut notes = notes(base, new);
    let is_paired = found.as_ref().is_some_and(|found| found.is_paired);
    notes.extend(drift::note(stretch).filter(|_| !is_paired));
    let why_none = why_no_interval(base, new, found.as_ref());
    let interval = found.as_ref().filter(|_| why_none.is_none());
    let interval = interval.and_then(|found| found.widened(off, grain));
    notes.extend(why_none);
    // The clock's steps are uniform within their grain.
    let error = |found: &Found| found.difference.beside(off).beside(grain / 3_f64.sqrt());
    let difference = found.as_ref().map(error);
    let spread = difference.map_or(0.0, |found| normal::quantile(0.975) * found.error);
    let freedom = difference.map_or(1, |found| found.freedom);
    let least = if how.in_turn {
        MIN_PAIRED_MARGIN
    } else {
        MIN_MARGIN
    };
    let difference = difference.filter(|_| interval.is_some());
    Some(Row {
        name: first.name.clone(),
        id: first.id.clone(),
        unit: first.unit,
        better: first.better,
        compared_in: ComparedIn::Time,
        core_share: None,
        base: base_median,
        new: new_median,
        ratio,
        ci95_low: interval.map(|(low, _)| low.exp()),
        ci95_high: interval.map(|(_, high)| high.exp()),
        error: difference.map(|found| found.error),
        freedom: difference.map(|found| found.freedom),
        knows_runs: how.in_turn || runs.is_some(),
        margin: least.max(spread.max(grain).exp_m1()),
        same_within: same_within(MIN_MARGIN, spread.max(grain), freedom),
        p_value: difference.map(Difference::p_value),
        verdict: Change::Inconclusive,
        detectable: None,
        notes,
        disturbed: base.is_disturbed || new.is_disturbed,
        cycles: None,
        p99: p99(base, new),
    })
}

/// Why the ratio has no interval, for the reader; `None` if it has one.
fn why_no_interval(base: &Pooled<'_>, new: &Pooled<'_>, found: Option<&Found>) -> Option<String> {
    if base.processes().min(new.processes()) < MIN_PROCESSES {
        return Some(format!(
            "too few rounds: {} on the base side, {} on the new side, at least {MIN_PROCESSES} each are needed",
            base.processes(),
            new.processes()
        ));
    }
    if base.is_disturbed != new.is_disturbed {
        let [company, own] = match new.is_disturbed {
            true => ["new", "base"],
            false => ["base", "new"],
        };
        return Some(format!(
            "no interval: the {company} side is a price in company, the {own} side an own one, which may be the whole \
             difference"
        ));
    }
    let note = "no interval: its samples lie around zero, or its interval is not known";
    found.is_none().then(|| note.to_owned())
}

/// What was found of a ratio, as logarithms.
struct Found {
    centre: f64,
    /// The 95 % interval.
    low: f64,
    high: f64,
    difference: Difference,
    /// Whether it is that of rounds in pairs.
    is_paired: bool,
}

impl Found {
    /// From the logarithms of the ratios of rounds; `None` if these are too few.
    fn of_rounds(ratios: &[f64]) -> Option<Self> {
        let Interval { low, high, .. } = signed_rank::interval(ratios)?;
        Some(Self {
            centre: signed_rank::centre(ratios)?,
            low,
            high,
            difference: Difference::of_rounds(ratios),
            is_paired: true,
        })
    }

    /// From all processes of both sides, whose levels differ by this.
    fn of_processes(levels: &[Level; 2], difference: Difference, stretch: f64) -> Self {
        let [base, new] = levels.each_ref().map(|side| side.processes.concat());
        let shift = shift::of(&base, &new);
        let centre = shift.map_or(difference.distance, |shift| shift.centre);
        let is_exact = base.len().min(new.len()) >= MIN_EXACT;
        let exact = shift.and_then(|shift| shift.interval).filter(|_| is_exact);
        let reach = difference.reach();
        let (low, high) = match exact {
            // Processes that agree within their run but not between runs, or that resemble their
            // neighbours, are not independent.
            Some(exact) if difference.is_of_runs || stretch > 1.0 => (
                exact.low.min(centre - reach),
                exact.high.max(centre + reach),
            ),
            Some(exact) => (exact.low, exact.high),
            None => (difference.distance - reach, difference.distance + reach),
        };
        Self {
            centre,
            low: low.min(centre),
            high: high.max(centre),
            difference,
            is_paired: false,
        }
    }

    /// The interval with a further, independent standard error, and shifted by up to the clock's
    /// grain either way; `None` if it has no ends.
    fn widened(&self, off: f64, grain: f64) -> Option<(f64, f64)> {
        let off = normal::quantile(0.975) * off;
        let low = self.centre - (self.centre - self.low).hypot(off) - grain;
        let high = self.centre + (self.high - self.centre).hypot(off) + grain;
        (low.is_finite() && high.is_finite()).then_some((low, high))
    }
}

/// How far the clock's steps alone may shift a side's median, as a share of it.
fn grain(side: &Pooled<'_>) -> f64 {
    let shares = side.estimates.iter().filter_map(|estimate| {
        let grain = estimate.clock_grain? / estimate.median?.abs();
        grain.is_finite().then_some(grain)
    });
    shares.fold(0.0, f64::max)
}
