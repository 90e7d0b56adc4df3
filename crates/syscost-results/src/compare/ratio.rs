//! The ratio of one row: its interval, its margin, and the chance that nothing changed.

use syscost_stats::level::Level;
use syscost_stats::normal;

use super::drift;
use super::frequency::{self, AtOne};
use super::level::{BetweenRuns, SideLevel};
use super::notes::{notes, of_frequency, of_share};
use super::paired;
use super::pool::{Pooled, p99};
use super::{Change, ComparedIn, How, MIN_MARGIN, MIN_PAIRED_MARGIN, Pair, Row, same_within};
use crate::estimate::between::MIN_PROCESSES;
use crate::{Measurement, Unit};

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
    let levels = SideLevel::of_both(base, new);
    let stretch = levels.as_ref().map_or(1.0, SideLevel::stretch);
    // What whole runs differ by is no difference between rounds measured in turn.
    let apart = levels.as_ref().filter(|_| !how.in_turn);
    let runs = apart.and_then(|levels| BetweenRuns::of(levels, sides));
    // Rounds that move together are pairs, whichever way the interval is narrower: the better of two
    // intervals covers less than either.
    let in_pairs = how.in_turn.then(|| paired::ratios(base, new)).flatten();
    let in_pairs = in_pairs.and_then(|ratios| Level::of(&ratios));
    let apart = || Some(SideLevel::difference(levels.as_ref()?, stretch, runs));
    let found = in_pairs.or_else(apart).map(|found| found.beside(off));
    let ratio = found.map_or(new_median / base_median, |found| found.mean.exp());
    let grain = grain(base).hypot(grain(new));
    let mut notes = notes(base, new);
    notes.extend(drift::note(stretch).filter(|_| in_pairs.is_none()));
    let neighbour = neighbour(base, new).filter(|_| !how.in_turn);
    let why_none = why_no_interval(base, new, found.is_some());
    let is_unknown = base.is_disturbed && new.is_disturbed && neighbour.is_none() && !how.in_turn;
    let why_none = why_none.or_else(|| is_unknown.then(|| UNKNOWN_NEIGHBOURS.to_owned()));
    // Shifted by up to the clock's grain either way.
    let interval = found.filter(|_| why_none.is_none()).map(|found| {
        let reach = found.reach() + grain;
        [found.mean - reach, found.mean + reach]
    });
    let interval = interval.filter(|ends| ends.iter().all(|end| end.is_finite()));
    notes.extend(why_none);
    // The clock's steps are uniform within their grain.
    let difference = found.map(|found| found.beside(grain / 3_f64.sqrt()));
    let spread = difference.map_or(0.0, |found| normal::quantile(0.975) * found.error);
    let freedom = difference.map_or(1, Level::whole_freedom);
    let least = if how.in_turn {
        MIN_PAIRED_MARGIN
    } else {
        MIN_MARGIN
    };
    let margin = least.max(spread.max(grain).exp_m1());
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
        ci95_low: interval.map(|[low, _]| low.exp()),
        ci95_high: interval.map(|[_, high]| high.exp()),
        error: difference.map(|found| found.error),
        freedom: difference.map(Level::whole_freedom),
        knows_runs: how.in_turn || runs.is_some(),
        margin: neighbour.map_or(margin, |most| margin.max(most - 1.0)),
        // Neighbours that differ may hide a change.
        same_within: match neighbour {
            Some(_) => 0.0,
            None => same_within(MIN_MARGIN, spread.max(grain), freedom),
        },
        p_value: difference.map(Level::p_value),
        verdict: Change::Inconclusive,
        detectable: None,
        notes,
        disturbed: base.is_disturbed || new.is_disturbed,
        company: company(base, new),
        cycles: None,
        p99: p99(base, new),
    })
}

/// Why prices in company on both sides have no interval.
const UNKNOWN_NEIGHBOURS: &str =
    "no interval: both sides are prices in company, and how their neighbours differed is not known";

/// By how much prices in company on both sides may differ because their neighbours did: as much as the
/// probes around their samples did. `None` where one is an own price, or where that is not known.
fn neighbour(base: &Pooled<'_>, new: &Pooled<'_>) -> Option<f64> {
    let is_both = base.is_disturbed && new.is_disturbed;
    let seen = || base.slowdowns().chain(new.slowdowns());
    let ends = seen().reduce(f64::max).zip(seen().reduce(f64::min));
    ends.filter(|_| is_both).map(|(most, least)| most / least)
}

/// See [`Row::company`].
fn company(base: &Pooled<'_>, new: &Pooled<'_>) -> Option<f64> {
    let in_company = [base, new].into_iter().filter(|side| side.is_disturbed);
    let rows = in_company.flat_map(|side| &side.rows);
    let slowest = rows.filter_map(|row| slowest(row));
    slowest.reduce(f64::max)
}

/// How many times longer than on an own core the slowest probe took around a row's samples.
fn slowest(row: &Measurement) -> Option<f64> {
    let limit = row.sharing?.limit;
    let rounds = row.samples.iter().flatten();
    let slowest = rounds.filter_map(|round| {
        let own = round.own_limit? / limit;
        let known = round.ratios.iter().filter(|ratio| **ratio < u16::MAX);
        Some(f64::from(*known.max()?) / 1e3 / own)
    });
    slowest.reduce(f64::max)
}

/// Why the ratio has no interval, for the reader; `None` if it has one.
fn why_no_interval(base: &Pooled<'_>, new: &Pooled<'_>, is_found: bool) -> Option<String> {
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
    (!is_found).then(|| note.to_owned())
}

/// How far the clock's steps alone may shift a side's median, as a share of it.
fn grain(side: &Pooled<'_>) -> f64 {
    let shares = side.estimates.iter().filter_map(|estimate| {
        let grain = estimate.clock_grain? / estimate.median?.abs();
        grain.is_finite().then_some(grain)
    });
    shares.fold(0.0, f64::max)
}
