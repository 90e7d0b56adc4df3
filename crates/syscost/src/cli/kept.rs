//! Arguments of the commands that read kept runs and print or draw them.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::form;
use crate::{Failed, references};

/// Arguments of `show`.
#[derive(Debug, Args)]
#[command(override_usage = "syscost show [OPTIONS] [RUN] [SELECTOR|WORDS]...")]
#[command(after_help = "\
Examples:
  syscost show                       the latest run
  syscost show before memory         the rows of a group, of a run by its tag
  syscost show latest --summary      what a run of everything ends with
  syscost show syscall.null -v       with evidence and details")]
pub struct ShowArguments {
    /// The run: a document, `latest`, an id or a tag; may be left out before rows: `syscost show syscall`
    #[arg(value_name = "RUN", default_value = "latest")]
    pub run: String,
    /// Only these groups, ids, rows or patterns, or what is found by these words: `page fault`, `lat_ctx`
    #[arg(value_name = "SELECTOR|WORDS")]
    pub selectors: Vec<String>,
    /// The summary that a run without a selection ends with, in place of the table: what people look at first, beside a reference
    #[arg(long, conflicts_with_all = ["selectors", "verbose", "format"])]
    pub summary: bool,
    /// Another run beside it.
    #[command(flatten)]
    pub beside: BesideArgument,
    /// Show the evidence, flags and details of every row
    #[arg(short, long)]
    pub verbose: bool,
    /// What to print
    #[arg(long, value_enum, default_value_t = ShowFormat::Table)]
    pub format: ShowFormat,
}

/// Another run, beside the one that is printed.
#[derive(Debug, Default, Args)]
pub struct BesideArgument {
    /// The run whose figures stand beside the numbers.
    #[arg(id = "beside", long, value_name = "REFERENCE", help = beside_help())]
    pub name: Option<String>,
}

fn beside_help() -> String {
    format!(
        "Show the figures of another run beside the numbers: a shipped reference, {}, or a document, an id or a tag. If not \
         given, the summary shows the shipped one of the nearest processor, and says how near it is; a table shows none",
        references::listed()
    )
}

/// What `show` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ShowFormat {
    /// Text for people; on a terminal by the pager that PAGER names, or less
    Table,
    /// The run's document, with the rows shown
    Json,
}

/// Arguments of `report`.
#[derive(Debug, Args)]
#[command(override_usage = "syscost report [OPTIONS] [RUN]...")]
#[command(after_help = "\
Examples:
  syscost report -o report.html      the latest run
  syscost report before after        two sides, compared: all runs of each tag
  syscost report latest --history    with every row over time
  syscost report --anonymous --share my-machine.json.gz")]
pub struct ReportArguments {
    /// The runs, side by side: documents, `latest`, ids or tags
    #[arg(value_name = "RUN", default_value = "latest")]
    pub runs: Vec<String>,
    /// The page to write
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    pub output: PathBuf,
    /// Add every row over time, from the kept runs of the last run's machine
    #[arg(long)]
    pub history: bool,
    /// Draw the samples of each row, and with many runs each row over the runs; makes the page
    /// several times as large
    #[arg(long)]
    pub samples: bool,
    /// Leave out what identifies the machine's owner: host names, addresses, paths, the kernel's
    /// command line, the environment
    #[arg(long)]
    pub anonymous: bool,
    /// With --anonymous: write no page but this run's numbers and machine, to be sent as a reference. They are a packed
    /// document (`.gz`) of a full or careful run of all rows
    #[arg(long, value_name = "FILE", requires = "anonymous", conflicts_with_all = ["output", "history", "samples"])]
    pub share: Option<PathBuf>,
}

/// Arguments of `plot`.
#[derive(Debug, Clone, Args)]
#[command(override_usage = "syscost plot [OPTIONS] [RUN|SELECTOR]...")]
#[command(after_help = "\
Examples:
  syscost plot memory.latency                         in the terminal
  syscost plot latest~1 latest context switch -o s.svg
  syscost plot numbers -o numbers.pdf --theme dark")]
pub struct PlotArguments {
    /// The runs, in one chart: documents, `latest`, ids, or tags, whose runs are pooled; the latest if none is given. After
    /// them, what to draw: groups, ids, rows or patterns, or what is found by these words:
    /// `context switch`; `numbers` for the numbers every programmer should know
    #[arg(value_name = "RUN|SELECTOR")]
    pub words: Vec<String>,
    /// The picture to write: FILE.svg, FILE.pdf, or FILE.png with two pixels for each CSS pixel; `-` is
    /// SVG on standard output. Without it the chart is drawn in the terminal
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Kind of chart; chosen to suit the rows if not given
    #[arg(long, value_enum)]
    pub kind: Option<PlotKind>,
    /// Background that the chart is for
    #[arg(long, value_enum, default_value_t = PlotTheme::Light)]
    pub theme: PlotTheme,
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
    /// A line over a numeric parameter of the case.
    Curve,
    /// A cell for each pair of two parameters.
    Heatmap,
}

/// Arguments of `export`.
#[derive(Debug, Args)]
#[command(override_usage = "syscost export [OPTIONS] [RUN|SELECTOR]...")]
#[command(after_help = "\
docs/export.md describes every format: its columns, units and an example of use.

  syscost export -o run.csv
  syscost export before after syscall --format jsonl
  syscost export nodes/ --format parquet -o tables")]
pub struct ExportArguments {
    /// The runs: documents, folders of them, `latest`, ids or tags; only one for bencher, the latest
    /// of each host for openmetrics; the latest if none is given. After them, only these groups,
    /// ids, rows or patterns, or what is found by these words
    #[arg(value_name = "RUN|SELECTOR")]
    pub words: Vec<String>,
    /// The format; by default that of the file's ending: csv, md, jsonl, prom or ktap
    #[arg(long, value_enum, required_unless_present = "output")]
    pub format: Option<ExportFormat>,
    /// Write to this file (a directory for parquet) instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

impl ExportArguments {
    /// The format given, or the one that the file's ending means.
    pub fn form(&self) -> Result<ExportFormat, Failed> {
        let by_ending = [
            ("csv", ExportFormat::Csv),
            ("md", ExportFormat::Markdown),
            ("jsonl", ExportFormat::Jsonl),
            ("prom", ExportFormat::Openmetrics),
            ("ktap", ExportFormat::Ktap),
        ];
        form(
            "exports have",
            self.format,
            self.output.as_deref(),
            &by_ending,
        )
    }
}

/// The format of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// A line for each row.
    Csv,
    /// Tables for documents.
    Markdown,
    /// A JSON object for each row, one a line.
    Jsonl,
    /// Tables `runs`, `measurements` and `samples`, a file each.
    Parquet,
    /// For Prometheus, e.g. the node exporter's textfile collector.
    Openmetrics,
    /// Bencher Metric Format.
    Bencher,
    /// Kernel Test Anything Protocol.
    Ktap,
}
