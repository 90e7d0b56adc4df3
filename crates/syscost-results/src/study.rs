//! Published experiments, as a document has those of the user.
//!
//! A [`Study`] is data: the machines it was made on, its quantities with their published figures,
//! the rows of the catalogue that repeat its procedure and those that measure the same by syscost's
//! method, and what each name claims. The crate syscost-studies reads one from TOML, and compares
//! a run with it.

mod printed;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::Unit;
use crate::row_name::parameters;

pub use printed::{Printed, SCALES};

/// One published experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Study {
    /// Its name in commands, e.g. `call-and-switch`.
    pub id: String,
    /// Its subject, in a few words.
    pub title: String,
    /// Title of the published text, and what kind of text it is.
    pub source: String,
    /// What was measured and how, in a paragraph of our own words.
    pub about: String,
    /// Which cycles it counts.
    #[serde(default)]
    pub cycles: Cycles,
    /// The compiler's flags for its programs, as published.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub flags: String,
    /// The machines of the published figures.
    #[serde(default, rename = "machine")]
    pub machines: Vec<StudyMachine>,
    /// What was measured, in the order of the published tables.
    #[serde(default, rename = "quantity")]
    pub quantities: Vec<Quantity>,
    /// The ratios that the text draws.
    #[serde(default, rename = "ratio")]
    pub ratios: Vec<Ratio>,
    /// Where the published figures or conclusions mislead.
    #[serde(default, rename = "doubt")]
    pub doubts: Vec<Doubt>,
    /// What cannot be repeated here, and what replaces it.
    #[serde(default, rename = "not_here")]
    pub not_here: Vec<NotHere>,
    /// Questions to a reader who has repeated it, for a report to hand in.
    #[serde(default, rename = "question", skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<String>,
    /// Charts of the study's page.
    #[serde(default, rename = "chart")]
    pub charts: Vec<Chart>,
}

/// What a study counts as cycles.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cycles {
    /// Of the core, at the frequency it runs at.
    #[default]
    Core,
    /// Of the time-stamp counter, which ticks evenly.
    Tsc,
}

/// A machine of published figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StudyMachine {
    /// The name its figures use.
    pub id: String,
    /// Processor and system as published.
    pub name: String,
    /// The clock that the text states, in GHz, used to convert cycles. Absent if none is stated.
    pub clock_ghz: Option<f64>,
    /// The time of a cycle in ns by which its printed times were computed, if it is not the clock's:
    /// a rounded one.
    pub cycle_ns: Option<f64>,
    /// Remarks on it.
    pub note: Option<String>,
}

/// One measured quantity.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quantity {
    /// Unique in its study, e.g. `getpid`.
    pub id: String,
    /// As the study names it.
    pub title: String,
    /// The heading of its table, e.g. `System calls`.
    pub table: String,
    /// The unit of `value` in its figures and of its rows.
    pub unit: Unit,
    /// How it was measured, in one or two sentences.
    pub procedure: String,
    /// The row that repeats the procedure; absent if it cannot be repeated. A parameter that only a
    /// run determines has the value `*`: the directory, or the address family of a far end (see
    /// [`means`]).
    pub as_published: Option<String>,
    /// A C file that repeats the procedure, by its path from the study's file: compiled when the study is
    /// run, with the study's `flags`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// A command that repeats the procedure and prints its result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Vec<String>>,
    /// The unit of a number that either of them prints alone: `ns` if not given, `us`, `ms`, `s` or
    /// `cycles` (ticks of the processor's counter).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prints: Option<String>,
    /// The row that measures the same by syscost's method, named in the same way; absent if there
    /// is none.
    pub ours: Option<String>,
    /// The factor for that row's figure if it is of something else: 0.5 for a round trip that is
    /// two switches.
    pub ours_scale: Option<f64>,
    /// Whether that row measures what the quantity's name says, where the published procedure does
    /// not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ours_is_named: bool,
    /// What was published.
    #[serde(default)]
    pub published: Vec<Figure>,
    /// What the quantity's name claims, to be checked against what was counted.
    #[serde(default, rename = "claim")]
    pub claims: Vec<NameClaim>,
    /// Why the published procedure may give another number than syscost's, each with the count that
    /// shows it.
    #[serde(default, rename = "reason")]
    pub reasons: Vec<Reason>,
}

/// Why the published procedure gives more or less than syscost's method, if a count shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    /// A claim of the row's evidence, by its id or its words, or one of its details. One in ns or, as a share of the figure, in
    /// percent is the amount by which the reason acts if it has no bounds; it explains differences of
    /// half to twice as much.
    pub counted: String,
    /// Words that what was observed contains, e.g. a compiler's flag: instead of bounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub says: Option<String>,
    /// The least count that shows it.
    pub at_least: Option<f64>,
    /// The largest count that shows it.
    pub at_most: Option<f64>,
    /// Whether the count is also the most, as an amount, by which the reason acts: a larger difference
    /// is not explained.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub up_to: bool,
    /// In which direction it acts: only differences in that direction are explained.
    pub acts: Acts,
    /// The reason, following a colon; `{}` is the count, `{name}` another one of the row's.
    pub text: String,
}

/// What a reason makes of the published procedure's figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Acts {
    /// More than syscost's method gives.
    More,
    /// Less.
    Less,
}

/// A ratio of two quantities, which the text draws or which its quantities are measured for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ratio {
    /// What to what, e.g. `system call : function call`.
    pub title: String,
    /// Id of the first quantity.
    pub of: String,
    /// Id of the second quantity, in the same unit.
    pub to: String,
    /// What the text says of it, in its own words; absent if nothing.
    pub words: Option<String>,
}

/// One published figure.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Id of the machine.
    pub machine: String,
    /// The figure in the quantity's unit, or with one of its own.
    pub value: Option<Printed>,
    /// The figure in cycles.
    pub cycles: Option<Printed>,
    /// The cycles that were meant, where those printed are a misprint.
    pub meant: Option<Printed>,
    /// The figure in words, if it is not a single number, e.g. `2 to 3`.
    pub words: Option<String>,
    /// Single results that the text prints, in cycles if `cycles` is given, else in the quantity's
    /// unit; their mean should be the figure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<Printed>,
    /// Where in the text, e.g. `Table 1`.
    pub place: String,
    /// What is doubtful about it.
    pub doubt: Option<String>,
}

/// What a quantity's name claims about a row, in terms of what was counted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NameClaim {
    /// A claim of the row's evidence, by its id or its words, e.g. `getpid system calls per operation`,
    /// or one of its details.
    pub counted: String,
    /// The minimum that the name allows.
    pub at_least: Option<f64>,
    /// The maximum that the name allows.
    pub at_most: Option<f64>,
    /// What to say if the count agrees, in a short sentence; `{}` is the count, `{name}` another one
    /// of the row's.
    pub holds: Option<String>,
    /// What to say if it does not.
    pub broken: String,
}

/// Where the published text misleads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Doubt {
    /// What is wrong, and why.
    pub text: String,
    /// Ids of the quantities whose rows show it.
    #[serde(default)]
    pub shown_by: Vec<String>,
}

/// What cannot be repeated here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NotHere {
    /// What it is.
    pub what: String,
    /// Why not.
    pub why: String,
    /// What replaces it; absent if nothing does.
    pub instead: Option<String>,
}

/// A chart of some quantities of a study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chart {
    /// Its heading.
    pub title: String,
    /// What it draws.
    pub kind: ChartKind,
    /// Ids of the quantities it draws.
    pub quantities: Vec<String>,
}

/// What a chart of a study draws.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChartKind {
    /// Bars in a group for each quantity: of each published machine, of the same procedure here, and
    /// of syscost's method.
    Machines,
    /// How often each value occurred: the histogram of the quantity's row.
    Distribution,
    /// The quantities as points of a curve, in their order: published, as published here, and ours.
    Curve,
}

/// Whether a row that a study refers to as `meant` is the row `name`: the same benchmark with the
/// same parameters in the same order, where those given as `*` have any value.
pub fn means(meant: &str, name: &str) -> bool {
    let (Some((meant_id, _)), Some((id, _))) = (meant.split_once('{'), name.split_once('{')) else {
        return meant == name;
    };
    let meant_all: Vec<(&str, &str)> = parameters(meant).collect();
    let all: Vec<(&str, &str)> = parameters(name).collect();
    let mut pairs = meant_all.iter().zip(&all);
    meant_id == id
        && meant_all.len() == all.len()
        && pairs.all(|((key, value), (other_key, other))| {
            key == other_key && (*value == "*" || value == other)
        })
}

impl Quantity {
    /// Whether a program or a command of the study itself repeats it.
    pub fn is_own(&self) -> bool {
        self.program.is_some() || self.command.is_some()
    }
}

impl Study {
    /// The distinct names of the rows it is judged by, with `*` for what only a run determines.
    pub fn rows(&self) -> BTreeSet<&str> {
        self.quantities
            .iter()
            .flat_map(|quantity| [&quantity.as_published, &quantity.ours])
            .filter_map(|row| row.as_deref())
            .collect()
    }

    /// Whether it is judged by the row with this name.
    pub fn is_judged_by(&self, name: &str) -> bool {
        self.rows().into_iter().any(|meant| means(meant, name))
    }

    /// The rows that come first, in tiers: those of its curves, which say nothing with points left out,
    /// and those of all other quantities with published figures.
    pub fn tiers(&self) -> [Vec<String>; 2] {
        let curves = self.charts.iter();
        let curves = curves.filter(|chart| chart.kind == ChartKind::Curve);
        let drawn: Vec<&String> = curves.flat_map(|chart| &chart.quantities).collect();
        let rows = |is_meant: &dyn Fn(&Quantity) -> bool| {
            let meant = self.quantities.iter().filter(|one| is_meant(one));
            let rows = meant.flat_map(|one| [&one.as_published, &one.ours]);
            rows.flatten().cloned().collect()
        };
        [
            rows(&|one| drawn.contains(&&one.id)),
            rows(&|one| !one.published.is_empty()),
        ]
    }

    /// The machine with this id.
    pub fn machine(&self, id: &str) -> Option<&StudyMachine> {
        self.machines.iter().find(|machine| machine.id == id)
    }

    /// The quantity with this id.
    pub fn quantity(&self, id: &str) -> Option<&Quantity> {
        self.quantities.iter().find(|quantity| quantity.id == id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_what_the_run_decides() {
        let meant = "fs.read{dir=*,cache=cold,size=4K}";
        assert!(means(meant, "fs.read{dir=/mnt/a,cache=cold,size=4K}"));
        for other in [
            "fs.read{dir=default,cache=warm,size=4K}",
            "fs.read{dir=default,cache=cold,size=4K,op=x}",
            "fs.read_mmap{dir=default,cache=cold,size=4K}",
            "fs.read",
        ] {
            assert!(!means(meant, other), "{other}");
        }
        assert!(means("syscall.null", "syscall.null"));
        assert!(!means("syscall.null", "syscall.null{call=getpid}"));
    }
}
