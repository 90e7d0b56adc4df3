//! The few SVG elements that charts are made of. Only this module writes SVG, so only it escapes
//! text.

use std::fmt::Write;

use maud::{Escaper, Markup, PreEscaped};

use super::{Labels, Style};

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
    /// What is said of points, and of which run.
    points: Vec<(Point, usize, String)>,
}

impl Canvas {
    pub(super) fn new(width: f64, height: f64) -> Self {
        Canvas {
            width,
            height,
            body: String::new(),
            points: Vec::new(),
        }
    }

    pub(super) fn width(&self) -> f64 {
        self.width
    }

    pub(super) fn height(&self) -> f64 {
        self.height
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

    /// Marks as one element; hollow ones say that there is no interval.
    pub(super) fn marks(
        &mut self,
        points: &[Point],
        shape: Shape,
        radius: f64,
        is_hollow: bool,
        color: &str,
    ) {
        let path: String = points.iter().map(|at| shape.path(*at, radius)).collect();
        if !path.is_empty() {
            let open = if is_hollow { " open" } else { "" };
            self.path(&path, &format!("dot{open} {color}"));
        }
    }

    /// Has a text shown at a point, and read at it: what is drawn there, of which run.
    pub(super) fn point(&mut self, at: Point, run: usize, text: String) {
        self.points.push((at, run, text));
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
    pub(super) fn rect(&mut self, corner: Point, size: Point, class: &str) {
        self.push(format_args!(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" class=\"{class}\"/>",
            number(corner.0),
            number(corner.1),
            number(size.0),
            number(size.1),
        ));
    }

    /// The whole picture, with its title, description and note for screen readers and for use on
    /// its own. What is said of its points is a list for a page's script, and titles in a file.
    pub(super) fn finish(self, labels: &Labels, look: Style) -> Markup {
        let (width, height) = (number(self.width), number(self.height));
        let style = look.theme.style();
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
            None => {
                out.push_str(&self.listed(labels));
                out.push('>');
            }
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
        if look.theme.is_file() {
            out.push_str(&self.titled(labels));
        }
        out.push_str("</svg>");
        PreEscaped(out)
    }

    /// The points as attributes: a line for each, its place, its run and its text.
    fn listed(&self, labels: &Labels) -> String {
        if self.points.is_empty() {
            return String::new();
        }
        let line = |(at, run, text): &(Point, usize, String)| {
            format!("{} {run} {}", point(*at), escaped(text))
        };
        let lines: Vec<String> = self.points.iter().map(line).collect();
        let runs = match labels.several() {
            [] => String::new(),
            runs => {
                let names: Vec<String> = runs.iter().map(|name| escaped(name)).collect();
                format!(" data-runs=\"{}\"", names.join("\n"))
            }
        };
        format!(" data-points=\"{}\"{runs}", lines.join("\n"))
    }

    /// The points as invisible circles with titles, which viewers show under the pointer.
    fn titled(&self, labels: &Labels) -> String {
        let circle = |((x, y), run, text): &(Point, usize, String)| {
            let run = labels.several().get(*run);
            let run = run.map_or_else(String::new, |name| format!(" · {name}"));
            format!(
                "<circle cx=\"{}\" cy=\"{}\" r=\"6\" class=\"point\"><title>{}</title></circle>",
                number(*x),
                number(*y),
                escaped(&format!("{text}{run}"))
            )
        };
        self.points.iter().map(circle).collect()
    }

    fn push(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.body.write_fmt(text);
    }
}

/// The shape of a series' marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Circle,
    Square,
    Triangle,
    Diamond,
    Down,
    Cross,
}

impl Shape {
    /// The number of shapes.
    pub(super) const COUNT: usize = 6;

    /// The shape of the series with this index.
    pub(super) fn of(index: usize) -> Self {
        const ALL: [Shape; Shape::COUNT] = [
            Shape::Circle,
            Shape::Square,
            Shape::Triangle,
            Shape::Diamond,
            Shape::Down,
            Shape::Cross,
        ];
        ALL[index % ALL.len()]
    }

    /// A closed shape around a point, about as large as a circle of this radius.
    fn path(self, (x, y): Point, radius: f64) -> String {
        let corners = |corners: &[Point]| {
            let corners = corners
                .iter()
                .map(|(right, down)| point((x + radius * right, y + radius * down)));
            format!("M{}z", corners.collect::<Vec<_>>().join("L"))
        };
        match self {
            Shape::Circle => {
                let (r, wide) = (number(radius), number(2.0 * radius));
                let left = point((x - radius, y));
                format!("M{left}a{r} {r} 0 1 0 {wide} 0a{r} {r} 0 1 0-{wide} 0z")
            }
            Shape::Square => corners(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
            Shape::Triangle => corners(&[(0.0, -1.3), (1.15, 0.8), (-1.15, 0.8)]),
            Shape::Down => corners(&[(0.0, 1.3), (1.15, -0.8), (-1.15, -0.8)]),
            Shape::Diamond => corners(&[(0.0, -1.35), (1.35, 0.0), (0.0, 1.35), (-1.35, 0.0)]),
            Shape::Cross => corners(&[
                (-1.2, -0.7),
                (-0.7, -1.2),
                (0.0, -0.5),
                (0.7, -1.2),
                (1.2, -0.7),
                (0.5, 0.0),
                (1.2, 0.7),
                (0.7, 1.2),
                (0.0, 0.5),
                (-0.7, 1.2),
                (-1.2, 0.7),
                (-0.5, 0.0),
            ]),
        }
    }
}

pub(super) fn width_of(text: &str) -> f64 {
    text.chars().count() as f64 * CHARACTER
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
