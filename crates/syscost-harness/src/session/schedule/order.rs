//! The order in which a round measures benchmarks.

use syscost_results::study::{Study, means};

use crate::benchmark::Entry;
use crate::catalogue::Row;
use crate::profile::Setup;
use crate::session::ledger::Ledger;
use crate::session::row::RowState;

/// The benchmarks that the coming round measures, in random order, except that those with a costly
/// set-up are adjacent, see [`arranged`], and that the first round begins with those that come
/// first.
pub(in crate::session) fn order(
    ledgers: &[Ledger],
    round: u32,
    random: &mut fastrand::Rng,
) -> Vec<&'static Entry> {
    let rows = || ledgers.iter().flat_map(|ledger| &ledger.rows);
    let is_expensive = |benchmark: &'static Entry| {
        let mut active = rows().filter(|row| row.takes_part());
        active.any(|row| row.row.benchmark.id == benchmark.id && row.row.setup() != Setup::Cheap)
    };
    let all = benchmarks(ledgers, RowState::takes_part).into_iter();
    let mut benchmarks: Vec<_> = all.map(|one| (one, is_expensive(one))).collect();
    random.shuffle(&mut benchmarks);
    let tier = |benchmark: &Entry| {
        let of_it = rows().filter(|row| row.row.benchmark.id == benchmark.id);
        of_it.map(|row| row.tier).min()
    };
    led(arranged(benchmarks, round), round, tier)
}

/// The benchmarks with such rows in these runs, in the report's order.
pub(super) fn benchmarks(
    ledgers: &[Ledger],
    is_wanted: fn(&RowState) -> bool,
) -> Vec<&'static Entry> {
    let mut found: Vec<&'static Entry> = Vec::new();
    for ledger in ledgers {
        for row in ledger.rows.iter().filter(|row| is_wanted(row)) {
            if !found.iter().any(|known| known.id == row.row.benchmark.id) {
                found.push(row.row.benchmark);
            }
        }
    }
    found
}

/// The same order, but in the first round with those that come first, by their tier or by
/// themselves.
fn led(
    mut order: Vec<&'static Entry>,
    round: u32,
    tier: impl Fn(&Entry) -> Option<usize>,
) -> Vec<&'static Entry> {
    if round == 0 {
        order.sort_by_key(|benchmark| (tier(benchmark), !benchmark.comes_first));
    }
    order
}

/// Names of rows, in the tiers of all these studies, `*` standing for any value.
pub(in crate::session) fn tiers(studies: &[Study]) -> Vec<Vec<String>> {
    let mut all = [Vec::new(), Vec::new()];
    for study in studies {
        for (all, rows) in all.iter_mut().zip(study.tiers()) {
            all.extend(rows);
        }
    }
    all.into()
}

/// These rows, each with the first tier that names it or a row that is computed from it; those that
/// none names come after all tiers.
pub(in crate::session) fn tiered(rows: Vec<Row>, tiers: &[Vec<String>]) -> Vec<(Row, usize)> {
    let named = |row: &Row| {
        let name = row.name();
        let is_it = |tier: &Vec<String>| tier.iter().any(|meant| means(meant, &name));
        tiers.iter().position(is_it).unwrap_or(tiers.len())
    };
    let tier = |row: &Row| {
        let computed = rows.iter().filter(|other| other.is_computed_from(row));
        computed
            .map(named)
            .min()
            .unwrap_or(tiers.len())
            .min(named(row))
    };
    let found: Vec<usize> = rows.iter().map(tier).collect();
    rows.into_iter().zip(found).collect()
}

/// The same order, but with expensive benchmarks adjacent: at the end of even rounds, so that in
/// the first one they do not take the time that many others need, and at the beginning of odd ones.
/// Most of them fill much memory, and the next one gets what the one before freed: a virtual
/// machine returns unused memory to its host within seconds, and getting a gigabyte of it back
/// takes seconds more.
fn arranged<T>(benchmarks: Vec<(T, bool)>, round: u32) -> Vec<T> {
    let (expensive, cheap): (Vec<_>, Vec<_>) = benchmarks
        .into_iter()
        .partition(|(_, expensive)| *expensive);
    let (first, last) = match round % 2 {
        0 => (cheap, expensive),
        _ => (expensive, cheap),
    };
    first.into_iter().chain(last).map(|(one, _)| one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmark::Benchmark;
    use crate::rows;
    use syscost_params::Params;

    #[test]
    fn expensive_ones_are_adjacent_within_a_round_and_from_even_to_odd_ones() {
        let shuffled = vec![("a", false), ("b", true), ("c", false), ("d", true)];
        assert_eq!(arranged(shuffled.clone(), 0), ["a", "c", "b", "d"]);
        assert_eq!(arranged(shuffled.clone(), 1), ["b", "d", "a", "c"]);
        assert_eq!(arranged(shuffled, 2), ["a", "c", "b", "d"]);
    }

    #[derive(Params, Clone)]
    #[expect(dead_code)] // only its name is read
    struct Sized {
        /// What tells rows apart.
        size: u32,
    }

    #[test]
    fn the_first_round_begins_with_the_first_tier_and_what_it_is_computed_from() {
        static ANY: Entry = Benchmark {
            comes_first: true,
            ..Benchmark::DEFAULT
        }
        .named("any", "");
        static NAMED: Entry = Benchmark::DEFAULT.named("named", "");
        let row = |benchmark: &'static Entry, size: u32| Row {
            benchmark,
            case: rows!(Sized { size: [size] }).remove(0).erased(),
        };
        let rows = vec![row(&ANY, 1), row(&NAMED, 1), row(&NAMED, 2)];
        let tiers = ["named{size=2}", "named{size=*}"].map(|name| vec![name.to_owned()]);
        let found: Vec<usize> = tiered(rows, &tiers).iter().map(|(_, tier)| *tier).collect();
        assert_eq!(found, [2, 1, 0]);
        let tier = |benchmark: &Entry| Some(usize::from(benchmark.id != "named"));
        let first = |round| led(vec![&ANY, &NAMED], round, tier)[0].id;
        assert_eq!((first(0), first(1)), ("named", "any"));
    }
}
