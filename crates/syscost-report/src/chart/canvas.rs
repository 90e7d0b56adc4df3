//! The few SVG elements that charts are made of. Only this module writes SVG, so only it escapes
//! text.

use std::fmt::Write;

use maud::{Escaper, Markup, PreEscaped};

use super::{Labels, Theme};

/// Mean width of a character in the picture's units: a generous guess, since fonts differ.
const CHARACTER: f64 = 7.6;

/// A point in a picture: distance from the left, distance from the top.
type Point = (f64, f64);

/// How a text is aligned to its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// An SVG picture under construction. Shapes get classes, not colours: the theme decides their
/// look.
pub(super) struct Canvas {
    width: f64,
    height: f64,
    body: String,
}

impl Canvas {
    pub(super) fn new(width: f64, height: f64) -> Self {
        Canvas {
            width,
            height,
            body: String::new(),
        }
    }

    pub(super) fn width(&self) -> f64 {
        self.width
    }

    pub(super) fn text(&mut self, (x, y): (f64, f64), class: &str, anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " mid",
            Anchor::End => " end",
        };
        self.push(format_args!(
            "<text x=\"{}\" y=\"{}\" class=\"{class}{anchor}\">{}</text>",
            number(x),
            number(y),
            escaped(text)
        ));
    }

    /// A straight line from one point to another.
    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), class: &str) {
        self.path(&segment(from, to), class);
    }

    /// A line through all points.
    pub(super) fn polyline(&mut self, points: &[(f64, f64)], class: &str) {
        let points: Vec<String> = points.iter().copied().map(point).collect();
        self.path(&format!("M{}", points.join("L")), class);
    }

    /// A filled shape with these corners.
    pub(super) fn polygon(&mut self, points: &[(f64, f64)], class: &str) {
        let points: Vec<String> = points.iter().copied().map(point).collect();
        self.path(&format!("M{}Z", points.join("L")), class);
    }

    /// A triangle with its tip at this point, pointing right or left: the data continue beyond the
    /// axis.
    pub(super) fn arrow(&mut self, (x, y): (f64, f64), right: bool, class: &str) {
        let back = if right { x - 6.0 } else { x + 6.0 };
        self.polygon(&[(x, y), (back, y - 4.0), (back, y + 4.0)], class);
    }

    /// Several lines as one element, which makes a picture of many lines much smaller.
    pub(super) fn lines(&mut self, lines: &[(Point, Point)], class: &str) {
        let path: String = lines.iter().map(|(from, to)| segment(*from, *to)).collect();
        if !path.is_empty() {
            self.path(&path, class);
        }
    }

    /// A step line: right, then up or down, from point to point.
    pub(super) fn stairs(&mut self, from: (f64, f64), steps: &[(f64, f64)], class: &str) {
        let mut path = format!("M{}", point(from));
        for (x, y) in steps {
            let _ = write!(path, "H{}V{}", number(*x), number(*y));
        }
        self.path(&path, class);
    }

    pub(super) fn path(&mut self, path: &str, class: &str) {
        self.push(format_args!("<path d=\"{path}\" class=\"{class}\"/>"));
    }

    /// A dot; the title is shown while a pointer rests on it.
    pub(super) fn dot(&mut self, (x, y): (f64, f64), radius: f64, class: &str, title: &str) {
        self.push(format_args!(
            "<circle cx=\"{}\" cy=\"{}\" r=\"{}\" class=\"{class}\">{}</circle>",
            number(x),
            number(y),
            number(radius),
            tooltip(title)
        ));
    }

    /// Dots without titles as one element.
    pub(super) fn dots(&mut self, points: &[Point], class: &str) {
        // A line of zero length is drawn as its round caps alone.
        let path: String = points
            .iter()
            .map(|at| format!("M{}h0", point(*at)))
            .collect();
        if !path.is_empty() {
            self.path(&path, class);
        }
    }

    /// Bars from `left` to these right ends, as one element.
    pub(super) fn bars(&mut self, left: f64, ends: &[Point], height: f64, class: &str) {
        let bar = |(right, middle): &Point| {
            let (top, bottom) = (middle - height / 2.0, middle + height / 2.0);
            let right = number(right.max(left + 1.0));
            format!(
                "M{}H{right}V{}H{}z",
                point((left, top)),
                number(bottom),
                number(left)
            )
        };
        let path: String = ends.iter().map(bar).collect();
        if !path.is_empty() {
            self.path(&path, class);
        }
    }

    /// A rectangle, given its upper left corner, width and height.
    pub(super) fn rect(&mut self, corner: (f64, f64), size: (f64, f64), class: &str, more: &Rect) {
        let opacity = more.opacity.map_or_else(String::new, |opacity| {
            format!(" fill-opacity=\"{opacity:.2}\"")
        });
        self.push(format_args!(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\" class=\"{class}\"{opacity}>{}</rect>",
            number(corner.0),
            number(corner.1),
            number(size.0),
            number(size.1),
            number(more.radius),
            tooltip(&more.title)
        ));
    }

    /// The whole picture, with its title, description and note for screen readers and for use on
    /// its own.
    pub(super) fn finish(self, labels: &Labels, theme: Theme) -> Markup {
        let (width, height) = (number(self.width), number(self.height));
        let style = theme.style();
        // Inside an HTML page an `svg` element needs no namespace.
        let namespace = match style {
            None => "",
            Some(_) => "xmlns=\"http://www.w3.org/2000/svg\" ",
        };
        let mut out = format!(
            "<svg {namespace}viewBox=\"0 0 {width} {height}\" class=\"chart\" role=\"img\" aria-label=\"{}\"",
            escaped(&labels.spoken())
        );
        match style {
            None => out.push('>'),
            Some(style) => {
                let _ = write!(
                    out,
                    " width=\"{width}\" height=\"{height}\"><title>{}</title><desc>{}</desc><style>{style}</style>\
                     <rect width=\"{width}\" height=\"{height}\" class=\"paper\"/>",
                    escaped(&labels.title),
                    escaped(&labels.description),
                );
            }
        }
        out.push_str(&self.body);
        out.push_str("</svg>");
        PreEscaped(out)
    }

    fn push(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.body.write_fmt(text);
    }
}

/// A rectangle's optional attributes.
#[derive(Debug, Default)]
pub(super) struct Rect {
    pub(super) radius: f64,
    pub(super) opacity: Option<f64>,
    pub(super) title: String,
}

/// Approximate width of a text.
pub(super) fn width_of(text: &str) -> f64 {
    text.chars().count() as f64 * CHARACTER
}

fn tooltip(title: &str) -> String {
    if title.is_empty() {
        return String::new();
    }
    format!("<title>{}</title>", escaped(title))
}

/// Text as XML allows it: without control characters.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    let text: String = text.chars().filter(|char| !char.is_control()).collect();
    let _ = Escaper::new(&mut out).write_str(&text);
    out
}

/// A straight line as path data, in the short form where it is horizontal or vertical.
fn segment(from: Point, to: Point) -> String {
    let end = match (
        number(from.0) == number(to.0),
        number(from.1) == number(to.1),
    ) {
        (true, false) => format!("V{}", number(to.1)),
        (_, true) => format!("H{}", number(to.0)),
        (false, false) => format!("L{}", point(to)),
    };
    format!("M{}{end}", point(from))
}

fn point((x, y): (f64, f64)) -> String {
    format!("{} {}", number(x), number(y))
}

/// A coordinate, rounded to a tenth of a unit: finer steps are invisible, and a picture has
/// thousands of coordinates.
fn number(value: f64) -> String {
    let text = format!("{value:.1}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "-0" { "0" } else { text }.to_owned()
}
