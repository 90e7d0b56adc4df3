//! The charts of a study as files.

use syscost_results::Run;

use super::repeated::began;
use super::{Drawn, Repeated, pictures};
use crate::chart::{Labels, Theme, draw, groups, histogram};

/// A chart as a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figure {
    /// The study's id.
    pub study: String,
    /// That and the chart's place, without an ending: `three-costs-1`.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// What it cannot show.
    pub note: Option<String>,
    /// The picture.
    pub svg: String,
}

/// The charts of a study for which there are figures.
pub fn figures(repeated: &Repeated, runs: &[&Run]) -> Vec<Figure> {
    let of_run = |(label, run): (&str, &&Run)| {
        let (model, version) = (&run.machine.cpu_model, &run.tool.version);
        format!("{label}: {model}, {}, syscost {version}", began(run))
    };
    let labels = repeated.by.iter().map(|(label, _)| label.as_str());
    let sources: Vec<String> = labels.zip(runs).map(of_run).collect();
    let source = sources.join("; ");
    let pictures = pictures(repeated).into_iter().enumerate();
    let figure = pictures.map(|(index, picture)| {
        let labels = Labels {
            title: picture.title.clone(),
            source: source.clone(),
            ..Labels::default()
        };
        let (unit, theme) = (picture.unit, Theme::Light);
        let svg = match &picture.drawn {
            Drawn::Chart(chart) => draw(chart, unit, &labels, theme),
            Drawn::Groups(bars) => groups(bars, unit, &labels, theme),
            Drawn::Histogram(bins) => histogram(bins, unit, &labels, theme),
        };
        Figure {
            study: repeated.study.id.clone(),
            name: format!("{}-{}", repeated.study.id, index + 1),
            title: picture.title,
            note: picture.note,
            svg: svg.into_string() + "\n",
        }
    });
    figure.collect()
}
