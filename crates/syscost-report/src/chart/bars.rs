//! A bar for each value.

use super::{
    Bar, Begin, Frame, Scale, Value,
    canvas::Canvas,
    caption::axis_title,
    formatted,
    frame::{BENEATH, Key},
    named::{Figure, Named},
};

/// Minimum height of a row, in pixels: with its name beside it, and with its name above it.
const ROW: f64 = 24.0;
const ROW_BENEATH: f64 = 20.0;
/// Distance from the plot to the figures, which have a column of their own so that none covers a
/// mark.
const GAP: f64 = 14.0;
/// Height of a bar, alone on its line and among those of several runs; and from one of these to
/// the next, as from figure to figure.
const BAR: f64 = 14.0;
const BAR_OF_RUN: f64 = 9.0;
const STEP: f64 = 13.0;

pub(super) fn draw(bars: &[Bar], frame: &Frame<'_>) -> Canvas {
    let lines = lines(bars);
    let labels: Vec<&str> = lines.iter().map(|bars| bars[0].label.as_str()).collect();
    let figures: Vec<Vec<Figure>> = lines
        .iter()
        .map(|bars| {
            bars.iter()
                .map(|bar| Figure::of(&bar.value, bar.run, frame))
        })
        .map(Iterator::collect)
        .collect();
    let row = if frame.is_narrow() { ROW_BENEATH } else { ROW };
    let most = lines.iter().map(|bars| bars.len()).max().unwrap_or(1);
    let least = STEP * most as f64 + 4.0;
    let row = frame.row_height(least, row.max(least), lines.len());
    let named = Named::new(&labels, &figures, (row, GAP), frame);
    let (plot, height) = (named.plot, named.height);
    let (mut canvas, top) = frame.canvas(height + BENEATH, Some(Key::Mark));
    let scale = Scale::fit(
        bars.iter().flat_map(|bar| ends(&bar.value)),
        Begin::Zero,
        plot,
    );
    let axis = (&scale, axis_title(frame.unit));
    frame.horizontal_axis(&mut canvas, axis, plot, (top, top + height));
    named.write(&mut canvas, top, frame);
    let mut placed: Vec<(&Bar, (f64, f64))> = Vec::new();
    for (bars, middle) in lines.iter().zip(&named.middles) {
        let first = top + middle - STEP * (bars.len() as f64 - 1.0) / 2.0;
        for (index, bar) in bars.iter().enumerate() {
            let y = first + STEP * index as f64;
            placed.push((bar, (scale.place(bar.value.median), y)));
        }
    }
    let (dots, others): (Vec<_>, Vec<_>) = placed
        .iter()
        .copied()
        .partition(|(bar, _)| scale.is_logarithmic() || bar.value.median < 0.0);
    let runs = bars.iter().map(|bar| bar.run + 1).max().unwrap_or(0);
    for run in 0..runs {
        let of_run = |all: &[(&'_ Bar, (f64, f64))]| {
            let all = all.iter().filter(|(bar, _)| bar.run == run);
            all.map(|(bar, end)| (bar.value, *end)).collect::<Vec<_>>()
        };
        let height = if most > 1 { BAR_OF_RUN } else { BAR };
        let size = (plot.0, height);
        marks(
            &mut canvas,
            &scale,
            &of_run(&others),
            &of_run(&dots),
            size,
            (run, frame),
        );
    }
    for (bar, end) in placed {
        let text = format!("{}: {}", bar.label, formatted(frame.unit, &bar.value));
        canvas.point(end, bar.run, text);
    }
    canvas
}

/// The bars of each line: those of one label, by run.
pub(super) fn lines(bars: &[Bar]) -> Vec<&[Bar]> {
    bars.chunk_by(|one, next| one.label == next.label && one.run < next.run)
        .collect()
}

/// A run's bars with their intervals, and dots where a bar's length would mean nothing: few elements
/// for all of them, as a picture may have many.
fn marks(
    canvas: &mut Canvas,
    scale: &Scale,
    bars: &[(Value, (f64, f64))],
    dots: &[(Value, (f64, f64))],
    (left, height): (f64, f64),
    (run, frame): (usize, &Frame<'_>),
) {
    let look = frame.look((0, 1), run);
    let color = look.color();
    let ends: Vec<(f64, f64)> = bars.iter().map(|(_, end)| *end).collect();
    canvas.bars(left, &ends, height, &format!("bar {color}"));
    if !frame.runs().is_empty() {
        // Bars have no shape of their own that tells the run.
        let begins: Vec<(f64, f64)> = ends.iter().map(|(_, y)| (left - 6.0, *y)).collect();
        canvas.marks(&begins, look.shape, 3.2, false, &color);
    }
    let stems = dots.iter().map(|(_, (x, y))| ((left, *y), (*x, *y)));
    canvas.lines(&stems.collect::<Vec<_>>(), &format!("stem {color}"));
    for (all, class) in [(bars, "whisker ink"), (dots, &format!("whisker {color}"))] {
        let whiskers = all
            .iter()
            .flat_map(|(value, (_, y))| whisker(scale, value, *y));
        canvas.lines(&whiskers.collect::<Vec<_>>(), class);
    }
    let (hollow, full): (Vec<_>, Vec<_>) =
        dots.iter().partition(|(value, _)| value.has_no_interval());
    for (all, is_hollow) in [(full, false), (hollow, true)] {
        let points: Vec<(f64, f64)> = all.into_iter().map(|(_, end)| end).collect();
        canvas.marks(&points, look.shape, 4.5, is_hollow, &color);
    }
}

/// The interval as a line with end caps; empty without an interval.
pub(super) fn whisker(scale: &Scale, value: &Value, y: f64) -> Vec<((f64, f64), (f64, f64))> {
    let Some((low, high)) = value.low.zip(value.high) else {
        return Vec::new();
    };
    let (low, high) = (scale.place(low), scale.place(high));
    vec![
        ((low, y), (high, y)),
        ((low, y - 4.0), (low, y + 4.0)),
        ((high, y - 4.0), (high, y + 4.0)),
    ]
}

/// The values that an axis must include: the median and the interval's ends.
pub(super) fn ends(value: &Value) -> impl Iterator<Item = f64> {
    [Some(value.median), value.low, value.high]
        .into_iter()
        .flatten()
}
