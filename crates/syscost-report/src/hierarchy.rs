//! Caches, memory and TLBs of a run, each with its size, latency and bandwidth, next to what the
//! system reports.

use syscost_results::details::TOLD_BYTES;
use syscost_results::details::agree;
use syscost_results::{Measurement, Role, Run, Status, Unit};

use crate::chart::formatted;
use crate::document::{Block, Column, Row, Table, Text};
use crate::flags;
use crate::units::{self, quantity};
use crate::view::value;

/// The headings of the table's columns.
const HEADS: [&str; 5] = [
    "size",
    "system says",
    "latency",
    "cycles",
    "bandwidth of a thread",
];
/// The index of the column of what the system says.
const SYSTEM: usize = 1;

/// One level, as the table shows it; cells are empty where nothing was found.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Level {
    name: &'static str,
    /// A cell for each column.
    cells: [String; HEADS.len()],
    /// Whether the measured size and the one that the system reports differ so much that one of
    /// them misleads.
    differs: bool,
}

/// The caches, nearest first: what stands for their size, latency and bandwidth.
const CACHES: [(&str, Role, Role, Option<Role>); 4] = [
    (
        "L1 cache",
        Role::L1Size,
        Role::L1Latency,
        Some(Role::L1Bandwidth),
    ),
    (
        "L2 cache",
        Role::L2Size,
        Role::L2Latency,
        Some(Role::L2Bandwidth),
    ),
    (
        "L3 cache",
        Role::L3Size,
        Role::L3Latency,
        Some(Role::L3Bandwidth),
    ),
    ("L4 cache", Role::L4Size, Role::L4Latency, None),
];

/// The TLBs: what stands for their reach and for a miss.
const TLBS: [(&str, Role, Role); 2] = [
    ("L1 TLB", Role::L1TlbReach, Role::L1TlbMiss),
    ("L2 TLB", Role::L2TlbReach, Role::L2TlbMiss),
];

/// What lies beyond the machine's own memory: TCP round trips and streams to a process on the same
/// CPU, and to the far end that the run was given.
const PLACES: [(&str, Role, Role); 2] = [
    (
        "loopback TCP",
        Role::LoopbackRoundTrip,
        Role::LoopbackStream,
    ),
    ("far end", Role::FarEndRoundTrip, Role::FarEndStream),
];

/// Whether the machine's own levels are found by this row.
pub(crate) fn finds_levels(row: &Measurement) -> bool {
    let caches = CACHES.iter().map(|(_, size, latency, _)| (*size, *latency));
    let mut both = caches.chain(TLBS.iter().map(|(_, reach, miss)| (*reach, *miss)));
    both.any(|(one, other)| row.is(one) || row.is(other))
}

/// The levels that a run found, nearest first; none if the run did not look for them.
fn levels(run: &Run) -> Vec<Level> {
    let row = |role: Role| {
        let mut rows = run.measurements.iter();
        rows.find(|row| row.is(role) && row.status == Status::Ok)
    };
    let shown = |row: Option<&Measurement>| row.and_then(with_flags).unwrap_or_default();
    let level = |name, cells| Level {
        name,
        cells,
        differs: false,
    };
    let none = String::new;
    let mut levels = Vec::new();
    for ((title, size, latency, bandwidth), number) in CACHES.into_iter().zip(1..) {
        let (size, latency) = (row(size), row(latency));
        let system = size
            .and_then(|row| row.details.get(TOLD_BYTES).copied())
            // Older documents have 0 for what was not reported.
            .filter(|bytes| *bytes > 0.0)
            .or_else(|| reported_bytes(run, number));
        if size.or(latency).is_none() && (system.is_none() || levels.is_empty()) {
            continue;
        }
        let found = match size.or(latency) {
            Some(_) => shown(size),
            None => "not found".to_owned(),
        };
        let differing = system.zip(size);
        let told = system.map_or_else(
            || "not reported".to_owned(),
            |bytes| quantity(Unit::Bytes, bytes),
        );
        let cycles = cycles(run, latency);
        let bandwidth = shown(bandwidth.and_then(row));
        levels.push(Level {
            differs: differing.is_some_and(|(told, found)| contradicts(found, told)),
            ..level(title, [found, told, shown(latency), cycles, bandwidth])
        });
    }
    let memory = row(Role::MemoryLatency);
    if memory.is_some() && !levels.is_empty() {
        let bandwidth = shown(row(Role::MemoryBandwidth));
        let cycles = cycles(run, memory);
        levels.push(level(
            "memory",
            [none(), none(), shown(memory), cycles, bandwidth],
        ));
    }
    for (title, reach, miss) in TLBS {
        let (reach, miss) = (row(reach), row(miss));
        if reach.or(miss).is_some() {
            let miss = miss.and_then(with_flags);
            let miss = miss.map_or_else(none, |miss| format!("a miss {miss}"));
            levels.push(level(title, [shown(reach), none(), miss, none(), none()]));
        }
    }
    if levels.is_empty() {
        return levels;
    }
    for (title, round_trip, stream) in PLACES {
        let (round_trip, stream) = (shown(row(round_trip)), shown(row(stream)));
        if !round_trip.is_empty() || !stream.is_empty() {
            levels.push(level(title, [none(), none(), round_trip, none(), stream]));
        }
    }
    levels
}

/// A row's number, with the flags that say how far it can be trusted.
fn with_flags(row: &Measurement) -> Option<String> {
    let mut text = formatted(row.unit, &value(row)?);
    for flag in flags::short_flags(&row.flags) {
        text.push_str(", ");
        text.push_str(flag);
    }
    Some(text)
}

/// The size of this level's data cache according to the system, in bytes.
fn reported_bytes(run: &Run, level: u32) -> Option<f64> {
    let caches = run.machine.caches.iter();
    let of_data = caches.filter(|cache| cache.kind != "instruction");
    let sizes = of_data.filter(|cache| cache.level == level);
    sizes
        .filter_map(|cache| cache.size_bytes)
        .map(|bytes| bytes as f64)
        .next()
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
    let measured = run.measurements.iter().filter(|row| row.is(Role::Load));
    let mut rates: Vec<f64> = measured
        .filter_map(|row| Some(row.core_cycles? / value(row)?.median))
        .collect();
    rates.sort_unstable_by(f64::total_cmp);
    let rate = rates.get(rates.len() / 2);
    let latency = latency.and_then(|row| Some(value(row)?.median));
    latency
        .zip(rate)
        .map_or_else(String::new, |(ns, rate)| units::cycles(ns * rate))
}

/// The table, of the columns that have something to show, and what its sign means; nothing for a run without levels.
pub(crate) fn blocks(run: &Run) -> Vec<Block> {
    let levels = levels(run);
    // In which order the columns are left out where there is no room.
    const RANKS: [u8; HEADS.len()] = [1, 2, 0, 5, 1];
    let is_filled = |column: &usize| levels.iter().any(|level| !level.cells[*column].is_empty());
    let columns: Vec<usize> = (0..HEADS.len()).filter(is_filled).collect();
    let row = |level: &Level| {
        let texts = columns.iter().map(|&column| {
            let sign = if column == SYSTEM && level.differs {
                " ≠"
            } else {
                ""
            };
            format!("{}{sign}", level.cells[column])
        });
        Row::new(level.name, texts)
    };
    let table = Block::Table(Table {
        class: "stack",
        caption: "Memory hierarchy".to_owned(),
        names: Text::default(),
        columns: columns
            .iter()
            .map(|&column| Column::right(HEADS[column]).rank(RANKS[column]))
            .collect(),
        rows: levels.iter().map(row).collect(),
    });
    let differs = levels.iter().any(|level| level.differs);
    let note = "≠ differs from what was found: a virtual machine may be told another size, and others may use the same cache";
    let note = differs.then(|| Block::note(note));
    let table = (!levels.is_empty()).then_some(table);
    table.into_iter().chain(note).collect()
}

#[cfg(test)]
mod tests {
    use syscost_results::Flag;
    use syscost_results::machine::Cache;

    use super::*;
    use crate::document::terminal;
    use crate::expect::lacks;
    use crate::{TableOptions, fixture};

    fn text(run: &Run) -> String {
        terminal(&blocks(run), &TableOptions::of_width(120))
    }

    fn row(role: Role, unit: Unit, median: f64) -> Measurement {
        let mut row = fixture::run().measurements[0].clone();
        row.roles = vec![role];
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
        let mut latency = row(Role::L1Latency, Unit::Nanoseconds, 1.5);
        latency.flags = vec![Flag::TooFewRounds, Flag::Disturbed];
        run.measurements = vec![latency];
        let cell = &levels(&run)[0].cells[2];
        assert!(cell.ends_with(", shared, few"), "{cell}");
    }

    #[test]
    fn levels_stand_beside_what_the_system_says() {
        let mut run = fixture::run();
        assert!(blocks(&run).is_empty(), "nothing was looked for");
        let mut large = row(Role::L2Size, Unit::Bytes, 2e6);
        large.details.insert(TOLD_BYTES.to_owned(), 8e6);
        let mut near = row(Role::Load, Unit::Nanoseconds, 1.5);
        near.core_cycles = Some(5.0);
        run.measurements = vec![
            near,
            row(Role::L1Size, Unit::Bytes, 49152.0),
            row(Role::L1Latency, Unit::Nanoseconds, 1.5),
            large,
            row(Role::MemoryLatency, Unit::Nanoseconds, 120.0),
            row(Role::L1Bandwidth, Unit::BytesPerSecond, 3e11),
            row(Role::L1TlbMiss, Unit::Nanoseconds, 2.0),
            row(Role::LoopbackRoundTrip, Unit::Nanoseconds, 9300.0),
            row(Role::FarEndStream, Unit::BytesPerSecond, 1.1e8),
        ];
        insta::assert_snapshot!(text(&run));
        let differing: Vec<bool> = levels(&run).iter().map(|level| level.differs).collect();
        assert_eq!(differing, [false, true, false, false, false, false]);
        run.measurements.drain(..7);
        assert!(blocks(&run).is_empty(), "it is no hierarchy without memory");
    }

    #[test]
    fn a_column_without_cells_is_left_out() {
        let mut run = fixture::run();
        run.measurements = vec![
            row(Role::L1Size, Unit::Bytes, 49152.0),
            row(Role::L1Latency, Unit::Nanoseconds, 1.5),
        ];
        let heads = text(&run);
        assert!(heads.contains("latency"), "{heads}");
        lacks(&heads, &["cycles", "bandwidth"]);
    }

    #[test]
    fn a_size_that_is_not_reported_is_none_of_no_bytes() {
        let mut run = fixture::run();
        let mut found = row(Role::L1Size, Unit::Bytes, 49152.0);
        run.machine.caches = vec![Cache {
            level: 1,
            kind: "data".to_owned(),
            size_bytes: None,
            line_bytes: None,
            shared_by: None,
        }];
        // An older document says so of both.
        for told in [None, Some(0.0)] {
            found
                .details
                .extend(told.map(|told| (TOLD_BYTES.to_owned(), told)));
            run.measurements = vec![found.clone()];
            let level = &levels(&run)[0];
            assert_eq!(
                (&*level.cells[SYSTEM], level.differs),
                ("not reported", false)
            );
        }
    }

    #[test]
    fn an_uncertain_size_does_not_differ() {
        let mut size = row(Role::L2Size, Unit::Bytes, 2e6);
        assert!(contradicts(&size, 1e6));
        size.estimate.ci95_low = Some(5e5);
        assert!(!contradicts(&size, 1e6));
    }
}
