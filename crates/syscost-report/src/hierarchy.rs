//! Caches, memory and TLBs of a run, each with its size, latency and bandwidth, next to what the
//! system reports.

use syscost_results::stats::staircase::agree;
use syscost_results::{Measurement, Run, Status, Unit};

use crate::chart::formatted;
use crate::footer;
use crate::grid::{Behind, Cell, Grid, Name, right};
use crate::paint::Paint;
use crate::units::{self, quantity};
use crate::view::value;

/// The headings of the table's columns.
pub(crate) const HEADS: [&str; 6] = [
    "",
    "size",
    "system says",
    "latency",
    "cycles",
    "bandwidth of a thread",
];

/// One level, as the table shows it; cells are empty where nothing was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Level {
    /// Its name, then a cell for each column.
    pub(crate) cells: [String; HEADS.len()],
    /// Whether the measured size and the one that the system reports differ so much that one of
    /// them misleads.
    pub(crate) differs: bool,
}

/// The indices of the columns that have something to show, that of the names first.
pub(crate) fn columns(levels: &[Level]) -> Vec<usize> {
    let is_filled = |column: &usize| levels.iter().any(|level| !level.cells[*column].is_empty());
    (0..HEADS.len()).filter(is_filled).collect()
}

/// The levels as runs name them, and as people do.
const CACHES: [(&str, &str); 4] = [
    ("1", "L1 cache"),
    ("2", "L2 cache"),
    ("3", "L3 cache"),
    ("4", "L4 cache"),
];

/// The levels that a run found, nearest first; none if the run did not look for them.
pub(crate) fn levels(run: &Run) -> Vec<Level> {
    let row = |id: &str, level: &str| {
        let mut rows = run.measurements.iter();
        rows.find(|row| {
            row.id == id
                && row.status == Status::Ok
                && row.case.get("level").is_some_and(|has| has == level)
                && row.case.get("threads").is_none_or(|threads| threads == "1")
        })
    };
    let shown = |row: Option<&Measurement>| row.and_then(with_flags).unwrap_or_default();
    let mut levels = Vec::new();
    for (level, title) in CACHES {
        let (size, latency) = (
            row("memory.cache_size", level),
            row("memory.cache_latency", level),
        );
        let system = size
            .and_then(|row| row.details.get("told_bytes").copied())
            .or_else(|| reported_bytes(run, level));
        if size.or(latency).is_none() && (system.is_none() || levels.is_empty()) {
            continue;
        }
        let differs = system
            .zip(size)
            .is_some_and(|(reported, found)| contradicts(found, reported));
        levels.push(Level {
            cells: [
                title.to_owned(),
                match size.or(latency) {
                    Some(_) => shown(size),
                    None => "not found".to_owned(),
                },
                system.map_or_else(String::new, |bytes| quantity(Unit::Bytes, bytes)),
                shown(latency),
                cycles(run, latency),
                shown(row("memory.peak_bandwidth", level)),
            ],
            differs,
        });
    }
    let memory = row("memory.cache_latency", "memory");
    let bandwidth = row("memory.peak_bandwidth", "memory");
    if memory.is_some() && !levels.is_empty() {
        levels.push(Level {
            cells: [
                "memory".to_owned(),
                String::new(),
                String::new(),
                shown(memory),
                cycles(run, memory),
                shown(bandwidth),
            ],
            differs: false,
        });
    }
    for level in ["1", "2"] {
        let (reach, miss) = (
            row("memory.tlb_reach", level),
            row("memory.tlb_miss", level),
        );
        if reach.or(miss).is_none() {
            continue;
        }
        let miss = shown(miss);
        let miss = if miss.is_empty() {
            miss
        } else {
            format!("a miss {miss}")
        };
        levels.push(Level {
            cells: [
                format!("L{level} TLB"),
                shown(reach),
                String::new(),
                miss,
                String::new(),
                String::new(),
            ],
            differs: false,
        });
    }
    if !levels.is_empty() {
        levels.extend(network(run));
    }
    levels
}

/// What lies beyond the machine's own memory: TCP round trips and streams to a process on the same
/// CPU, and to the far end that the run was given.
fn network(run: &Run) -> impl Iterator<Item = Level> {
    const ROUND_TRIP: &[(&str, &str)] = &[("wait", "block"), ("size", "64")];
    const STREAM: &[(&str, &str)] = &[
        ("streams", "1"),
        ("size", "64K"),
        ("direction", "send"),
        ("via", "write"),
    ];
    const LOOPBACK: &[(&str, &str)] = &[("path", "loopback"), ("family", "ipv4"), ("cpus", "same")];
    const REMOTE: &[(&str, &str)] = &[("path", "remote")];
    let row = |id: &str, path: &[(&str, &str)], what: &[(&str, &str)]| {
        let has = |row: &Measurement, (key, value): &(&str, &str)| {
            row.case.get(*key).is_some_and(|has| has == value)
        };
        let mut rows = run.measurements.iter();
        let found = rows.find(|row| {
            let all = path.iter().chain(what);
            row.id == id && row.status == Status::Ok && all.into_iter().all(|one| has(row, one))
        });
        found.and_then(with_flags)
    };
    let places = [("loopback TCP", LOOPBACK), ("far end", REMOTE)];
    places.into_iter().filter_map(move |(title, path)| {
        let round_trip = row("net.tcp.round_trip", path, ROUND_TRIP);
        let stream = row("net.tcp.bandwidth", path, STREAM);
        let is_found = round_trip.is_some() || stream.is_some();
        is_found.then(|| Level {
            cells: [
                title.to_owned(),
                String::new(),
                String::new(),
                round_trip.unwrap_or_default(),
                String::new(),
                stream.unwrap_or_default(),
            ],
            differs: false,
        })
    })
}

/// A row's number, with the flags that say how far it can be trusted.
fn with_flags(row: &Measurement) -> Option<String> {
    let mut text = formatted(row.unit, &value(row)?);
    for flag in footer::short_flags(&row.flags) {
        text.push_str(", ");
        text.push_str(flag);
    }
    Some(text)
}

/// The size of this level's data cache according to the system, in bytes.
fn reported_bytes(run: &Run, level: &str) -> Option<f64> {
    let caches = run.machine.caches.iter();
    let of_data = caches.filter(|cache| cache.kind != "instruction");
    let sizes = of_data.filter(|cache| cache.level.to_string() == level);
    sizes.map(|cache| cache.size_bytes as f64).next()
}

/// Whether the size found contradicts the reported one: neither near it nor so uncertain that they
/// may agree.
fn contradicts(found: &Measurement, reported: f64) -> bool {
    let estimate = &found.estimate;
    let interval = estimate.ci95_low.zip(estimate.ci95_high);
    let may_agree = interval.is_some_and(|(low, high)| (low..=high).contains(&reported));
    !may_agree
        && estimate
            .median
            .is_some_and(|median| !agree(reported, median))
}

/// A latency in cycles, at the frequency the core had while the curve that it comes from was
/// measured.
fn cycles(run: &Run, latency: Option<&Measurement>) -> String {
    let measured = run
        .measurements
        .iter()
        .filter(|row| row.id == "memory.latency");
    let mut rates: Vec<f64> = measured
        .filter_map(|row| Some(row.core_cycles? / row.estimate.median?))
        .collect();
    rates.sort_unstable_by(f64::total_cmp);
    let rate = rates.get(rates.len() / 2);
    let latency = latency.and_then(|row| row.estimate.median);
    latency
        .zip(rate)
        .map_or_else(String::new, |(ns, rate)| units::cycles(ns * rate))
}

/// The table in characters; empty for a run without levels.
pub(crate) fn text(run: &Run) -> Vec<String> {
    let levels = levels(run);
    if levels.is_empty() {
        return Vec::new();
    }
    let mut grid = Grid::new(HEADS[1..].iter().map(|head| right(head)).collect());
    grid.heading("", anstyle::Style::new());
    for level in &levels {
        let [name, cells @ ..] = &level.cells;
        let mut cells = cells.clone();
        if level.differs {
            cells[1].push_str(" ≠");
        }
        let cells = cells.map(Cell::from).to_vec();
        grid.line(Name::new(name, 0), cells, Behind::Nothing);
    }
    grid.draw(usize::MAX, Paint { color: false }).lines
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use syscost_results::{Flag, row_name};

    use super::*;
    use crate::fixture;

    fn row(id: &str, level: &str, unit: Unit, median: f64) -> Measurement {
        let mut row = fixture::run().measurements[0].clone();
        row.id = id.to_owned();
        row.case = BTreeMap::from([("level".to_owned(), level.to_owned())]);
        row.unit = unit;
        row.status = Status::Ok;
        row.estimate.median = Some(median);
        row.estimate.ci95_low = Some(0.98 * median);
        row.estimate.ci95_high = Some(1.02 * median);
        row.details.clear();
        row
    }

    #[test]
    fn a_latency_of_a_shared_core_says_so() {
        let mut run = fixture::run();
        let mut latency = row("memory.cache_latency", "1", Unit::Nanoseconds, 1.5);
        latency.flags = vec![Flag::TooFewRounds, Flag::Disturbed];
        run.measurements = vec![latency];
        let cell = &levels(&run)[0].cells[3];
        assert!(cell.ends_with(", shared, few"), "{cell}");
    }

    #[test]
    fn levels_stand_beside_what_the_system_says() {
        let mut run = fixture::run();
        assert!(text(&run).is_empty(), "nothing was looked for");
        let mut large = row("memory.cache_size", "2", Unit::Bytes, 2e6);
        large.details.insert("told_bytes".to_owned(), 8e6);
        let mut near = row("memory.latency", "", Unit::Nanoseconds, 1.5);
        near.core_cycles = Some(5.0);
        run.measurements = vec![
            near,
            row("memory.cache_size", "1", Unit::Bytes, 49152.0),
            row("memory.cache_latency", "1", Unit::Nanoseconds, 1.5),
            large,
            row("memory.cache_latency", "memory", Unit::Nanoseconds, 120.0),
            row("memory.peak_bandwidth", "1", Unit::BytesPerSecond, 3e11),
            row("memory.tlb_miss", "1", Unit::Nanoseconds, 2.0),
            of_network(
                "net.tcp.round_trip{path=loopback,family=ipv4,cpus=same,wait=block,size=64}",
                Unit::Nanoseconds,
                9300.0,
            ),
            of_network(
                "net.tcp.round_trip{path=loopback,family=ipv4,cpus=same,wait=spin,size=64}",
                Unit::Nanoseconds,
                1.0,
            ),
            of_network(
                "net.tcp.bandwidth{path=remote,family=ipv6,streams=1,size=64K,direction=send,via=write}",
                Unit::BytesPerSecond,
                1.1e8,
            ),
        ];
        insta::assert_snapshot!(text(&run).join("\n"));
        let differing: Vec<bool> = levels(&run).iter().map(|level| level.differs).collect();
        assert_eq!(differing, [false, true, false, false, false, false]);
        run.measurements.drain(..7);
        assert!(text(&run).is_empty(), "it is no hierarchy without memory");
    }

    /// A row with this name.
    fn of_network(name: &str, unit: Unit, median: f64) -> Measurement {
        let mut row = row(row_name::id(name), "", unit, median);
        row.case = row_name::parameters(name)
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect();
        row
    }

    #[test]
    fn a_column_without_cells_is_left_out() {
        let mut run = fixture::run();
        run.measurements = vec![
            row("memory.cache_size", "1", Unit::Bytes, 49152.0),
            row("memory.cache_latency", "1", Unit::Nanoseconds, 1.5),
        ];
        let heads = text(&run).remove(0);
        assert!(heads.contains("latency"), "{heads}");
        for empty in ["cycles", "bandwidth"] {
            assert!(!heads.contains(empty), "{heads}");
        }
    }

    #[test]
    fn an_uncertain_size_does_not_differ() {
        let mut size = row("memory.cache_size", "2", Unit::Bytes, 2e6);
        assert!(contradicts(&size, 1e6));
        size.estimate.ci95_low = Some(5e5);
        assert!(!contradicts(&size, 1e6));
    }
}
