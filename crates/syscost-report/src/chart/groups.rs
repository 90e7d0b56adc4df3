//! Bars in groups, one below the other: a heading, and a bar in its own colour for each of those that
//! are compared.

use super::bars::{ends, whisker};
use super::canvas::{Anchor, Canvas, width_of};
use super::frame::BENEATH;
use super::{Bar, Begin, Frame, Scale};

/// Heights of a heading and of a bar's row, and the distance between groups.
const HEADING: f64 = 19.0;
const ROW: f64 = 17.0;
const BETWEEN: f64 = 8.0;
/// Height of a bar, in pixels.
const BAR: f64 = 11.0;
/// Distance of the figures from the plot, in pixels.
const GAP: f64 = 12.0;

/// The texts of a chart of groups.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Texts {
    /// All names that bars have in a set of charts: a name's place decides its colour.
    pub(crate) names: Vec<String>,
    /// What the values are.
    pub(crate) axis: String,
    /// The figure of each bar, group by group.
    pub(crate) figures: Vec<String>,
}

pub(crate) fn draw(groups: &[(String, Vec<Bar>)], texts: &Texts, frame: &Frame<'_>) -> Canvas {
    let bars = || groups.iter().flat_map(|(_, bars)| bars);
    let widths = texts.figures.iter().map(|figure| width_of(figure));
    let column = widths.fold(0.0, f64::max) + GAP;
    let mut figures = texts.figures.iter();
    let (left, edge) = frame.edges(bars().map(|bar| bar.label.as_str()));
    let right = edge - column;
    let rows = groups.iter().map(|(_, bars)| bars.len()).sum::<usize>() as f64;
    let height = (HEADING + BETWEEN) * groups.len() as f64 + ROW * rows;
    let (mut canvas, top) = frame.canvas(height + BENEATH, None);
    let values = bars().flat_map(|bar| ends(&bar.value));
    let scale = Scale::fit(values, Begin::Zero, (left, right));
    let axis = (&scale, texts.axis.as_str());
    frame.horizontal_axis(&mut canvas, axis, (left, right), (top, top + height));
    let mut y = top;
    for (heading, bars) in groups {
        y += HEADING;
        canvas.text((frame.margin(), y - 4.0), "value", Anchor::Start, heading);
        for bar in bars {
            let known = texts.names.iter().position(|name| *name == bar.label);
            let look = frame.look((known.unwrap_or(texts.names.len()), 1), 0);
            let class = look.color();
            let middle = y + ROW / 2.0;
            let end = (scale.place(bar.value.median), middle);
            canvas.text((left - 10.0, middle + 4.0), "name", Anchor::End, &bar.label);
            let figure = figures.next().map_or("", String::as_str);
            canvas.text((edge, middle + 4.0), "tick", Anchor::End, figure);
            // On a logarithmic axis a bar's length means nothing.
            if scale.is_logarithmic() {
                canvas.lines(&[((left, middle), end)], &format!("stem {class}"));
                canvas.marks(&[end], look.shape, 4.5, false, &class);
            } else {
                canvas.bars(left, &[end], BAR, &format!("bar {class}"));
            }
            canvas.lines(&whisker(&scale, &bar.value, middle), "whisker ink");
            y += ROW;
        }
        y += BETWEEN;
    }
    canvas
}

#[cfg(test)]
mod tests {
    use super::*;
    use syscost_results::Unit;

    use crate::chart::{self, Labels, TextOptions, Theme, Value, text_groups};
    use crate::expect::has;

    #[test]
    fn each_name_has_its_colour_in_every_group_and_a_logarithmic_axis_says_so() {
        let bar = |(label, median): &(&str, f64)| {
            Bar::new((*label).to_owned(), 0, Value::exactly(*median))
        };
        let of = |bars: &[(&str, f64)]| bars.iter().map(bar).collect::<Vec<Bar>>();
        let far = [
            ("call".to_owned(), of(&[("old", 1.0), ("here", 2.0)])),
            ("switch".to_owned(), of(&[("here", 900.0)])),
        ];
        let labels = Labels::default();
        let texts = Texts {
            names: ["here", "old"].map(str::to_owned).to_vec(),
            axis: "time".to_owned(),
            figures: ["1.0 ns", "2.00 ns", "900 ns"].map(str::to_owned).to_vec(),
        };
        let drawn = |groups: &[(String, Vec<Bar>)]| {
            chart::groups(groups, &texts, Unit::Nanoseconds, &labels, Theme::Page).into_string()
        };
        let svg = drawn(&far);
        assert_eq!(svg.matches("dot s0").count(), 2, "{svg}");
        assert_eq!(svg.matches("dot s1").count(), 1, "{svg}");
        has(&svg, &[">1.0 ns<", "time, logarithmic axis", ">switch<"]);
        let options = TextOptions::plain(80);
        let text = text_groups(&far, Unit::Nanoseconds, &labels, options);
        has(&text, &["\nswitch\nhere", "logarithmic axis"]);
        let near = [("call".to_owned(), of(&[("old", 1.0), ("here", 2.0)]))];
        let svg = drawn(&near);
        assert!(
            svg.contains("bar s1") && !svg.contains("logarithmic"),
            "{svg}"
        );
    }
}
