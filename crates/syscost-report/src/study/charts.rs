//! Charts of a study: the same for terminals, for the page and as files.

use syscost_results::row_name::{number, parameters};
use syscost_results::study::{ChartKind, Cycles};
use syscost_results::{Run, Unit};
use syscost_studies::{JudgedFigure, View};

use super::{QuantityBy, Repeated};
use crate::chart::{self, Bar, Chart, GroupTexts, Labels, Line, Theme, Value};
use crate::document::{Drawn, Picture};
use crate::sentence::time;

/// A chart as a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figure {
    /// The study's id and the chart's place, without an ending: `three-costs-1`.
    pub name: String,
    /// The picture.
    pub svg: String,
}

/// The charts of a study for which there are figures.
pub fn figures(repeated: &Repeated, runs: &[&Run]) -> Vec<Figure> {
    let of_run = |(label, run): (&str, &&Run)| {
        let (model, began) = (&run.machine.cpu_model, time(&run.started));
        format!("{label}: {model}, {began}, syscost {}", run.tool.version)
    };
    let labels = repeated.by.iter().map(|(label, _)| label.as_str());
    let sources: Vec<String> = labels.zip(runs).map(of_run).collect();
    let source = sources.join("; ");
    let figure = pictures(repeated).into_iter().map(|picture| {
        let labels = Labels {
            title: picture.title.clone(),
            source: format!("{}\n{source}", picture.below())
                .trim_start()
                .to_owned(),
            ..Labels::default()
        };
        let svg = picture.svg(&labels, Theme::Light);
        Figure {
            name: picture.name,
            svg: svg.into_string() + "\n",
        }
    });
    figure.collect()
}

/// The charts of a study for which there are figures.
pub(crate) fn pictures(repeated: &Repeated) -> Vec<Picture> {
    if repeated.by.is_empty() {
        return Vec::new();
    }
    let charts = repeated.study.charts.iter();
    let drawn = charts.flat_map(|chart| {
        let mut all = repeated.quantities();
        all.retain(|one| chart.quantities.contains(&one.quantity.id));
        of(repeated, chart, &all)
    });
    let drawn = drawn.filter(|picture| !is_empty(&picture.drawn));
    let named = drawn.enumerate().map(|(index, picture)| Picture {
        name: format!("{}-{}", repeated.study.id, index + 1),
        ..picture
    });
    named.collect()
}

/// A chart; a distribution of several machines is one for each.
fn of(
    repeated: &Repeated,
    chart: &syscost_results::study::Chart,
    all: &[QuantityBy<'_>],
) -> Vec<Picture> {
    let Some(first) = all.first() else {
        return Vec::new();
    };
    let (title, unit) = (chart.title.clone(), first.quantity.unit);
    match chart.kind {
        ChartKind::Machines => {
            let is_in_cycles = is_in_cycles(all);
            let Machines {
                groups,
                figures,
                note,
            } = machines(all, is_in_cycles);
            let axis = match (is_in_cycles, repeated.study.cycles) {
                (false, _) => chart::axis_title(unit),
                (true, Cycles::Core) => "cycles of the core",
                (true, Cycles::Tsc) => "ticks of the time-stamp counter",
            };
            let texts = GroupTexts {
                names: names(repeated),
                axis: axis.to_owned(),
                figures,
            };
            vec![Picture {
                name: String::new(),
                title,
                unit: if is_in_cycles { Unit::Count } else { unit },
                drawn: Drawn::Groups(groups),
                texts,
                legend: Some(format!("Whiskers: {}.", intervals(all))),
                note,
            }]
        }
        ChartKind::Curve => {
            let picture = |(chart, note)| Picture {
                name: String::new(),
                title,
                unit,
                drawn: Drawn::Chart(chart),
                texts: GroupTexts::default(),
                legend: Some(format!("Bands: {}. Hollow dots have none.", intervals(all))),
                note,
            };
            curve(all).map(picture).into_iter().collect()
        }
        ChartKind::Distribution => {
            let histograms = (0..first.by.len()).filter_map(|run| {
                let mut of_run = all.iter().map(|one| one.by[run]);
                let (label, judged) = of_run.find(|(_, one)| !one.histogram.is_empty())?;
                let title = match first.by.len() {
                    1 => title.clone(),
                    _ => format!("{title}: {label}"),
                };
                Some(Picture {
                    name: String::new(),
                    title,
                    unit,
                    drawn: Drawn::Histogram(judged.histogram.clone()),
                    texts: GroupTexts::default(),
                    legend: None,
                    note: None,
                })
            });
            histograms.collect()
        }
    }
}

fn is_empty(drawn: &Drawn) -> bool {
    match drawn {
        Drawn::Histogram(bins) => bins.is_empty(),
        Drawn::Groups(groups) => groups.is_empty(),
        Drawn::Chart(Chart::Bars(bars)) => bars.is_empty(),
        Drawn::Chart(Chart::Curve { lines, .. }) => lines.iter().all(|line| line.points.len() < 2),
        Drawn::Chart(Chart::Ecdf(_) | Chart::Heatmap { .. } | Chart::OverRuns { .. }) => false,
    }
}

/// All names in a study's charts, in the order of their colours: this machine has the same in all.
fn names(repeated: &Repeated) -> Vec<String> {
    let here: Vec<&str> = match repeated.only() {
        Some(_) => vec![HERE, METHOD],
        None => repeated
            .by
            .iter()
            .map(|(label, _)| label.as_str())
            .collect(),
    };
    let machines = repeated.study.machines.iter();
    let machines = machines.map(|machine| machine.id.as_str());
    here.into_iter()
        .chain(machines)
        .map(str::to_owned)
        .collect()
}

/// What the intervals are that are drawn.
fn intervals(all: &[QuantityBy<'_>]) -> String {
    let figures = all.iter().flat_map(here);
    let figures = figures.filter_map(|(label, view)| Some((label, view?)));
    let drawn: Vec<(&str, &View)> = figures
        .filter(|(_, view)| !view.may_be_nothing() && drawn(view).low.is_some())
        .collect();
    let of_results = || drawn.iter().filter(|(label, _)| *label != METHOD);
    let is_half = |(_, view): &&(&str, &View)| view.is_middle_half();
    let results = match of_results().filter(is_half).count() {
        0 => "the range of the results",
        halves if halves == of_results().count() => "the middle half of the results",
        _ => "the middle half of the results where they are many, their range where they are few",
    };
    match drawn.iter().any(|(label, _)| *label == METHOD) {
        true => format!("{results}, and the 95 % confidence interval of syscost's figure"),
        false => results.to_owned(),
    }
}

/// A figure with its interval; one that reaches zero has no place on a logarithmic axis.
fn drawn(view: &View) -> Value {
    let ends = view.low.zip(view.high);
    let ends = ends.filter(|(low, high)| *low > 0.0 && high > low);
    Value {
        median: view.value,
        low: ends.map(|(low, _)| low),
        high: ends.map(|(_, high)| high),
    }
}

/// The names of the procedure's result and of syscost's method in a chart.
const HERE: &str = "here";
const METHOD: &str = "syscost";

/// The results that the verdict compares, with their names in a chart: of one run also by syscost's
/// method; of several, each machine's.
fn here<'s>(one: &QuantityBy<'s>) -> Vec<(&'s str, Option<&'s View>)> {
    match one.by[..] {
        [(_, judged)] => vec![(HERE, judged.compared()), (METHOD, judged.by_method())],
        _ => {
            let by = one.by.iter();
            by.map(|(label, judged)| (*label, judged.compared()))
                .collect()
        }
    }
}

fn published<'q>(one: &'q QuantityBy<'_>) -> &'q [JudgedFigure] {
    &one.published
}

/// Whether these are printed in cycles alone, which nothing converts.
fn is_in_cycles(quantities: &[QuantityBy<'_>]) -> bool {
    let figures = || quantities.iter().flat_map(published);
    figures().any(|figure| figure.cycles.is_some())
        && figures().all(|figure| figure.value.is_none())
}

struct Machines {
    /// For each quantity a bar of each machine.
    groups: Vec<(String, Vec<Bar>)>,
    /// The bars' figures, as the table shows them.
    figures: Vec<String>,
    /// Which figures have no bar.
    note: Option<String>,
}

/// A group of bars for each quantity, a bar for each machine whose figure is more than nothing.
fn machines(quantities: &[QuantityBy<'_>], is_in_cycles: bool) -> Machines {
    let (mut groups, mut figures, mut without) = (Vec::new(), Vec::new(), Vec::new());
    for one in quantities {
        let title = &one.quantity.title;
        let (_, first) = one.by[0];
        let published = published(one).iter().filter_map(|figure| {
            let (value, text) = match is_in_cycles {
                true => (figure.cycles, super::cycles(figure)),
                false => {
                    let text = super::value(one.quantity.unit, figure, Some(first.scale));
                    (figure.value, text)
                }
            };
            Some((figure.machine.as_str(), Value::exactly(value?), text, false))
        });
        let here = here(one).into_iter().filter_map(|(label, view)| {
            let view = view?;
            let (shown, text) = match is_in_cycles {
                true => {
                    let view = view.in_cycles()?;
                    let text = crate::units::cycles(view.value);
                    (view, text)
                }
                false => (view.clone(), first.scale.show(view.value)),
            };
            Some((label, drawn(&shown), text, view.may_be_nothing()))
        });
        let mut bars = Vec::new();
        for (label, value, text, is_nothing) in published.chain(here) {
            if is_nothing || value.median <= 0.0 {
                without.push(format!("{title}, {label}"));
                continue;
            }
            let label = label.to_owned();
            bars.push(Bar::new(label, 0, value));
            figures.push(text);
        }
        if !bars.is_empty() {
            groups.push((title.clone(), bars));
        }
    }
    Machines {
        groups,
        figures,
        note: nothing(&without),
    }
}

/// That figures are not drawn, as no cost is zero.
fn nothing(without: &[String]) -> Option<String> {
    let all = without.join("; ");
    (!without.is_empty())
        .then(|| format!("Not above zero, or not to be told apart from it, so not drawn: {all}."))
}

/// The parameter that distinguishes the procedures' rows, if its values are numbers.
fn varying<'q>(quantities: &[QuantityBy<'q>]) -> Option<(&'q str, Vec<f64>)> {
    let names = quantities
        .iter()
        .map(|one| one.quantity.as_published.as_deref());
    let names: Vec<&str> = names.collect::<Option<_>>()?;
    parameters(names.first()?).find_map(|(key, _)| {
        let of = |name: &&str| {
            let (_, value) = parameters(name).find(|(other, _)| *other == key)?;
            number(value)
        };
        let values: Vec<f64> = names.iter().map(of).collect::<Option<_>>()?;
        let differ = values.iter().any(|value| *value != values[0]);
        differ.then_some((key, values))
    })
}

/// Lines over the parameter that distinguishes the quantities' rows: of the same procedure here, of
/// syscost's method, of each published machine; and which figures are not drawn.
fn curve(quantities: &[QuantityBy<'_>]) -> Option<(Chart, Option<String>)> {
    let (parameter, values) = varying(quantities)?;
    let mut lines: Vec<Line> = Vec::new();
    let mut without = Vec::new();
    let mut add = |label: String, at: f64, value: Value| {
        let point = (at, value);
        match lines.iter_mut().find(|line| line.label == label) {
            // One figure may stand beside several quantities.
            Some(line) if line.points.iter().any(|(other, _)| *other == at) => {}
            Some(line) => line.points.push(point),
            None => lines.push(Line::new(label, 0, vec![point])),
        }
    };
    let at = || quantities.iter().zip(&values);
    for (one, at) in at() {
        for (label, view) in here(one) {
            let Some(view) = view else { continue };
            if view.may_be_nothing() {
                without.push(format!("{}, {label}", one.quantity.title));
                continue;
            }
            let own = match label {
                METHOD => Some(size_of_method(one, parameter)),
                _ => None,
            };
            let (label, at) = match own {
                None => (label.to_owned(), *at),
                Some(Some(size)) => (label.to_owned(), size),
                Some(None) => (format!("{label}, one figure for all"), *at),
            };
            add(label, at, drawn(view));
        }
    }
    for (one, at) in at() {
        for figure in published(one) {
            if let Some(value) = figure.value {
                add(figure.machine.clone(), *at, Value::exactly(value));
            }
        }
    }
    lines.retain(|line| line.points.len() > 1);
    for line in &mut lines {
        line.points
            .sort_by(|(one, _), (other, _)| one.total_cmp(other));
    }
    let chart = Chart::Curve {
        borders: Vec::new(),
        parameter: parameter.to_owned(),
        lines,
    };
    Some((chart, nothing(&without)))
}

/// The value of this parameter at which syscost's row was measured, if it has it: it may be near that
/// of the procedure only.
fn size_of_method(one: &QuantityBy<'_>, parameter: &str) -> Option<f64> {
    let row = one.quantity.ours.as_deref()?;
    let (_, value) = parameters(row).find(|(key, _)| *key == parameter)?;
    number(value)
}

#[cfg(test)]
mod tests;
