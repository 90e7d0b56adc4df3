//! The list of the kept runs.

use jiff::Timestamp;

use super::{HistoryOptions, cut_end, paint, plain, push, width};
use crate::wrap::wrap;

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

const HEADINGS: [&str; 9] = [
    "run", "date", "age", "machine", "kernel", "profile", "rows", "size", "tags",
];
/// The machine's column, shown only if there are several machines.
const MACHINE: usize = 3;
/// The last column, and its minimum width.
const TAGS: usize = 8;
const MIN_TAGS_WIDTH: usize = 8;
/// Columns that are aligned to the right.
const RIGHT: [usize; 3] = [2, 6, 7];
/// Columns to leave out if the width does not suffice, in this order.
const SPARED: [usize; 4] = [4, 7, 2, 5];
/// Maximum width of a name, in columns.
const MAX_NAME_WIDTH: usize = 22;

/// Explains the mark on runs that lack rounds.
const ENDED_EARLY: &str =
    "* ended by its budget or by Ctrl-C before every row had its minimum number of rounds";

/// The runs in the order given, one line each, below a heading. Their age is relative to `now`.
pub fn list(runs: &[ListedRun], now: Timestamp, options: &HistoryOptions) -> String {
    let several = runs
        .windows(2)
        .any(|pair| pair[0].machine != pair[1].machine);
    let mut lines = vec![HEADINGS.map(str::to_owned)];
    lines.extend(runs.iter().map(|run| cells(run, now, options)));
    let mut shown: Vec<usize> = (0..HEADINGS.len())
        .filter(|&column| several || column != MACHINE)
        .collect();
    let widths = |column: usize| {
        let cells = lines.iter().map(|line| width(&line[column]));
        cells.max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..HEADINGS.len()).map(widths).collect();
    // Tags are cut before a column is left out.
    let room_of = |column: usize| match column {
        TAGS => widths[TAGS].min(MIN_TAGS_WIDTH) + 2,
        column => widths[column] + 2,
    };
    for column in SPARED {
        let needed: usize = shown.iter().map(|&column| room_of(column)).sum();
        if needed > options.width() + 2 {
            shown.retain(|&other| other != column);
        }
    }
    let mut out = String::new();
    for (number, line) in lines.iter().enumerate() {
        let cells: Vec<String> = shown
            .iter()
            .map(|&column| {
                let width = widths[column];
                match RIGHT.contains(&column) {
                    true => format!("{:>width$}", line[column]),
                    false => format!("{:width$}", line[column]),
                }
            })
            .collect();
        let text = cut_end(cells.join("  ").trim_end(), options.width());
        let style = if number == 0 {
            paint::DIM
        } else {
            anstyle::Style::new()
        };
        push(&mut out, &options.paint().text(style, &text));
    }
    if runs.iter().any(|run| !run.complete) {
        for text in wrap(ENDED_EARLY, options.width()) {
            push(&mut out, &options.paint().text(paint::DIM, &text));
        }
    }
    out
}

fn cells(run: &ListedRun, now: Timestamp, options: &HistoryOptions) -> [String; 9] {
    let date = run.started.to_zoned(options.zone.clone());
    let rows = match (run.measured == run.rows, run.complete) {
        (_, false) => format!("{}/{} *", run.measured, run.rows),
        (true, true) => run.rows.to_string(),
        (false, true) => format!("{}/{}", run.measured, run.rows),
    };
    [
        plain(&run.id),
        date.strftime("%Y-%m-%d %H:%M").to_string(),
        age(now.as_second().saturating_sub(run.started.as_second())),
        cut_end(&plain(&run.machine), MAX_NAME_WIDTH),
        cut_end(
            &plain(run.kernel.strip_prefix("Linux ").unwrap_or(&run.kernel)),
            MAX_NAME_WIDTH,
        ),
        plain(&run.profile),
        rows,
        size(run.size_bytes),
        plain(&run.tags.join(" ")),
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
