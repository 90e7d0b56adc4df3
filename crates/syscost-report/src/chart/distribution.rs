//! Distributions of samples.

use syscost_stats::order::{quantile_of_sorted, sorted};

use super::{
    Begin, Distribution, Frame, Scale,
    canvas::{Anchor, Canvas},
    caption::axis_title,
    formatted,
    frame::{ABOVE, BENEATH, Key},
    look,
};

/// Maximum number of points of one distribution's line.
const POINTS: usize = 60;
/// Height of a round in a row's details.
const ROUND: f64 = 14.0;
/// Quantiles that the axis covers, as shares: a few late samples beyond them would squeeze all others
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

/// Room to the right of a plot for an arrow and half a tick label, in pixels.
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
fn arrows(canvas: &mut Canvas, ends: (f64, f64), plot: (f64, f64), y: f64, color: &str) {
    let class = format!("arrow {color}");
    if ends.0 > 0.0 {
        canvas.arrow((plot.0 - 8.0, y), false, &class);
    }
    if ends.1 > 0.0 {
        canvas.arrow((plot.1 + 8.0, y), true, &class);
    }
}

pub(super) fn ecdf(distributions: &[Distribution], frame: &Frame<'_>) -> Canvas {
    /// Heights of the plot of one line and of several, and of a line of the legend.
    const HEIGHTS: (f64, f64) = (150.0, 240.0);
    const NAME: f64 = 18.0;
    let (height, names) = match distributions {
        [_, _, ..] => (HEIGHTS.1, NAME * distributions.len() as f64),
        _ => (HEIGHTS.0, 0.0),
    };
    let samples = all_sorted(distributions);
    let (series, count) = look::places(distributions.iter().map(|one| one.label.as_str()));
    // The names tell the runs, unless there is one of each.
    let key = Some(Key::MarkedLine).filter(|_| count > 1);
    let (mut canvas, top) = frame.canvas(ABOVE + height + BENEATH + names, key);
    let top = top + ABOVE;
    let (left, right) = frame.edges(["100 %"].into_iter());
    let plot = (left, right - BESIDE);
    let scale = fit(&samples, plot);
    let axis = (&scale, axis_title(frame.unit));
    frame.horizontal_axis(&mut canvas, axis, plot, (top + 6.0, top + height));
    let up = |share: f64| top + height - share * (height - 6.0);
    frame.title_above(&mut canvas, top, "share of the samples");
    for percent in [0, 25, 50, 75, 100] {
        let y = up(f64::from(percent) / 100.0);
        canvas.line((left, y), (plot.1, y), "grid");
        let label = format!("{percent} %");
        canvas.text((left - 8.0, y + 4.0), "tick", Anchor::End, &label);
    }
    for (index, (distribution, one)) in distributions.iter().zip(&samples).enumerate() {
        let look = frame.look((series[index], count), distribution.run);
        let class = format!("curve {}", look.line());
        let steps = steps(one, &scale, up);
        if let Some((first, _)) = steps.first() {
            canvas.stairs((*first, up(0.0)), &steps, &class);
        }
        if let Some((last, y)) = steps.last()
            && scale.beyond(one).1 > 0.0
        {
            canvas.line((*last, *y), (plot.1, *y), &class);
            let class = format!("arrow {}", look.color());
            canvas.arrow((plot.1 + 8.0, *y), true, &class);
        }
        let note = beyond(&scale, one);
        let value = distribution.value;
        let value = value.map_or_else(String::new, |value| formatted(frame.unit, &value));
        if let Some(median) = quantile_of_sorted(one, 0.5) {
            let at = (scale.place(median), up(0.5));
            if distributions.len() > 1 {
                canvas.marks(&[at], look.shape, 4.0, false, &look.color());
            }
            let text = format!("{}: {value}", distribution.label);
            canvas.point(at, distribution.run, text);
        }
        if distributions.len() < 2 {
            let place = (plot.1 - 4.0, top + 28.0);
            canvas.text(place, "tick", Anchor::End, &note);
            continue;
        }
        let y = top + height + BENEATH + NAME * (index as f64 + 0.5);
        let x = frame.margin();
        canvas.line((x, y - 4.0), (x + 20.0, y - 4.0), &class);
        look.legend_mark(&mut canvas, (x, y));
        let run = frame
            .runs()
            .get(distribution.run)
            .map_or("", String::as_str);
        let label = if count > 1 || run.is_empty() {
            distribution.label.as_str()
        } else {
            ""
        };
        let mut parts = vec![label, run, &value, &note];
        parts.retain(|part| !part.is_empty());
        canvas.text((x + 26.0, y), "name", Anchor::Start, &parts.join(" · "));
    }
    canvas
}

/// The corners of the line of sorted samples, as far as the axis goes.
fn steps(sorted: &[f64], scale: &Scale, up: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
    let count = sorted.len().min(POINTS);
    let step = |step: usize| {
        let share = step as f64 / count as f64;
        // The smallest sample such that at least this share of the samples is no larger.
        let at = (share * sorted.len() as f64).ceil() as usize;
        (sorted[at.clamp(1, sorted.len()) - 1], share)
    };
    (1..=count)
        .map(step)
        // Nothing is drawn beyond the axis: the line ends below 100 %, with an arrow.
        .take_while(|(value, _)| *value <= scale.value(1.0))
        .map(|(value, share)| (scale.place(value), up(share)))
        .collect()
}

pub(crate) struct Round {
    /// Its name.
    pub name: String,
    /// Its samples.
    pub values: Vec<f64>,
    /// Whether the row's numbers are from it; else it is pale.
    pub counts: bool,
}

/// A line, a box and a mark for each round.
pub(super) fn rounds(rounds: &[Round], frame: &Frame<'_>) -> Canvas {
    let height = ROUND * rounds.len() as f64;
    let (mut canvas, top) = frame.canvas(height + BENEATH, None);
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
    let axis = (&scale, axis_title(frame.unit));
    frame.horizontal_axis(&mut canvas, axis, plot, (top, top + height));
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
        arrows(&mut canvas, scale.beyond(&samples[index]), plot, y, "s0");
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
    canvas
}
