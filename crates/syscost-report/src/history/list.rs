//! The list of the kept runs.

use jiff::Timestamp;

use super::{HistoryOptions, plain, push, text};
use crate::grid::{Behind, Cell, Grid, Name, left, right};
use crate::paint::{self, cut_end};
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

/// Maximum width of a name, in columns.
const MAX_NAME_WIDTH: usize = 22;

/// Explains the mark on runs that lack rounds.
const ENDED_EARLY: &str =
    "* ended by its budget or by Ctrl-C before every row had its minimum number of rounds";

/// The runs in the order given, one line each, below a heading. Their age is relative to `now`.
pub fn list(runs: &[ListedRun], now: Timestamp, options: &HistoryOptions) -> String {
    let machines = runs
        .windows(2)
        .map(|pair| [&pair[0].machine, &pair[1].machine]);
    let are_several = machines.into_iter().any(|[one, other]| one != other);
    let mut grid = Grid::new(vec![
        left("date"),
        right("age").rank(5),
        left("machine"),
        left("kernel").rank(7),
        left("profile").rank(4),
        right("rows"),
        right("size").rank(6),
    ])
    .behind("tags");
    grid.heading("run", paint::DIM);
    for run in runs {
        let tags = Cell::from(plain(&run.tags.join(" ")));
        let cells = cells(run, now, options, are_several).map(Cell::from);
        grid.line(
            Name::new(plain(&run.id), 0),
            cells.to_vec(),
            Behind::Text(tags),
        );
    }
    let mut out = text(&grid, options);
    if runs.iter().any(|run| !run.complete) {
        for text in wrap(ENDED_EARLY, options.width()) {
            push(&mut out, &options.paint().text(paint::DIM, &text));
        }
    }
    out
}

fn cells(
    run: &ListedRun,
    now: Timestamp,
    options: &HistoryOptions,
    with_machine: bool,
) -> [String; 7] {
    let date = run.started.to_zoned(options.zone.clone());
    let rows = match (run.measured == run.rows, run.complete) {
        (_, false) => format!("{}/{} *", run.measured, run.rows),
        (true, true) => run.rows.to_string(),
        (false, true) => format!("{}/{}", run.measured, run.rows),
    };
    let name = |text: &str| cut_end(&plain(text), MAX_NAME_WIDTH);
    [
        date.strftime("%Y-%m-%d %H:%M").to_string(),
        age(now.as_second().saturating_sub(run.started.as_second())),
        if with_machine {
            name(&run.machine)
        } else {
            String::new()
        },
        name(run.kernel.strip_prefix("Linux ").unwrap_or(&run.kernel)),
        plain(&run.profile),
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
