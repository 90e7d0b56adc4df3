//! Distributions of samples.

use maud::Markup;
use syscost_results::stats::order::{quantile_of_sorted, sorted};

use super::{
    Begin, Distribution, Frame, Scale,
    bars::formatted,
    canvas::{Anchor, Canvas},
    named::Named,
    series,
};

/// Maximum number of points of one distribution's line.
const POINTS: usize = 60;
/// Minimum height of a violin with its margins.
const VIOLIN: f64 = 38.0;
/// Distance from the plot to the figures, with room for an arrow.
const GAP: f64 = 18.0;
/// Height of a round in a row's details.
const ROUND: f64 = 14.0;
/// Quantiles that the axis covers: a few late samples beyond them would squeeze all others
/// together.
const SHOWN: (f64, f64) = (0.01, 0.95);

/// The sample quantiles that an axis must include.
fn extent(sorted: &[f64]) -> impl Iterator<Item = f64> {
    [SHOWN.0, 0.5, SHOWN.1]
        .into_iter()
        .filter_map(|q| quantile_of_sorted(sorted, q))
}

fn all_sorted(distributions: &[Distribution]) -> Vec<Vec<f64>> {
    distributions
        .iter()
        .map(|one| sorted(&one.samples))
        .collect()
}

/// The axis for these sorted samples.
fn fit(samples: &[Vec<f64>], plot: (f64, f64)) -> Scale {
    let ends = samples.iter().flat_map(|one| extent(one));
    Scale::fit(ends, Begin::Near, plot)
}

/// Whether the axis of these distributions is logarithmic.
pub(super) fn is_logarithmic(distributions: &[Distribution]) -> bool {
    fit(&all_sorted(distributions), (0.0, 1.0)).is_logarithmic()
}

/// Room to the right of a plot for an arrow and half a tick label.
const BESIDE: f64 = 26.0;

/// How much lies outside the axis, which is reported but not drawn: `◂ 1 %, 5 % beyond ▸`.
fn beyond(scale: &Scale, sorted: &[f64]) -> String {
    let percent = |share: f64| match 100.0 * share {
        percent if percent < 1.0 => "< 1 %".to_owned(),
        percent => format!("{percent:.0} %"),
    };
    match scale.beyond(sorted) {
        (0.0, 0.0) => String::new(),
        (0.0, above) => format!("{} beyond ▸", percent(above)),
        (below, 0.0) => format!("◂ {} beyond", percent(below)),
        (below, above) => format!("◂ {}, {} beyond ▸", percent(below), percent(above)),
    }
}

/// Arrows at those ends of a plot beyond which there are samples.
fn arrows(canvas: &mut Canvas, ends: (f64, f64), plot: (f64, f64), y: f64) {
    if ends.0 > 0.0 {
        canvas.arrow((plot.0 - 8.0, y), false, "arrow s0");
    }
    if ends.1 > 0.0 {
        canvas.arrow((plot.1 + 8.0, y), true, "arrow s0");
    }
}

pub(super) fn ecdf(distributions: &[Distribution], frame: &Frame<'_>) -> Markup {
    let height = if distributions.len() > 1 {
        240.0
    } else {
        150.0
    };
    let samples = all_sorted(distributions);
    let legend = 18.0
        * if distributions.len() > 1 {
            distributions.len() as f64
        } else {
            0.0
        };
    let (mut canvas, top) = frame.canvas(height + 26.0 + legend);
    let (left, right) = frame.edges(["100 %"].into_iter());
    let plot = (left, right - BESIDE);
    let scale = fit(&samples, plot);
    frame.horizontal_axis(&mut canvas, &scale, plot, (top + 6.0, top + height));
    let up = |share: f64| top + height - share * (height - 6.0);
    frame.axis_title(&mut canvas, "share of the samples");
    for percent in [0, 25, 50, 75, 100] {
        let y = up(f64::from(percent) / 100.0);
        canvas.line((left, y), (plot.1, y), "grid");
        canvas.text(
            (left - 8.0, y + 4.0),
            "tick",
            Anchor::End,
            &format!("{percent} %"),
        );
    }
    for (index, one) in samples.iter().enumerate() {
        let class = format!("curve {}", series(index));
        let count = one.len().min(POINTS);
        let steps: Vec<(f64, f64)> = (1..=count)
            .map(|step| {
                let share = step as f64 / count as f64;
                // The smallest sample such that at least this share of the samples is no larger.
                let at = (share * one.len() as f64).ceil() as usize;
                (one[at.clamp(1, one.len()) - 1], share)
            })
            // Nothing is drawn beyond the axis: the line ends below 100 %, with an arrow.
            .take_while(|(value, _)| *value <= scale.value(1.0))
            .map(|(value, share)| (scale.place(value), up(share)))
            .collect();
        if let Some((first, _)) = steps.first() {
            canvas.stairs((*first, up(0.0)), &steps, &class);
        }
        if let Some((last, y)) = steps.last()
            && scale.beyond(one).1 > 0.0
        {
            canvas.line((*last, *y), (plot.1, *y), &class);
            let class = format!("arrow {}", series(index));
            canvas.arrow((plot.1 + 8.0, *y), true, &class);
        }
    }
    if distributions.len() > 1 {
        for (index, one) in distributions.iter().enumerate() {
            let y = top + height + 38.0 + 18.0 * index as f64;
            let class = series(index);
            canvas.line(
                (left, y - 4.0),
                (left + 18.0, y - 4.0),
                &format!("curve {class}"),
            );
            let value = one
                .value
                .map_or_else(String::new, |value| formatted(frame.unit, &value));
            let note = beyond(&scale, &samples[index]);
            let mut parts = vec![one.label.as_str(), &value, &note];
            parts.retain(|part| !part.is_empty());
            let text = parts.join(" · ");
            canvas.text((left + 26.0, y), "name", Anchor::Start, &text);
        }
    } else if let [one] = &samples[..] {
        let place = (plot.1 - 4.0, top + 28.0);
        canvas.text(place, "tick", Anchor::End, &beyond(&scale, one));
    }
    canvas.finish(frame.labels, frame.theme)
}

pub(super) fn violins(distributions: &[Distribution], frame: &Frame<'_>) -> Markup {
    let labels: Vec<&str> = distributions.iter().map(|one| one.label.as_str()).collect();
    let samples = all_sorted(distributions);
    // How much lies beyond the axis does not depend on where the axis is drawn.
    let whole = fit(&samples, (0.0, 1.0));
    let figures: Vec<Vec<String>> = distributions
        .iter()
        .zip(&samples)
        .map(|(one, samples)| {
            let value = one
                .value
                .map_or_else(String::new, |value| formatted(frame.unit, &value));
            let note = Some(beyond(&whole, samples)).filter(|note| !note.is_empty());
            [value].into_iter().chain(note).collect()
        })
        .collect();
    let named = Named::new(&labels, &figures, (VIOLIN, GAP), frame);
    let (plot, height) = (named.plot, named.height);
    let (mut canvas, top) = frame.canvas(height + 26.0);
    let scale = fit(&samples, plot);
    frame.horizontal_axis(&mut canvas, &scale, plot, (top, top + height));
    named.write(&mut canvas, top, frame);
    for (index, one) in distributions.iter().enumerate() {
        let middle = top + named.middles[index];
        arrows(&mut canvas, scale.beyond(&samples[index]), plot, middle);
        violin(&mut canvas, &scale, &samples[index], plot, middle);
        if let Some(value) = one.value {
            if let (Some(low), Some(high)) = (value.low, value.high) {
                let (low, high) = (scale.place(low), scale.place(high));
                canvas.line((low, middle), (high, middle), "whisker s0");
            }
            let title = format!("{}: {}", one.label, figures[index][0]);
            canvas.dot((scale.place(value.median), middle), 4.0, "dot s0", &title);
        }
    }
    canvas.finish(frame.labels, frame.theme)
}

/// The density of sorted samples, mirrored. The Gaussian kernels are applied on the axis as drawn,
/// so the shape is right on a logarithmic axis too.
fn violin(canvas: &mut Canvas, scale: &Scale, samples: &[f64], (left, right): (f64, f64), y: f64) {
    const STEPS: usize = POINTS / 2;
    // Samples beyond the axis must not look like a second mode at its end.
    let drawn = scale.value(0.0)..=scale.value(1.0);
    let places: Vec<f64> = samples
        .iter()
        .filter(|value| drawn.contains(value))
        .map(|value| scale.place(*value))
        .collect();
    let (Some(low), Some(high)) = (
        quantile_of_sorted(&places, SHOWN.0),
        quantile_of_sorted(&places, 1.0),
    ) else {
        return;
    };
    let spread = quantile_of_sorted(&places, 0.75).zip(quantile_of_sorted(&places, 0.25));
    // Silverman's rule, from the interquartile range; a pixel and a half if all samples are equal.
    let spread = spread.map_or(0.0, |(upper, lower)| (upper - lower) / 1.34);
    let bandwidth = (0.9 * spread * (places.len() as f64).powf(-0.2)).max(1.5);
    let (from, to) = (
        (low - 2.5 * bandwidth).max(left),
        (high + 2.5 * bandwidth).min(right),
    );
    let density = |x: f64| -> f64 {
        places
            .iter()
            .map(|place| (-0.5 * ((x - place) / bandwidth).powi(2)).exp())
            .sum()
    };
    // The shape is narrow where samples are close together, so its median is always among the
    // points.
    let mut at: Vec<f64> = (0..=STEPS)
        .map(|step| from + (to - from) * step as f64 / STEPS as f64)
        .chain(
            [0.25, 0.5, 0.75]
                .iter()
                .filter_map(|q| quantile_of_sorted(&places, *q)),
        )
        .collect();
    at.sort_unstable_by(f64::total_cmp);
    let shape: Vec<(f64, f64)> = at.into_iter().map(|x| (x, density(x))).collect();
    let highest = shape
        .iter()
        .map(|(_, density)| *density)
        .fold(f64::MIN_POSITIVE, f64::max);
    let half = |density: f64| density / highest * (VIOLIN / 2.0 - 3.0);
    let upper = shape.iter().map(|(x, density)| (*x, y - half(*density)));
    let lower = shape
        .iter()
        .rev()
        .map(|(x, density)| (*x, y + half(*density)));
    canvas.polygon(&upper.chain(lower).collect::<Vec<_>>(), "violin s0");
}

/// A round to be drawn.
pub(crate) struct Round {
    /// Its name.
    pub name: String,
    /// Its samples.
    pub values: Vec<f64>,
    /// Whether the row's numbers are from it; else it is pale.
    pub counts: bool,
}

/// A line, a box and a mark for each round.
pub(super) fn rounds(rounds: &[Round], frame: &Frame<'_>) -> Markup {
    let height = ROUND * rounds.len() as f64;
    let (mut canvas, top) = frame.canvas(height + 26.0);
    let (left, right) = frame.edges(rounds.iter().map(|round| round.name.as_str()));
    let plot = (left, right - BESIDE);
    let samples: Vec<Vec<f64>> = rounds.iter().map(|round| sorted(&round.values)).collect();
    let pooled = sorted(&samples.concat());
    // If a round has few samples, even a high quantile of one round is its largest sample.
    let ends = [0.03, 0.97]
        .into_iter()
        .filter_map(|q| quantile_of_sorted(&pooled, q));
    let medians = samples
        .iter()
        .filter_map(|one| quantile_of_sorted(one, 0.5));
    let scale = Scale::fit(ends.chain(medians), Begin::Near, plot);
    frame.horizontal_axis(&mut canvas, &scale, plot, (top, top + height));
    // What counted, then what did not.
    let mut drawn = [(); 2].map(|()| (Vec::new(), Vec::new(), Vec::new()));
    for (index, Round { name, counts, .. }) in rounds.iter().enumerate() {
        let y = top + ROUND * (index as f64 + 0.5);
        canvas.text((left - 10.0, y + 4.0), "tick", Anchor::End, name);
        let at = |q| quantile_of_sorted(&samples[index], q).map(|value| scale.place(value));
        let (Some(min), Some(lower), Some(median), Some(upper), Some(max)) =
            (at(0.0), at(0.25), at(0.5), at(0.75), at(1.0))
        else {
            continue;
        };
        arrows(&mut canvas, scale.beyond(&samples[index]), plot, y);
        let (ranges, halves, medians) = &mut drawn[usize::from(!counts)];
        ranges.push(((min, y), (max, y)));
        halves.push(((lower, y), (upper.max(lower + 1.0), y)));
        medians.push(((median, y - 5.0), (median, y + 5.0)));
    }
    for ((ranges, halves, medians), pale) in drawn.iter().zip(["", " pale"]) {
        canvas.lines(ranges, &format!("thin s0{pale}"));
        canvas.lines(halves, &format!("half-box s0{pale}"));
        canvas.lines(medians, &format!("whisker s0{pale}"));
    }
    canvas.finish(frame.labels, frame.theme)
}
