//! Compares two sides of runs, row by row.

use schemars::JsonSchema;
use serde::Serialize;

use crate::{Better, Unit};

/// What became of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// It changed for the worse, by more than the margin.
    Worse,
    /// It changed for the better, by more than the margin.
    Better,
    /// The samples do not tell.
    Inconclusive,
    /// Any change is within the margin.
    Same,
}

/// The comparison of two sides.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Comparison {
    /// What is compared with.
    pub base: Side,
    /// What is compared.
    pub new: Side,
    /// Facts of machine and program that differ, the likeliest explanations first.
    pub facts: Vec<Difference>,
    /// Compared rows, what matters most first: Worse, Better, Inconclusive, Same, each by how far the ratio is from 1.
    pub rows: Vec<Row>,
    /// Rows on both sides that must not be compared, with the reason.
    pub refused: Vec<Refused>,
    /// Rows on one side only, or without a number on one side.
    pub missing: Vec<Missing>,
}

/// One side of a comparison: one run, or several pooled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Side {
    /// Ids of the pooled runs.
    pub runs: Vec<String>,
    /// When the first of them began, RFC 3339, UTC.
    pub started: String,
    /// Host name of the first.
    pub hostname: String,
    /// Version of the program that measured the first.
    pub version: String,
}

/// A fact that differs between the sides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Difference {
    /// Its name in the run document, e.g. `machine.kernel`.
    pub fact: String,
    /// On the base's side; null if it is not known or absent.
    pub base: Option<String>,
    /// On the new side.
    pub new: Option<String>,
}

/// One compared row.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Row {
    /// Name of the row, e.g. `syscall.null{call=getppid}`.
    pub name: String,
    /// Id of its benchmark.
    pub id: String,
    /// Unit of `base` and `new`.
    pub unit: Unit,
    /// Which direction is good.
    pub better: Better,
    /// Median of the base's side, in `unit`.
    pub base: f64,
    /// Median of the new side, in `unit`.
    pub new: f64,
    /// New by base.
    pub ratio: f64,
    /// Lower end of the ratio's 95 % confidence interval; null with too few rounds on a side.
    pub ci95_low: Option<f64>,
    /// Upper end of it.
    pub ci95_high: Option<f64>,
    /// Changes of the ratio up to this share are called the same: the larger of 2 % and the metric's own A/A spread.
    pub margin: f64,
    /// Chance of so large a difference of the process medians if nothing had changed (Mann-Whitney), before correction for
    /// the number of rows; null with too few rounds.
    pub p_value: Option<f64>,
    /// What follows.
    pub verdict: Change,
}

/// A row that must not be compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Refused {
    /// Name of the row.
    pub name: String,
    /// Why not, e.g. that its definition changed.
    pub reason: String,
}

/// A row that one side lacks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Missing {
    /// Name of the row.
    pub name: String,
    /// Which side lacks it and why, e.g. `withheld on the new side`.
    pub reason: String,
}
