//! Which of several runs something is of, and of which machine.

use std::collections::BTreeSet;

use maud::{Markup, html};
use syscost_results::Run;

use crate::sentence;

use super::{MAX_COLUMNS, key, letter, words};

/// How many machines the runs are of.
pub(super) fn machines(runs: &[&Run]) -> usize {
    let machines: BTreeSet<[&str; 5]> = runs.iter().map(|run| run.machine.identity()).collect();
    machines.len()
}

/// When a run began, after its host where the runs are of several machines.
pub(super) fn place(run: &Run, runs: &[&Run]) -> String {
    let time = words::time(&run.started);
    match machines(runs) {
        0 | 1 => time,
        _ => format!("{}, {time}", sentence::host(&run.machine.hostname)),
    }
}

/// The names of the runs in the legends of charts.
pub(super) fn names(runs: &[&Run]) -> Vec<String> {
    let all = runs.iter().enumerate();
    let name = |(index, run): (usize, &&Run)| format!("{}: {}", letter(index), place(run, runs));
    all.map(name).collect()
}

/// The run of this index: its letter while runs are columns, else its place.
pub(super) fn whose(index: usize, runs: &[&Run]) -> Markup {
    let is_last = index + 1 == runs.len();
    html! {
        @if runs.len() <= MAX_COLUMNS { (key(index)) } @else {
            @if is_last { "the last run, " } @else { "not of the last run but of that of " }
            (place(runs[index], runs))
        }
    }
}
