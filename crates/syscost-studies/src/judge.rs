//! Judges a run against a study.

use serde::Serialize;

use super::comparison;
use super::disturbed::Disturbed;
use super::figure::{JudgedFigure, figures, published_ratios};
use super::scale::Scale;
use super::verdict::{Facts, Sentence, verdict};
use super::view::{self, ENOUGH, Seen, View};
use syscost_results::study::{Cycles, Quantity, Ratio, Study};
use syscost_results::{Evidence, Flag, Measurement, Run};

/// Prefix of the detail with the standard deviation of a procedure's trials; the unit follows.
const TRIALS_STDDEV: &str = "trials_stddev_";

/// A study, judged by a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgedStudy {
    /// The study.
    #[serde(flatten)]
    pub study: Study,
    /// Id of the run.
    pub run: String,
    /// Rate of this machine's time-stamp counter in GHz, where the study's cycles are its ticks.
    pub counter: Option<f64>,
    /// Its quantities, in their order.
    pub judged: Vec<JudgedQuantity>,
    /// Its ratios, in their order.
    pub judged_ratios: Vec<JudgedRatio>,
}

/// One quantity: four views of it, and the verdict.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgedQuantity {
    /// Id of the quantity.
    pub id: String,
    /// What was published.
    pub published: Vec<JudgedFigure>,
    /// The published procedure on this machine; null if it is not repeated.
    pub as_published: Option<Seen>,
    /// The same, from undisturbed results only.
    pub undisturbed: Option<Seen>,
    /// syscost's method.
    pub ours: Option<Seen>,
    /// The name of syscost's row; null if it is not part of the run or has no number.
    pub ours_row: Option<String>,
    /// That row's flags.
    pub ours_flags: Vec<Flag>,
    /// What was counted for the published procedure.
    pub evidence: Vec<Evidence>,
    /// What was counted for syscost's method.
    pub ours_evidence: Vec<Evidence>,
    /// Standard deviation of the procedure's trials, in the quantity's unit, if it prints one.
    pub trials_stddev: Option<f64>,
    /// How often each value occurred, for its chart: value in the quantity's unit, count.
    #[serde(skip)]
    pub histogram: Vec<(f64, u64)>,
    /// The scale at which all its figures are shown: that of the text, if there is one.
    #[serde(skip)]
    pub scale: Scale,
    /// What its figures' cycles are.
    #[serde(skip)]
    pub cycles: Cycles,
    /// The verdict.
    pub verdict: Sentence,
}

/// One ratio: as published, as measured here, and by syscost's method.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgedRatio {
    /// The ratio.
    #[serde(flatten)]
    pub ratio: Ratio,
    /// Of the published figures: machine and ratio.
    pub published: Vec<(String, f64)>,
    /// Of the published procedures here, by the figures that are compared, or why there is none.
    pub as_published: Between,
    /// By syscost's method, likewise.
    pub by_method: Between,
}

/// A ratio of two figures of this machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Between {
    /// There is one.
    Ratio {
        /// The ratio.
        ratio: f64,
        /// The least digit of it that the figures support.
        #[serde(skip)]
        least: f64,
    },
    /// There is none.
    Missing {
        /// Why, for people.
        reason: String,
    },
}

/// Compares a run with a study.
pub fn judge(study: &Study, run: &Run) -> JudgedStudy {
    let quantities = study.quantities.iter();
    let judged: Vec<JudgedQuantity> = quantities
        .map(|quantity| of(study, quantity, run))
        .collect();
    let ratios = study.ratios.iter().map(|ratio| JudgedRatio {
        ratio: ratio.clone(),
        published: published_ratios(study, ratio),
        as_published: between(study, &judged, ratio, JudgedQuantity::compared, |one| {
            one.as_published.as_ref()
        }),
        by_method: between(study, &judged, ratio, JudgedQuantity::by_method, |one| {
            one.ours.as_ref()
        }),
    });
    JudgedStudy {
        study: study.clone(),
        run: run.id.clone(),
        counter: match study.cycles {
            Cycles::Tsc => (run.clock.source == "tsc").then_some(run.clock.ghz),
            Cycles::Core => None,
        },
        judged_ratios: ratios.collect(),
        judged,
    }
}

/// The ratio of two quantities by these figures of theirs, which are of these rows.
fn between(
    study: &Study,
    judged: &[JudgedQuantity],
    ratio: &Ratio,
    figure: fn(&JudgedQuantity) -> Option<&View>,
    row: fn(&Quantity) -> Option<&String>,
) -> Between {
    let of = |id: &str| {
        let quantity = study.quantity(id).ok_or("not part of the study")?;
        let view = judged.iter().find(|one| one.id == id).and_then(figure);
        let title = &quantity.title;
        match view {
            None => Err(format!("no figure of {title}")),
            Some(view) if view.is_less_than_nothing() => {
                Err(format!("{title} is less than nothing"))
            }
            Some(view) if view.may_be_nothing() => {
                Err(format!("{title} cannot be told apart from zero"))
            }
            Some(view) => Ok((view, row(quantity))),
        }
    };
    match (of(&ratio.of), of(&ratio.to)) {
        (Err(reason), _) | (_, Err(reason)) => Between::Missing { reason },
        (Ok((_, one)), Ok((_, other))) if one == other => Between::Missing {
            reason: "both are the same row".to_owned(),
        },
        (Ok((one, _)), Ok((other, _))) => {
            let (ratio, least) = comparison::ratio(one, other);
            Between::Ratio { ratio, least }
        }
    }
}

impl Between {
    /// The ratio, if there is one.
    pub fn ratio(&self) -> Option<f64> {
        match self {
            Between::Ratio { ratio, .. } => Some(*ratio),
            Between::Missing { .. } => None,
        }
    }
}

/// A way to view a row.
type By = fn(&Run, &Measurement, Cycles) -> Seen;

fn of(study: &Study, quantity: &Quantity, run: &Run) -> JudgedQuantity {
    let find = |name: &Option<String>| {
        let name = name.as_ref()?;
        Some(view::row(run, name, quantity.unit))
    };
    let (repeated, measured) = (find(&quantity.as_published), find(&quantity.ours));
    let seen = |row: &Option<Result<&Measurement, String>>, by: By| {
        Some(match row.as_ref()? {
            Ok(row) => by(run, row, study.cycles),
            Err(reason) => Seen::Missing {
                reason: reason.clone(),
            },
        })
    };
    let as_published = seen(&repeated, view::as_published);
    let undisturbed = seen(&repeated, view::undisturbed).filter(|_| {
        // The line above says why there is no figure at all.
        as_published.as_ref().and_then(Seen::figure).is_some()
    });
    let scale = quantity.ours_scale.unwrap_or(1.0);
    let ours = seen(&measured, view::estimate).map(|seen| seen.times(scale));
    let row = Facts::found(&repeated);
    let method = Facts::found(&measured);
    let evidence =
        |row: Option<&Measurement>| row.map_or_else(Vec::new, |row| row.evidence.clone());
    let published = figures(study, quantity);
    let compared = compared(undisturbed.as_ref(), as_published.as_ref());
    let printed = quantity.published.iter().find_map(|one| one.value.as_ref());
    let shown = compared.or_else(|| ours.as_ref()?.figure());
    let scale = match (printed, shown) {
        (Some(printed), _) => Scale::printed(printed, quantity.unit),
        (None, shown) => Scale::reached(quantity.unit, shown.map_or(0.0, |view| view.value)),
    };
    let facts = Facts {
        compared,
        disturbed: disturbed(row, undisturbed.as_ref()),
        as_published: repeated,
        ours: measured,
        seen: ours.as_ref(),
        published: &published,
        scale,
        cycles: Scale::cycles(study.cycles),
    };
    let verdict = verdict(quantity, &facts);
    JudgedQuantity {
        id: quantity.id.clone(),
        published,
        verdict,
        as_published,
        undisturbed,
        ours,
        ours_row: method.map(|row| row.name.clone()),
        ours_flags: method.map_or_else(Vec::new, |row| row.flags.clone()),
        scale,
        cycles: study.cycles,
        evidence: evidence(row),
        ours_evidence: evidence(method),
        trials_stddev: row.and_then(|row| {
            let mut details = row.details.iter();
            let (_, value) = details.find(|(name, _)| name.starts_with(TRIALS_STDDEV))?;
            Some(*value)
        }),
        histogram: row.map_or_else(Vec::new, |row| row.histogram.clone()),
    }
}

/// Noise must not look like a fault of the method: undisturbed results are compared, if there are
/// enough of them.
fn compared<'s>(undisturbed: Option<&'s Seen>, all: Option<&'s Seen>) -> Option<&'s View> {
    let figure = |seen: Option<&'s Seen>| seen.and_then(Seen::figure);
    let enough = figure(undisturbed).filter(|view| view.from >= ENOUGH);
    enough.or_else(|| figure(all))
}

/// What disturbed the results, if so many that the compared ones are not those that are undisturbed.
fn disturbed(row: Option<&Measurement>, undisturbed: Option<&Seen>) -> Option<Disturbed> {
    let row = row.filter(|row| row.estimate.undisturbed_percent.is_some())?;
    let undisturbed = undisturbed.and_then(Seen::figure);
    let is_enough = undisturbed.is_some_and(|view| view.from >= ENOUGH);
    let disturbed = Disturbed::of(row);
    (!is_enough && !disturbed.is_none()).then_some(disturbed)
}

impl JudgedQuantity {
    /// The figure of the published procedure that is compared with all others: of undisturbed
    /// results if there are enough, else of all.
    pub fn compared(&self) -> Option<&View> {
        compared(self.undisturbed.as_ref(), self.as_published.as_ref())
    }

    /// Whether the compared results are the undisturbed ones.
    pub fn compares_undisturbed(&self) -> bool {
        let undisturbed = self.undisturbed.as_ref().and_then(Seen::figure);
        undisturbed.is_some_and(|view| view.from >= ENOUGH)
    }

    /// How many times the compared figure is syscost's; `None` if either is missing or may be nothing.
    pub fn by_ours(&self) -> Option<Between> {
        let (here, ours) = self.compared().zip(self.by_method())?;
        let (ratio, least) = comparison::ratio(here, ours);
        let is_any = here.may_be_nothing() || ours.may_be_nothing();
        (!is_any).then_some(Between::Ratio { ratio, least })
    }

    /// syscost's figure.
    pub fn by_method(&self) -> Option<&View> {
        self.ours.as_ref()?.figure()
    }
}

#[cfg(test)]
mod tests;
