//! `syscost plot`: draws one chart, for papers and documents.

use anyhow::{Result, bail};
use syscost_benches::CATALOGUE;
use syscost_harness::Here;
use syscost_report::chart::rows::{Chosen, Kind, NoChart, choose};
use syscost_report::chart::{Bar, Chart, Labels, TextOptions, Theme, Value, caption, draw, text};
use syscost_results::numbers::numbers;
use syscost_results::{Run, Unit};

use crate::cli::{PlotArguments, PlotKind, PlotTheme};
use crate::error::exit;
use crate::selection::{self, names_of, rows_of, with_parameters};
use crate::{
    Failed, files, kept,
    terminal::{self, note},
};

/// The name that means the numbers every programmer should know.
const NUMBERS: &str = "numbers";

/// Runs the command.
pub(crate) fn run(arguments: &PlotArguments) -> Result<u8> {
    let are_rows =
        |words: &[String]| words == [NUMBERS] || selection::rows(words, &Here::plain()).is_ok();
    let (run, names) = kept::meant("plot", &arguments.run, &arguments.names, are_rows)?;
    if names.is_empty() && arguments.cases.is_empty() {
        // What is no run is said first.
        kept::run(&run)?;
        let words = "name what to draw: rows, as `syscost plot syscall.null` does, or `numbers`";
        return Err(Failed::Usage(words.to_owned()).into());
    }
    let arguments = &PlotArguments {
        run,
        names,
        ..arguments.clone()
    };
    let Some(output) = &arguments.output else {
        let run = find(arguments)?;
        super::print(&characters(&run, arguments)?)?;
        return Ok(exit::DONE);
    };
    let is_svg = output.extension().is_some_and(|ending| ending == "svg");
    if !is_svg && output.as_os_str() != "-" {
        return Err(Failed::Usage(format!(
            "plot writes SVG; give a file that ends in .svg, or - for standard output, not {}",
            output.display()
        ))
        .into());
    }
    files::check_writable(output)?;
    let run = find(arguments)?;
    let svg = svg(&run, arguments)?;
    files::write(output, svg.as_bytes())?;
    if is_svg {
        note!("Wrote {}", output.display());
    }
    Ok(exit::DONE)
}

/// Finds the run to draw; the latest one means the latest that has these rows.
fn find(arguments: &PlotArguments) -> Result<Run> {
    if is_of_numbers(arguments) {
        if !arguments.cases.is_empty() {
            let words = "`numbers` is a fixed list; leave --case out";
            return Err(Failed::Usage(words.to_owned()).into());
        }
        return kept::find(&arguments.run, |run| {
            let numbers = numbers(run, |id| CATALOGUE.find(id).is_some());
            (!numbers.are_many()).then(|| "has few of these numbers".to_owned())
        });
    }
    kept::find(&arguments.run, |run| {
        kept::lacks_rows(run, names_meant(run, arguments))
    })
}

/// Returns the names of rows to draw, with the parameters that they must have.
fn names_meant(run: &Run, arguments: &PlotArguments) -> Result<Vec<String>, Failed> {
    with_parameters(
        &arguments.names,
        &arguments.cases,
        names_of(run),
        &Here::plain(),
    )
}

/// Whether to draw the numbers every programmer should know instead of rows by name.
fn is_of_numbers(arguments: &PlotArguments) -> bool {
    arguments.names == [NUMBERS]
}

/// Draws the requested chart of a run as SVG.
///
/// # Errors
/// When no row has such a name, or the rows do not suit the chart.
pub(crate) fn svg(run: &Run, arguments: &PlotArguments) -> Result<String> {
    let (chosen, labels) = chosen(run, arguments)?;
    let theme = match arguments.theme {
        PlotTheme::Light => Theme::Light,
        PlotTheme::Dark => Theme::Dark,
    };
    let mut text = draw(&chosen.chart, chosen.unit, &labels, theme).into_string();
    text.push('\n');
    Ok(text)
}

/// Draws the requested chart of a run for the terminal.
fn characters(run: &Run, arguments: &PlotArguments) -> Result<String> {
    let (chosen, labels) = chosen(run, arguments)?;
    let options = TextOptions {
        width: terminal::width(),
        color: true,
    };
    text(&chosen.chart, chosen.unit, &labels, options).ok_or_else(|| {
        let words = "this kind of chart can only be drawn as a picture; write one with -o FILE.svg";
        Failed::Usage(words.to_owned()).into()
    })
}

/// Returns the requested chart of a run, and its labels.
fn chosen(run: &Run, arguments: &PlotArguments) -> Result<(Chosen, Labels)> {
    let chosen = if is_of_numbers(arguments) {
        headline(run, arguments.kind)?
    } else {
        let names = names_meant(run, arguments)?;
        let rows = rows_of(run, &arguments.run, &names)?;
        // A usage error: other rows, another kind or another run must be given.
        choose(&rows, arguments.kind.map(Kind::from))
            .map_err(|error| Failed::Usage(error.to_string()))?
    };
    for (name, reason) in &chosen.left_out {
        note!("not drawn: {name} ({reason})");
    }
    let left_out = match chosen.left_out.len() {
        0 => String::new(),
        1 => " · 1 row without a number not drawn".to_owned(),
        count => format!(" · {count} rows without a number not drawn"),
    };
    let title = arguments
        .title
        .clone()
        .unwrap_or_else(|| chosen.title.clone());
    let labels = Labels {
        title,
        description: caption(&chosen.chart),
        source: format!(
            "{}{left_out}",
            source(run, &shown(&chosen.chart, arguments))
        ),
    };
    Ok((chosen, labels))
}

/// Charts the numbers every programmer should know as bars.
fn headline(run: &Run, kind: Option<PlotKind>) -> Result<Chosen> {
    if kind.is_some_and(|kind| kind != PlotKind::Bars) {
        return Err(
            Failed::Usage("`numbers` is drawn as bars only; leave --kind out".to_owned()).into(),
        );
    }
    let numbers = numbers(run, |id| CATALOGUE.find(id).is_some());
    let bars: Vec<Bar> = numbers
        .by_time()
        .into_iter()
        .filter_map(|number| {
            Some(Bar {
                label: number.title.clone(),
                value: Value {
                    median: number.median_ns?,
                    low: number.ci95_low_ns,
                    high: number.ci95_high_ns,
                },
            })
        })
        .collect();
    if bars.is_empty() {
        let reasons = NoChart::NoNumbers(
            "the run measured nothing of the list; `syscost numbers` says why".to_owned(),
        );
        bail!(reasons);
    }
    Ok(Chosen {
        chart: Chart::Bars(bars),
        unit: Unit::Nanoseconds,
        title: "Latency numbers every programmer should know".to_owned(),
        left_out: Vec::new(),
    })
}

/// What a chart shows; in characters without intervals.
fn shown(chart: &Chart, arguments: &PlotArguments) -> String {
    match (chart, &arguments.output) {
        (Chart::Bars(_) | Chart::Curve { .. } | Chart::Heatmap { .. }, None) => {
            "medians".to_owned()
        }
        _ => caption(chart),
    }
}

/// The source line: machine, date, what is shown and program.
fn source(run: &Run, shown: &str) -> String {
    let machine = &run.machine;
    let day = run.started.get(..10).unwrap_or(&run.started);
    let mut parts = vec![
        machine.cpu_model.trim(),
        machine.hypervisor.as_deref().unwrap_or(""),
        &machine.kernel,
        day,
    ];
    parts.retain(|part| !part.is_empty());
    format!(
        "{} · {shown} · syscost {}",
        parts.join(", "),
        run.tool.version
    )
}

impl From<PlotKind> for Kind {
    fn from(kind: PlotKind) -> Self {
        match kind {
            PlotKind::Bars => Kind::Bars,
            PlotKind::Ecdf => Kind::Ecdf,
            PlotKind::Violin => Kind::Violin,
            PlotKind::Curve => Kind::Curve,
            PlotKind::Heatmap => Kind::Heatmap,
        }
    }
}
