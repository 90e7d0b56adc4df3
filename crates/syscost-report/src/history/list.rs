//! The list of the kept runs.

use jiff::{Timestamp, tz::TimeZone};

use crate::document::{Block, Column, Row, Table};
use crate::paint::cut_end;

/// A kept run as the list shows it.
#[derive(Debug, Clone)]
pub struct ListedRun {
    /// Its id.
    pub id: String,
    /// When it began.
    pub started: Timestamp,
    /// Name of the machine.
    pub machine: String,
    /// Operating system's kernel and release.
    pub kernel: String,
    /// `quick`, `standard`, `full` or `careful`.
    pub profile: String,
    /// What was asked for.
    pub asked: String,
    /// Whether every row got its minimum number of rounds.
    pub complete: bool,
    /// Rows of the document.
    pub rows: u32,
    /// Rows with a number.
    pub measured: u32,
    /// Size of the document in bytes.
    pub size_bytes: u64,
    /// Its tags.
    pub tags: Vec<String>,
}

/// Maximum width of a name, in columns.
const MAX_NAME_WIDTH: usize = 22;

/// Explains the mark on runs that lack rounds.
const ENDED_EARLY: &str =
    "* ended by its budget or by Ctrl-C before every row had its minimum number of rounds";

/// The runs in the order given, one line each. Their age is relative to `now`.
pub fn list(runs: &[ListedRun], now: Timestamp, zone: &TimeZone) -> Vec<Block> {
    let mut pairs = runs.windows(2);
    let are_several = pairs.any(|pair| pair[0].machine != pair[1].machine);
    let line = |run: &ListedRun| Row {
        signs: run.tags.clone(),
        ..Row::new(&run.id, cells(run, now, zone, are_several))
    };
    let table = Table {
        class: "stack",
        caption: "Kept runs".to_owned(),
        names: "run".into(),
        columns: vec![
            Column::left("date"),
            Column::right("age").rank(5),
            Column::left("machine"),
            Column::left("kernel").rank(7),
            Column::left("measured").rank(2),
            Column::left("profile").rank(4),
            Column::right("rows"),
            Column::right("size").rank(6),
        ],
        rows: runs.iter().map(line).collect(),
    };
    let ended_early = runs.iter().any(|run| !run.complete);
    let note = ended_early.then(|| Block::note(ENDED_EARLY));
    std::iter::once(Block::Table(table)).chain(note).collect()
}

fn cells(run: &ListedRun, now: Timestamp, zone: &TimeZone, with_machine: bool) -> [String; 8] {
    let date = run.started.to_zoned(zone.clone());
    let rows = match (run.measured == run.rows, run.complete) {
        (_, false) => format!("{}/{} *", run.measured, run.rows),
        (true, true) => run.rows.to_string(),
        (false, true) => format!("{}/{}", run.measured, run.rows),
    };
    let machine = if with_machine { &run.machine } else { "" };
    let kernel = run.kernel.strip_prefix("Linux ").unwrap_or(&run.kernel);
    [
        date.strftime("%Y-%m-%d %H:%M").to_string(),
        age(now.as_second().saturating_sub(run.started.as_second())),
        cut_end(machine, MAX_NAME_WIDTH),
        cut_end(kernel, MAX_NAME_WIDTH),
        cut_end(&run.asked, MAX_NAME_WIDTH),
        run.profile.clone(),
        rows,
        size(run.size_bytes),
    ]
}

/// A duration in seconds as one number: `5 min`, `3 h`, `12 d`.
fn age(seconds: i64) -> String {
    match seconds {
        i64::MIN..0 => "future".to_owned(),
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// A size in bytes, with a suitable unit.
fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{} kB", bytes / 1_000),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}
