//! A chart in a document.

use maud::Markup;
use syscost_results::Unit;

use crate::chart::{self, Bar, Chart, GroupTexts, Labels, TextOptions, Theme};

/// A chart, its title and its notes.
pub struct Picture {
    /// That of its file, without an ending: `three-costs-1`.
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) unit: Unit,
    pub(crate) drawn: Drawn,
    pub(crate) texts: GroupTexts,
    /// What its marks mean, for a note below.
    pub(crate) legend: Option<String>,
    /// What it cannot show, likewise.
    pub(crate) note: Option<String>,
}

/// What a chart draws.
pub(crate) enum Drawn {
    Chart(Chart),
    /// Bars of the machines, in a group for each quantity.
    Groups(Vec<(String, Vec<Bar>)>),
    /// Values and how often each occurred.
    Histogram(Vec<(f64, u64)>),
}

impl Picture {
    pub(crate) fn svg(&self, labels: &Labels, theme: Theme) -> Markup {
        let unit = self.unit;
        match &self.drawn {
            Drawn::Chart(chart) => chart::draw(chart, unit, labels, theme),
            Drawn::Groups(bars) => chart::groups(bars, &self.texts, unit, labels, theme),
            Drawn::Histogram(bins) => chart::histogram_of_all(bins, unit, labels, theme),
        }
    }

    /// Its title and its marks in characters.
    pub(super) fn text(&self, options: TextOptions) -> String {
        let labels = Labels::titled(self.title.clone());
        let unit = self.unit;
        match &self.drawn {
            Drawn::Chart(chart) => chart::text(chart, unit, &labels, options),
            Drawn::Groups(groups) => chart::text_groups(groups, unit, &labels, options),
            Drawn::Histogram(bins) => chart::text_histogram(bins, unit, &labels, options),
        }
    }

    /// What its marks mean, and what it cannot show.
    pub(crate) fn below(&self) -> String {
        let notes = self.legend.iter().chain(&self.note);
        notes.map(String::as_str).collect::<Vec<_>>().join(" ")
    }
}
