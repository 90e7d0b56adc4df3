//! Arguments of `plot`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::parameter;

/// Arguments of `plot`.
#[derive(Debug, Clone, Args)]
#[command(override_usage = "syscost plot [OPTIONS] [RUN] [SELECTOR|WORDS]...")]
pub struct PlotArguments {
    /// The run: a document, `latest`, an id or a tag; may be left out before rows: `syscost plot syscall`
    #[arg(value_name = "RUN", default_value = "latest")]
    pub run: String,
    /// What to draw: groups, ids, rows or patterns, or what is found by these words:
    /// `context switch`; `numbers` for the numbers every programmer should know
    #[arg(value_name = "SELECTOR|WORDS")]
    pub names: Vec<String>,
    /// Only rows that have this parameter, e.g. `size=64K`; may be repeated: several values of one
    /// key mean any of them
    #[arg(long = "case", value_name = "KEY=VALUE", value_parser = parameter)]
    pub cases: Vec<String>,
    /// The SVG picture to write, FILE.svg; `-` is standard output. Without it the chart is drawn in
    /// the terminal
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Kind of chart; chosen to suit the rows if not given
    #[arg(long, value_enum)]
    pub kind: Option<PlotKind>,
    /// Background that the chart is for
    #[arg(long, value_enum, default_value_t = PlotTheme::Light)]
    pub theme: PlotTheme,
    /// The chart's title; what its rows have in common if not given
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
}

/// The background that a chart is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PlotTheme {
    /// Paper and light pages.
    Light,
    /// Dark pages.
    Dark,
}

/// The kind of a chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PlotKind {
    /// A bar for each row, with its interval.
    Bars,
    /// The distribution of each row's samples.
    Ecdf,
    /// The density of each row's samples.
    Violin,
    /// A line over a numeric parameter of the case.
    Curve,
    /// A cell for each pair of two parameters.
    Heatmap,
}
