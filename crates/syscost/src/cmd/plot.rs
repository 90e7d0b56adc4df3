//! `syscost plot`: draws one chart, for papers and documents.

use std::ffi::OsStr;
use std::path::Path;
use std::slice;

use anyhow::{Result, bail};
use syscost_harness::Testbed;
use syscost_report::chart::rows::{Chosen, Kind, LeftOut, NoChart, choose};
use syscost_report::chart::{
    self, Bar, Border, Chart, Labels, TextOptions, Theme, Value, caption, draw, text,
};
use syscost_report::sentence;
use syscost_results::numbers::{Number, Numbers, numbers, side_by_side};
use syscost_results::overview::{Overview, of_shared_caches, overview};
use syscost_results::{Measurement, Run, Unit, row_name};

use crate::cli::{PlotArguments, PlotKind, PlotTheme};
use crate::error::exit;
use crate::selection::{self, rows_of};
use crate::{
    Failed, files, kept, parts,
    terminal::{self, note},
};

/// The name that means the numbers every programmer should know.
const NUMBERS: &str = "numbers";

/// What is drawn: runs, and the names of rows.
struct Meant {
    /// One for each name: those of a tag pooled.
    runs: Vec<Run>,
    /// What those of a tag are called.
    tags: Vec<Option<String>>,
    rows: Vec<String>,
}

/// Runs the command.
pub(crate) fn run(arguments: &PlotArguments) -> Result<u8> {
    let Some(output) = &arguments.output else {
        let (chosen, labels) = chosen(&find(arguments)?, arguments)?;
        super::print(&characters(&chosen, &labels))?;
        return Ok(exit::DONE);
    };
    let form = Form::of(output)?;
    files::check_writable(output)?;
    let (chosen, labels) = chosen(&find(arguments)?, arguments)?;
    let theme = match arguments.theme {
        PlotTheme::Light => Theme::Light,
        PlotTheme::Dark => Theme::Dark,
    };
    let svg = draw(&chosen.chart, chosen.unit, &labels, theme).into_string();
    let picture = match form {
        Form::Svg => format!("{svg}\n").into_bytes(),
        Form::Pdf => parts::pdf(&svg)?,
        Form::Png => parts::png(&svg)?,
    };
    files::write(output, &picture)?;
    let lacking = match form {
        Form::Svg => None,
        Form::Pdf | Form::Png => parts::lacking_letters(&svg),
    };
    if let Some(lacking) = lacking {
        note!("{lacking}");
    }
    if output.as_os_str() != "-" {
        note!("Wrote {}", output.display());
    }
    Ok(exit::DONE)
}

/// The form of a picture.
#[derive(Debug, Clone, Copy)]
enum Form {
    Svg,
    Pdf,
    Png,
}

impl Form {
    /// The form that a file's ending names; SVG for standard output.
    fn of(output: &Path) -> Result<Self, Failed> {
        match output.extension().and_then(OsStr::to_str) {
            Some("svg") => Ok(Form::Svg),
            Some("pdf") => Ok(Form::Pdf),
            Some("png") => Ok(Form::Png),
            _ if output.as_os_str() == "-" => Ok(Form::Svg),
            _ => Err(Failed::Usage(format!(
                "plot writes SVG, PDF and PNG; give a file that ends in .svg, .pdf or .png, or - for \
                 SVG on standard output, not {}",
                output.display()
            ))),
        }
    }
}

/// Finds the runs to draw; the latest one means the latest that has these rows.
fn find(arguments: &PlotArguments) -> Result<Meant> {
    let are_rows =
        |words: &[String]| words == [NUMBERS] || selection::rows(words, &Testbed::plain()).is_ok();
    let (names, rows) = kept::all_meant("plot", &arguments.words, are_rows)?;
    if rows.is_empty() {
        // What is no run is said first.
        names
            .iter()
            .try_for_each(|name| kept::run(name).map(drop))?;
        let words = "name what to draw: rows, as `syscost plot syscall.null` does, or `numbers`";
        return Err(Failed::Usage(words.to_owned()).into());
    }
    let is_of_numbers = rows == [NUMBERS];
    let lacks = |run: &Run| match is_of_numbers {
        true => (!numbers(run).are_many()).then(|| "has few of these numbers".to_owned()),
        false => kept::lacks_rows(run, &rows),
    };
    let mut tags = Vec::new();
    let mut runs = Vec::new();
    let mut all = Vec::new();
    for name in &names {
        let ids = kept::several(slice::from_ref(name));
        let tagged = ids.iter().map(|id| kept::find(id, lacks));
        let tagged = tagged.collect::<Result<Vec<Run>>>()?;
        runs.extend(Run::pooled(&tagged));
        all.extend(tagged);
        tags.push((ids.len() > 1).then(|| format!("{name} ({} runs)", ids.len())));
    }
    kept::distinct(&all)?;
    Ok(Meant { runs, tags, rows })
}

/// Draws the requested chart for the terminal.
fn characters(chosen: &Chosen, labels: &Labels) -> String {
    let options = TextOptions {
        width: terminal::width(),
        color: true,
    };
    text(&chosen.chart, chosen.unit, labels, options)
}

/// Returns the requested chart of the runs, and its labels.
fn chosen(meant: &Meant, arguments: &PlotArguments) -> Result<(Chosen, Labels)> {
    let Meant { runs, tags, rows } = meant;
    let (mut names, mut source) = names_and_source(runs);
    for (name, tag) in names.iter_mut().zip(tags) {
        if let Some(tag) = tag {
            name.clone_from(tag);
        }
    }
    let chosen = if *rows == [NUMBERS] {
        headline(runs, arguments.kind)?
    } else {
        let of = runs.iter().map(|run| rows_of(run, &run.id, rows));
        let of = of.collect::<Result<Vec<_>>>()?;
        // A usage error: other rows, another kind or another run must be given.
        let mut chosen = choose(&of, arguments.kind.map(Kind::from))
            .map_err(|error| Failed::Usage(error.to_string()))?;
        chosen.mark(&borders(&of, runs));
        chosen
    };
    for LeftOut { run, name, reason } in &chosen.left_out {
        match names.get(*run) {
            Some(run) => note!("not drawn: {name} of {run} ({reason})"),
            None => note!("not drawn: {name} ({reason})"),
        }
    }
    source.push(shown(&chosen.chart, arguments));
    if !chosen.left_out.is_empty() {
        let rows = chosen.left_out.len();
        source.push(sentence::agreeing(
            rows,
            "# row[s] without a number not drawn",
        ));
    }
    if let Some(run) = runs.last() {
        source.push(format!("syscost {}", run.tool.version));
    }
    let labels = Labels {
        title: chosen.title.clone(),
        description: caption(&chosen.chart),
        source: source.join(" · "),
        runs: names,
    };
    Ok((chosen, labels))
}

/// The caches that were found, if what is drawn is the latency of loads alone.
fn borders(rows: &[Vec<&Measurement>], runs: &[Run]) -> Vec<Border> {
    let all: Vec<Overview<'_>> = runs.iter().map(|run| overview(run, None)).collect();
    let id = all.iter().find_map(|one| Some(&one.curve.first()?.row.id));
    let mut drawn = rows.iter().flatten();
    let found = of_shared_caches(&all).filter(|_| drawn.all(|row| Some(&row.id) == id));
    found.map_or_else(Vec::new, |found| chart::borders(&found.caches))
}

/// Charts the numbers every programmer should know as bars.
fn headline(runs: &[Run], kind: Option<PlotKind>) -> Result<Chosen> {
    if kind.is_some_and(|kind| kind != PlotKind::Bars) {
        return Err(
            Failed::Usage("`numbers` is drawn as bars only; leave --kind out".to_owned()).into(),
        );
    }
    let lists: Vec<Numbers> = runs.iter().map(numbers).collect();
    let mut lines: Vec<Vec<(usize, &Number, Value)>> = Vec::new();
    for line in side_by_side(&lists) {
        let drawn = line.into_iter().enumerate().filter_map(|(run, number)| {
            let number = number?;
            let value = Value {
                median: number.median_ns?,
                low: number.ci95_low_ns,
                high: number.ci95_high_ns,
            };
            Some((run, number, value))
        });
        lines.push(drawn.collect());
    }
    let first = lines.iter().filter_map(|line| line.first());
    let titles: Vec<&str> = first.map(|(_, number, _)| number.title.as_str()).collect();
    let bars = lines.iter().flat_map(|line| {
        let label = line
            .first()
            .map_or_else(String::new, |(_, number, _)| label(number, &titles));
        let bar = move |&(run, _, value): &(usize, &Number, Value)| Bar {
            label: label.clone(),
            run,
            value,
        };
        line.iter().map(bar)
    });
    let bars: Vec<Bar> = bars.collect();
    if bars.is_empty() {
        let reasons = NoChart::NoNumbers("the run measured nothing of the list".to_owned());
        bail!(reasons);
    }
    Ok(Chosen {
        chart: Chart::Bars(bars),
        unit: Unit::Nanoseconds,
        title: "Latency numbers every programmer should know".to_owned(),
        left_out: Vec::new(),
    })
}

/// The name of a line of the list: with the parameters of its row if another line, of another row, has
/// the same title.
fn label(number: &Number, titles: &[&str]) -> String {
    let title = &number.title;
    let is_alone = titles.iter().filter(|other| *other == title).count() == 1;
    match number.row.as_deref().filter(|_| !is_alone) {
        Some(row) => format!("{title}, {}", row_name::case(row).unwrap_or(row)),
        None => title.clone(),
    }
}

/// What a chart shows; in characters there are no intervals.
fn shown(chart: &Chart, arguments: &PlotArguments) -> String {
    match (chart, &arguments.output) {
        (Chart::Bars(_) | Chart::Curve { .. } | Chart::Heatmap { .. }, None) => {
            "Median of each row".to_owned()
        }
        _ => caption(chart),
    }
}

/// What tells several runs apart, as their names, and what they have in common, or all that is
/// known of one.
fn names_and_source(runs: &[Run]) -> (Vec<String>, Vec<String>) {
    let facts = |run: &Run| {
        let machine = &run.machine;
        let host = if runs.len() > 1 {
            &machine.hostname
        } else {
            ""
        };
        let hypervisor = machine.hypervisor.name().unwrap_or_default();
        [
            sentence::fact(host),
            sentence::fact(machine.cpu_model.trim()),
            sentence::fact(hypervisor),
            sentence::fact(&machine.kernel),
            sentence::time(&run.started),
        ]
    };
    let all: Vec<[String; 5]> = runs.iter().map(facts).collect();
    let is_common = |index: usize| all.iter().all(|facts| facts[index] == all[0][index]);
    let joined = |facts: &[String; 5], common: bool| {
        let parts = facts.iter().enumerate();
        let parts = parts.filter(|(index, part)| is_common(*index) == common && !part.is_empty());
        let parts: Vec<&str> = parts.map(|(_, part)| part.as_str()).collect();
        parts.join(", ")
    };
    let told: Vec<String> = all.iter().map(|facts| joined(facts, false)).collect();
    let name = |(index, name): (usize, &String)| {
        // Runs that began in the same minute, on one machine.
        let is_alone = told.iter().filter(|other| *other == name).count() == 1;
        match (is_alone, name.as_str()) {
            (true, _) => name.clone(),
            (false, "") => runs[index].id.clone(),
            (false, _) => format!("{name} {}", runs[index].id),
        }
    };
    let mut names: Vec<String> = told.iter().enumerate().map(name).collect();
    if runs.len() < 2 {
        names.clear();
    }
    let mut source: Vec<String> = all
        .iter()
        .take(1)
        .map(|facts| joined(facts, true))
        .collect();
    source.retain(|part| !part.is_empty());
    (names, source)
}

impl From<PlotKind> for Kind {
    fn from(kind: PlotKind) -> Self {
        match kind {
            PlotKind::Bars => Kind::Bars,
            PlotKind::Ecdf => Kind::Ecdf,
            PlotKind::Curve => Kind::Curve,
            PlotKind::Heatmap => Kind::Heatmap,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_one_title_are_told_apart_by_their_rows() {
        let number = Number {
            title: "read".to_owned(),
            row: Some("memory.read{simd=sse2}".to_owned()),
            ..Number::default()
        };
        for (titles, name) in [
            (&["call", "read"][..], "read"),
            (&["read", "read"], "read, simd=sse2"),
        ] {
            assert_eq!(label(&number, titles), name);
        }
    }
}
