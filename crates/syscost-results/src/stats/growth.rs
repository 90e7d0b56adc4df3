//! How the time of an operation grows with the number of tasks that do it at once: which of three
//! laws describes it.
//!
//! - *Linear*: t(n) = a + b n. A server that takes one request after the other.
//! - *Exponential, then linear*: t(n) = a e^(c n) up to a number of tasks, and from there on a
//!   straight line.
//! - *Universal*: t(n) = n / X(n) with the throughput X of the universal scalability law ([`usl`]).
//!
//! Each is fitted by least squares of the relative errors, because noise is relative. The one with
//! the least Akaike information criterion, corrected for few points, is chosen: a law with more
//! parameters must fit better by more than chance. Whether it describes the data at all is judged by
//! points that take no part in a fit: each but the first and the last is left out in turn and
//! predicted by the chosen law, fitted to the others.
//!
//! Hurvich and Tsai, *Regression and time series model selection in small samples* (Biometrika 76,
//! 1989).

mod knee;

use super::{hockney, usl};

pub use knee::Knee;

/// Minimum number of different task counts for choosing a law: one can be left out, and the rest
/// still has more points than the simplest law has parameters.
pub const MIN_POINTS: usize = 5;

/// Relative error below which the fit of laws is not compared further: no measurement is as exact.
const MIN_ERROR: f64 = 1e-3;

/// A fitted law.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Law {
    /// t(n) = a + b n.
    Linear(hockney::Model),
    /// Exponential up to a number of tasks, then linear.
    Exponential(Knee),
    /// The universal scalability law.
    Universal(usl::UniversalLaw),
}

/// The kinds of laws.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LawKind {
    /// [`Law::Linear`].
    Linear,
    /// [`Law::Exponential`].
    Exponential,
    /// [`Law::Universal`].
    Universal,
}

impl LawKind {
    /// All kinds, the simplest first.
    pub const ALL: [LawKind; 3] = [LawKind::Linear, LawKind::Universal, LawKind::Exponential];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            LawKind::Linear => "linear",
            LawKind::Exponential => "exponential, then linear",
            LawKind::Universal => "universal scalability law",
        }
    }

    /// Its name in one word.
    pub const fn word(self) -> &'static str {
        match self {
            LawKind::Linear => "linear",
            LawKind::Exponential => "exponential",
            LawKind::Universal => "universal",
        }
    }

    /// The number of fitted quantities: the law's parameters and the size of the errors.
    const fn parameters(self) -> usize {
        match self {
            LawKind::Linear => 3,
            LawKind::Universal => 4,
            LawKind::Exponential => 5,
        }
    }

    /// The law of this kind nearest to points `(tasks, time)`; `None` if there is none.
    pub fn fit(self, points: &[(f64, f64)]) -> Option<Law> {
        match self {
            LawKind::Linear => hockney::fit(points).map(Law::Linear),
            LawKind::Exponential => knee::fit(points).map(Law::Exponential),
            LawKind::Universal => {
                let throughputs: Vec<(f64, f64)> = points
                    .iter()
                    .map(|(tasks, time)| (*tasks, tasks / time))
                    .collect();
                usl::fit(&throughputs).map(Law::Universal)
            }
        }
    }
}

impl Law {
    /// Its kind.
    pub fn kind(&self) -> LawKind {
        match self {
            Law::Linear(_) => LawKind::Linear,
            Law::Exponential(_) => LawKind::Exponential,
            Law::Universal(_) => LawKind::Universal,
        }
    }

    /// The time of an operation when this many tasks do it at once.
    pub fn time(&self, tasks: f64) -> f64 {
        match self {
            Law::Linear(model) => model.time(tasks),
            Law::Exponential(knee) => knee.time(tasks),
            Law::Universal(law) => tasks / law.throughput(tasks),
        }
    }

    /// The additional time for each further task, at this number.
    pub fn per_task(&self, tasks: f64) -> f64 {
        match self {
            Law::Linear(model) => model.per_byte,
            Law::Exponential(knee) => knee.slope(tasks),
            Law::Universal(law) => (law.sigma + law.kappa * (2.0 * tasks - 1.0)) / law.lambda,
        }
    }
}

/// The law that describes the points best, and how well.
#[derive(Debug, Clone, PartialEq)]
pub struct BestFit {
    /// The law.
    pub law: Law,
    /// The information criterion of each law that could be fitted, the lowest (the chosen law's)
    /// first.
    pub criteria: Vec<(LawKind, f64)>,
    /// Root mean square of the relative distance from the law of points that took no part in its
    /// fit.
    pub held_out_error: f64,
}

/// Chooses a law for points `(tasks, time)`. `None` with fewer than [`MIN_POINTS`] different task
/// counts, or if a time is not positive.
pub fn choose(points: &[(f64, f64)]) -> Option<BestFit> {
    let mut points = points.to_vec();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut counts: Vec<f64> = points.iter().map(|(tasks, _)| *tasks).collect();
    counts.dedup();
    if counts.len() < MIN_POINTS {
        return None;
    }
    let fits = LawKind::ALL.into_iter().filter_map(|kind| {
        let law = kind.fit(&points)?;
        Some((law, criterion(&law, &points)?))
    });
    let mut fits: Vec<(Law, f64)> = fits.collect();
    // Of equally good ones the simpler, which comes first.
    fits.sort_by(|a, b| a.1.total_cmp(&b.1));
    let (law, _) = *fits.first()?;
    Some(BestFit {
        law,
        criteria: fits
            .iter()
            .map(|(law, criterion)| (law.kind(), *criterion))
            .collect(),
        held_out_error: held_out_error(law.kind(), &points)?,
    })
}

/// Akaike's criterion of relative errors, corrected for few points; `None` with too few of them.
fn criterion(law: &Law, points: &[(f64, f64)]) -> Option<f64> {
    let (count, parameters) = (points.len() as f64, law.kind().parameters() as f64);
    let left = count - parameters - 1.0;
    let squares: f64 = points
        .iter()
        .map(|point| relative_error(law, *point).powi(2))
        .sum();
    let mean = (squares / count).max(MIN_ERROR.powi(2));
    (left > 0.0).then(|| {
        count * mean.ln() + 2.0 * parameters + 2.0 * parameters * (parameters + 1.0) / left
    })
}

fn relative_error(law: &Law, (tasks, time): (f64, f64)) -> f64 {
    law.time(tasks) / time - 1.0
}

/// Leaves out each point in turn except those at both ends, beyond which no law is needed.
fn held_out_error(kind: LawKind, points: &[(f64, f64)]) -> Option<f64> {
    let inner = 1..points.len() - 1;
    let count = inner.len() as f64;
    let squares = inner.map(|index| {
        let (before, behind) = points.split_at(index);
        let others = [before, &behind[1..]].concat();
        let law = kind.fit(&others)?;
        Some(relative_error(&law, points[index]).powi(2))
    });
    let sum: f64 = squares.sum::<Option<f64>>()?;
    Some((sum / count).sqrt())
}

#[cfg(test)]
mod tests;
