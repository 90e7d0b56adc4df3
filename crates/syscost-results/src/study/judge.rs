//! Judges a run against a study.

use serde::Serialize;

use super::figure::{JudgedFigure, figures, published_ratios};
use super::printed::Scale;
use super::verdict::{Disturbed, Facts, Sentence, verdict};
use super::view::{self, Seen, View};
use super::{Cycles, Quantity, Ratio, Study};
use crate::{Evidence, Measurement, Run};

/// Fewer undisturbed results have no middle half: that of all results is added to their range.
const FEW: u64 = 4;

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
    /// Of the published procedures here, by the figures that are compared; null if either is
    /// missing or not above zero.
    pub as_published: Option<f64>,
    /// By syscost's method; null likewise.
    pub by_method: Option<f64>,
}

/// Compares a run with a study.
pub fn judge(study: &Study, run: &Run) -> JudgedStudy {
    let quantities = study.quantities.iter();
    let judged: Vec<JudgedQuantity> = quantities
        .map(|quantity| of(study, quantity, run))
        .collect();
    let ratios = study.ratios.iter().map(|ratio| {
        let by = |seen: fn(&JudgedQuantity) -> Option<&View>| {
            let figure = |id: &str| {
                let view = seen(judged.iter().find(|one| one.id == id)?)?;
                (view.value > 0.0).then_some(view.value)
            };
            Some(figure(&ratio.of)? / figure(&ratio.to)?)
        };
        JudgedRatio {
            ratio: ratio.clone(),
            published: published_ratios(study, ratio),
            as_published: by(JudgedQuantity::compared),
            by_method: by(JudgedQuantity::by_method),
        }
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
    let mut undisturbed = seen(&repeated, view::undisturbed).filter(|_| {
        // The line above says why there is no figure at all.
        as_published.as_ref().and_then(Seen::figure).is_some()
    });
    if let (Some(Seen::Figure(few)), Some(Seen::Figure(all))) = (&mut undisturbed, &as_published)
        && few.from < FEW
    {
        let (low, high) = all.middle.unwrap_or((all.value, all.value));
        let ends = (few.low.unwrap_or(low), few.high.unwrap_or(high));
        few.middle = Some((low.min(ends.0), high.max(ends.1)));
    }
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
        (Some(printed), _) => printed.scale(quantity.unit),
        (None, shown) => Scale::reached(quantity.unit, shown.map_or(0.0, |view| view.value)),
    };
    let facts = Facts {
        compared,
        disturbed: match undisturbed.as_ref().and_then(Seen::figure) {
            Some(_) => None,
            None => Some(match row.and_then(|row| row.estimate.undisturbed_percent) {
                Some(_) => Disturbed::All,
                None => Disturbed::Unknown,
            }),
        },
        as_published: repeated,
        ours: measured,
        seen: ours.as_ref(),
        published: &published,
        scale,
    };
    let verdict = verdict(quantity, &facts);
    JudgedQuantity {
        id: quantity.id.clone(),
        published,
        verdict,
        as_published,
        undisturbed,
        ours,
        scale,
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
/// any.
fn compared<'s>(undisturbed: Option<&'s Seen>, all: Option<&'s Seen>) -> Option<&'s View> {
    let figure = |seen: Option<&'s Seen>| seen.and_then(Seen::figure);
    figure(undisturbed).or_else(|| figure(all))
}

impl JudgedQuantity {
    /// The figure of the published procedure that is compared with all others: of undisturbed
    /// results, if there are any.
    pub fn compared(&self) -> Option<&View> {
        compared(self.undisturbed.as_ref(), self.as_published.as_ref())
    }

    /// syscost's figure.
    pub fn by_method(&self) -> Option<&View> {
        self.ours.as_ref()?.figure()
    }
}

#[cfg(test)]
mod tests;
