//! The colours of charts.

use super::color::Color;

/// The look of a chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Theme {
    /// The colours of the page that contains it, narrow enough for a phone.
    Page,
    /// The same colours, as wide as the page is on a screen.
    Wide,
    /// A file with a light background.
    Light,
    /// A file with a dark background.
    Dark,
}

/// The look of a picture: its theme and its size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Style {
    /// Its colours.
    pub theme: Theme,
    /// Its width, in CSS pixels of a file; a picture in a page is as wide as its place, and this decides
    /// what stands beside each other.
    pub width: f64,
    /// Its height, likewise; `None` is what its rows need.
    pub height: Option<f64>,
}

impl Style {
    /// This width instead.
    pub fn wide(self, width: f64) -> Self {
        Style { width, ..self }
    }
}

impl From<Theme> for Style {
    fn from(theme: Theme) -> Self {
        Style {
            theme,
            width: match theme {
                Theme::Page => 330.0,
                Theme::Wide | Theme::Light | Theme::Dark => 760.0,
            },
            height: None,
        }
    }
}

/// The colours of a theme, in CSS notation.
struct Colors {
    paper: &'static str,
    ink: &'static str,
    quiet: &'static str,
    grid: &'static str,
    /// Colours of series and of their names: contrast of at least 4.5:1 with the background, and
    /// different for the colour-blind, too.
    series: [&'static str; 6],
    /// Colours of the smallest and the largest value in a heat map.
    ends: [&'static str; 2],
}

/// Number of steps of a heat map's colours.
pub(super) const STEPS: usize = 16;

impl Colors {
    /// The colours of a heat map, from the smallest to the largest value, each with the one of the text
    /// on it.
    fn steps(&self) -> Vec<(String, &'static str)> {
        let [least, most] = self.ends.map(Color::of);
        let step = |step: usize| {
            let color = least.mixed(most, step as f64 / (STEPS - 1) as f64);
            // One of both is legible on any colour.
            let contrast = |ink: &&str| color.contrast(Color::of(ink));
            let ink = ["#000000", "#ffffff"].into_iter();
            let ink = ink.max_by(|a, b| contrast(a).total_cmp(&contrast(b)));
            (color.hex(), ink.unwrap_or("#000000"))
        };
        (0..STEPS).map(step).collect()
    }

    /// What is written of each series' colour, and of each step's with that of its text.
    fn numbered(
        &self,
        series: fn(usize, &str) -> String,
        step: fn(usize, &str, &str) -> String,
    ) -> String {
        let all = self.series.iter().enumerate();
        let all: String = all.map(|(index, color)| series(index, color)).collect();
        let steps = self.steps().into_iter().enumerate();
        all + &steps
            .map(|(index, (color, ink))| step(index, &color, ink))
            .collect::<String>()
    }
}

/// Light background.
const LIGHT: Colors = Colors {
    paper: "#ffffff",
    ink: "#16202c",
    quiet: "#55606e",
    grid: "#e3e7ec",
    series: [
        "#2c49cc", "#c3520e", "#1f7a65", "#54237f", "#724e0b", "#901d50",
    ],
    ends: ["#e3f0fb", "#0a2a6b"],
};

/// Dark background.
const DARK: Colors = Colors {
    paper: "#12171e",
    ink: "#e6ebf1",
    quiet: "#9aa7b6",
    grid: "#2a323d",
    series: [
        "#4181d5", "#e79247", "#85fbb5", "#d7acff", "#f7cc09", "#d65181",
    ],
    ends: ["#20355c", "#e3f0fb"],
};

impl Theme {
    /// Whether a chart is a file, with its title and source; in a page these stand around it.
    pub(super) fn is_file(self) -> bool {
        match self {
            Theme::Light | Theme::Dark => true,
            Theme::Page | Theme::Wide => false,
        }
    }

    /// The style sheet of a file; `None` in a page. Plain colours, as not every program that reads
    /// SVG knows CSS variables.
    pub(super) fn style(self) -> Option<String> {
        let colors = match self {
            Theme::Page | Theme::Wide => return None,
            Theme::Light => &LIGHT,
            Theme::Dark => &DARK,
        };
        let Colors {
            paper,
            ink,
            quiet,
            grid,
            ..
        } = colors;
        let rules = colors.numbered(
            |index, color| format!(".s{index}{{color:{color}}}"),
            |index, color, ink| format!(".c{index}{{fill:{color}}}.value.t{index}{{fill:{ink}}}"),
        );
        Some(format!(
            "text{{font:12px system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;fill:{ink}}}\
             .paper,.dot.open{{fill:{paper}}}.point{{fill:none;pointer-events:all}}.ink{{color:{ink}}}.title{{font-size:16px;font-weight:600}}\
             .tick,.source{{fill:{quiet};font-size:11px}}.grid{{stroke:{grid}}}.axis{{stroke:{quiet}}}{rules}{SHAPES}"
        ))
    }
}

/// The colours as CSS variables of a page, light and dark, and the style of its charts' shapes.
pub(crate) fn variables() -> String {
    let block = |colors: &Colors| {
        let Colors {
            paper,
            ink,
            quiet,
            grid,
            ..
        } = colors;
        let variables = colors.numbered(
            |index, color| format!("--s{index}:{color};"),
            |index, color, ink| format!("--c{index}:{color};--t{index}:{ink};"),
        );
        format!("--paper:{paper};--ink:{ink};--quiet:{quiet};--grid:{grid};{variables}")
    };
    let (light, dark) = (block(&LIGHT), block(&DARK));
    let rules = LIGHT.numbered(
        |index, _| format!(".s{index}{{color:var(--s{index})}}"),
        |index, _, _| {
            format!(".c{index}{{fill:var(--c{index})}}.chart .t{index}{{fill:var(--t{index})}}")
        },
    );
    format!(
        ":root{{color-scheme:light;{light}}}@media screen{{:root[data-theme=dark]{{color-scheme:dark;{dark}}}}}\
         @media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{color-scheme:dark;{dark}}}}}\
         {rules}{SHAPES}.dot.open{{fill:var(--paper)}}"
    )
}

/// The style of charts' shapes, in pages and files alike.
const SHAPES: &str = "\
.mid{text-anchor:middle}.end{text-anchor:end}\
.bar{fill:currentColor;fill-opacity:.78}.stem{stroke:currentColor;stroke-opacity:.3;stroke-width:2}\
.whisker{stroke:currentColor;stroke-width:2;fill:none}.dot,.arrow{fill:currentColor}.dot.open{stroke:currentColor;stroke-width:2}\
.curve{stroke:currentColor;stroke-width:2;fill:none;stroke-linejoin:round}\
.curve.d1{stroke-dasharray:7 4}.curve.d2{stroke-dasharray:2 3}.curve.d3{stroke-dasharray:9 3 2 3}\
.band{fill:currentColor;fill-opacity:.24;stroke:none}\
.half-box{stroke:currentColor;stroke-opacity:.4;stroke-width:8}.thin{stroke:currentColor;fill:none}.pale{opacity:.35}\
.label{fill:currentColor}.border{stroke:currentColor;stroke-opacity:.45;stroke-dasharray:2 3}.change{stroke-dasharray:3 3}.value{font-variant-numeric:tabular-nums}";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::color::tests::apart;

    const BOTH: [Colors; 2] = [LIGHT, DARK];

    #[test]
    fn series_are_told_apart_by_the_colour_blind_and_legible() {
        for Colors { series, paper, .. } in BOTH {
            for (index, color) in series.iter().enumerate() {
                let contrast = Color::of(color).contrast(Color::of(paper));
                assert!(contrast >= 4.5, "{color} on {paper}: {contrast}");
                for other in &series[..index] {
                    let apart = apart(color, other);
                    assert!(apart >= 0.07, "{color} and {other}: {apart}");
                }
            }
            // In print without colours the runs of a comparison differ, too.
            let [one, other] = [0, 1].map(|index| Color::of(series[index]).oklab()[0]);
            assert!((one - other).abs() >= 0.1, "{one} and {other}");
        }
    }

    #[test]
    fn steps_look_equal_reach_from_pale_to_dark_and_their_text_is_legible() {
        for colors in BOTH {
            let steps = colors.steps();
            let lightness: Vec<f64> = (steps.iter())
                .map(|(color, _)| Color::of(color).oklab()[0])
                .collect();
            let whole = lightness[STEPS - 1] - lightness[0];
            assert!(whole.abs() > 0.6, "{whole}");
            for pair in lightness.windows(2) {
                let share = (pair[1] - pair[0]) / whole * (STEPS - 1) as f64;
                assert!((0.9..1.1).contains(&share), "{lightness:?}");
            }
            for (color, ink) in &steps {
                let contrast = Color::of(color).contrast(Color::of(ink));
                assert!(contrast >= 4.5, "{ink} on {color}: {contrast}");
            }
            // The smallest value's cell differs from where there is none.
            let first = Color::of(&steps[0].0).contrast(Color::of(colors.paper));
            assert!(first > 1.1, "{first}");
        }
    }
}
