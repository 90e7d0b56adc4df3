//! The charts of a study as files.

use syscost_results::Run;

use super::{Repeated, pictures};
use crate::chart::{Labels, Theme};
use crate::sentence::time;

/// A chart as a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figure {
    /// The study's id.
    pub study: String,
    /// That and the chart's place, without an ending: `three-costs-1`.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// What its marks mean, and what it cannot show; empty if there is nothing to say. The picture
    /// says it, too.
    pub note: String,
    /// The picture.
    pub svg: String,
}

/// The charts of a study for which there are figures.
pub fn figures(repeated: &Repeated, runs: &[&Run]) -> Vec<Figure> {
    let of_run = |(label, run): (&str, &&Run)| {
        let (model, version) = (&run.machine.cpu_model, &run.tool.version);
        format!(
            "{label}: {model}, {}, syscost {version}",
            time(&run.started)
        )
    };
    let labels = repeated.by.iter().map(|(label, _)| label.as_str());
    let sources: Vec<String> = labels.zip(runs).map(of_run).collect();
    let source = sources.join("; ");
    let pictures = pictures(repeated).into_iter().enumerate();
    let figure = pictures.map(|(index, picture)| {
        let labels = Labels {
            title: picture.title.clone(),
            source: format!("{}\n{source}", picture.below())
                .trim_start()
                .to_owned(),
            ..Labels::default()
        };
        let svg = picture.svg(&labels, Theme::Light);
        Figure {
            study: repeated.study.id.clone(),
            name: format!("{}-{}", repeated.study.id, index + 1),
            note: picture.below(),
            title: picture.title,
            svg: svg.into_string() + "\n",
        }
    });
    figure.collect()
}
