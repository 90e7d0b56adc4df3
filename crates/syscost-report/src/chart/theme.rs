//! The colours of charts.

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
    /// Size of the type, in the same unit; all else grows with it, except for the width and height.
    pub font_size: f64,
}

impl Style {
    /// Size of the type unless another is wanted.
    pub const FONT_SIZE: f64 = 12.0;

    /// What a unit of a picture's own is in its file's.
    pub(super) fn scale(self) -> f64 {
        self.font_size / Self::FONT_SIZE
    }

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
            font_size: Self::FONT_SIZE,
        }
    }
}

/// The colours of a theme, in CSS notation.
struct Colors {
    paper: &'static str,
    ink: &'static str,
    quiet: &'static str,
    grid: &'static str,
    /// Colours of series: contrast of at least 3:1 with the background, and different in lightness
    /// too, for the colour-blind.
    series: [&'static str; 6],
}

/// Light background.
const LIGHT: Colors = Colors {
    paper: "#ffffff",
    ink: "#16202c",
    quiet: "#55606e",
    grid: "#e3e7ec",
    series: [
        "#1c64c8", "#b84a08", "#0c7f60", "#8b3fb0", "#8a6800", "#c2255c",
    ],
};

/// Dark background.
const DARK: Colors = Colors {
    paper: "#12171e",
    ink: "#e6ebf1",
    quiet: "#9aa7b6",
    grid: "#2a323d",
    series: [
        "#6aaeff", "#ff9a5c", "#4cd0a4", "#cf97f2", "#dcb83f", "#ff7fa8",
    ],
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
            series,
        } = colors;
        let series: String = series
            .iter()
            .enumerate()
            .map(|(index, color)| format!(".s{index}{{color:{color}}}"))
            .collect();
        Some(format!(
            "text{{font:12px system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;fill:{ink}}}\
             .paper,.mark.open{{fill:{paper}}}.point{{fill:none;pointer-events:all}}.ink{{color:{ink}}}.title{{font-size:16px;font-weight:600}}\
             .tick,.source{{fill:{quiet};font-size:11px}}.grid{{stroke:{grid}}}.axis{{stroke:{quiet}}}{series}{SHAPES}"
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
            series,
        } = colors;
        let series: String = series
            .iter()
            .enumerate()
            .map(|(index, color)| format!("--s{index}:{color};"))
            .collect();
        format!("--paper:{paper};--ink:{ink};--quiet:{quiet};--grid:{grid};{series}")
    };
    let (light, dark) = (block(&LIGHT), block(&DARK));
    let series: String = (0..LIGHT.series.len())
        .map(|index| format!(".s{index}{{color:var(--s{index})}}"))
        .collect();
    format!(
        ":root{{color-scheme:light;{light}}}@media screen{{:root[data-theme=dark]{{color-scheme:dark;{dark}}}}}\
         @media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{color-scheme:dark;{dark}}}}}\
         {series}{SHAPES}.mark.open{{fill:var(--paper)}}"
    )
}

/// The style of charts' shapes, in pages and files alike.
const SHAPES: &str = "\
.mid{text-anchor:middle}.end{text-anchor:end}\
.bar{fill:currentColor;fill-opacity:.78}.stem{stroke:currentColor;stroke-opacity:.3;stroke-width:2}\
.whisker{stroke:currentColor;stroke-width:2;fill:none}.mark,.arrow{fill:currentColor}.mark.open{stroke:currentColor;stroke-width:2}\
.curve{stroke:currentColor;stroke-width:2;fill:none;stroke-linejoin:round}\
.curve.d1{stroke-dasharray:7 4}.curve.d2{stroke-dasharray:2 3}.curve.d3{stroke-dasharray:9 3 2 3}\
.band,.violin{fill:currentColor;fill-opacity:.24;stroke:currentColor}.band{stroke:none}\
.half-box{stroke:currentColor;stroke-opacity:.4;stroke-width:8}.thin{stroke:currentColor;fill:none}.pale{opacity:.35}.cell{fill:currentColor}\
.label{fill:currentColor}.border{stroke:currentColor;stroke-opacity:.45;stroke-dasharray:2 3}.change{stroke-dasharray:3 3}.value{font-variant-numeric:tabular-nums}";
