//! Bars in groups, one below the other: a heading, and a bar in its own colour for each of those that
//! are compared.

use maud::Markup;
use syscost_results::Unit;

use crate::units::quantity;

use super::bars::{ends, whisker};
use super::canvas::{Anchor, width_of};
use super::{Bar, Begin, Frame, Labels, Scale, Theme, series};

/// Heights of a heading and of a bar's row, and the distance between groups.
const HEADING: f64 = 19.0;
const ROW: f64 = 17.0;
const BETWEEN: f64 = 8.0;
/// Height of a bar.
const BAR: f64 = 11.0;
/// Distance of the figures from the plot.
const GAP: f64 = 12.0;

/// Bars in groups with headings; a bar's name decides its colour.
pub(crate) fn draw(
    groups: &[(String, Vec<Bar>)],
    unit: Unit,
    labels: &Labels,
    theme: Theme,
) -> Markup {
    let frame = &Frame {
        unit,
        labels,
        theme,
    };
    let bars = || groups.iter().flat_map(|(_, bars)| bars);
    // The table above has the intervals.
    let figure = |bar: &Bar| quantity(frame.unit, bar.value.median);
    let column = bars().map(|bar| width_of(&figure(bar))).fold(0.0, f64::max) + GAP;
    let (left, edge) = frame.edges(bars().map(|bar| bar.label.as_str()));
    let right = edge - column;
    let rows = groups.iter().map(|(_, bars)| bars.len()).sum::<usize>() as f64;
    let height = (HEADING + BETWEEN) * groups.len() as f64 + ROW * rows;
    let (mut canvas, top) = frame.canvas(height + 42.0);
    let values = bars().flat_map(|bar| ends(&bar.value));
    let scale = Scale::fit(values, Begin::Zero, (left, right));
    frame.horizontal_axis(&mut canvas, &scale, (left, right), (top, top + height));
    if scale.is_logarithmic() {
        let place = (left, top + height + 32.0);
        canvas.text(place, "tick", Anchor::Start, "logarithmic axis");
    }
    let mut names: Vec<&str> = Vec::new();
    let mut y = top;
    for (heading, bars) in groups {
        y += HEADING;
        canvas.text((frame.margin(), y - 4.0), "value", Anchor::Start, heading);
        for bar in bars {
            let known = names.iter().position(|name| *name == bar.label);
            let index = known.unwrap_or_else(|| {
                names.push(&bar.label);
                names.len() - 1
            });
            let (class, middle) = (series(index), y + ROW / 2.0);
            let end = (scale.place(bar.value.median), middle);
            canvas.text((left - 10.0, middle + 4.0), "name", Anchor::End, &bar.label);
            canvas.text((edge, middle + 4.0), "tick", Anchor::End, &figure(bar));
            // On a logarithmic axis a bar's length means nothing.
            if scale.is_logarithmic() {
                canvas.lines(&[((left, middle), end)], &format!("stem {class}"));
                canvas.dots(&[end], &format!("dots {class}"));
            } else {
                canvas.bars(left, &[end], BAR, &format!("bar {class}"));
            }
            canvas.lines(&whisker(&scale, &bar.value, middle), "whisker ink");
            y += ROW;
        }
        y += BETWEEN;
    }
    canvas.finish(frame.labels, frame.theme)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{TextOptions, Value, text_groups};

    #[test]
    fn each_name_has_its_colour_in_every_group_and_a_logarithmic_axis_says_so() {
        let bar = |(label, median): &(&str, f64)| Bar {
            label: (*label).to_owned(),
            value: Value {
                median: *median,
                low: None,
                high: None,
            },
        };
        let of = |bars: &[(&str, f64)]| bars.iter().map(bar).collect::<Vec<Bar>>();
        let far = [
            ("call".to_owned(), of(&[("old", 1.0), ("here", 2.0)])),
            ("switch".to_owned(), of(&[("here", 900.0)])),
        ];
        let labels = Labels::default();
        let svg = draw(&far, Unit::Nanoseconds, &labels, Theme::Page).into_string();
        assert_eq!(svg.matches("dots s1").count(), 2, "{svg}");
        assert!(
            svg.contains("logarithmic axis") && svg.contains(">switch<"),
            "{svg}"
        );
        let options = TextOptions {
            width: 80,
            color: false,
        };
        let text = text_groups(&far, Unit::Nanoseconds, &labels, options);
        assert!(
            text.contains("\nswitch\nhere") && text.contains("logarithmic axis"),
            "{text}"
        );
        let near = [("call".to_owned(), of(&[("old", 1.0), ("here", 2.0)]))];
        let svg = draw(&near, Unit::Nanoseconds, &labels, Theme::Page).into_string();
        assert!(
            svg.contains("bar s1") && !svg.contains("logarithmic"),
            "{svg}"
        );
    }
}
