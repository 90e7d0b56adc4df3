//! Charts as PDF and PNG, made of their SVG. Their type is embedded: pictures are the same on every
//! machine, and there need not be a font on it.

use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};
use svg2pdf::{ConversionOptions, PageOptions};
use ttf_parser::Face;

/// DejaVu Sans, without what charts never show; `fonts/README.md` says how it was made.
const FONTS: [&[u8]; 2] = [
    include_bytes!("../fonts/DejaVuSans.ttf"),
    include_bytes!("../fonts/DejaVuSans-Bold.ttf"),
];

/// Why a chart is no picture.
#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    /// It is no SVG.
    #[error("reading the chart's SVG: {0}")]
    Svg(String),
    /// It cannot be converted.
    #[error("converting the chart into PDF: {0}; write it as .svg")]
    Pdf(String),
    /// It cannot be packed.
    #[error("writing the chart as PNG: {0}; write it as .svg")]
    Png(String),
    /// It is larger than a picture may be.
    #[error(
        "a PNG of {width} by {height} pixels is too large; draw fewer rows, or write .svg or .pdf"
    )]
    TooLarge {
        /// Pixels from left to right.
        width: u32,
        /// Pixels from top to bottom.
        height: u32,
    },
}

/// Pixels of a PNG for each CSS pixel of the chart: sharp on screens that have two, and in print.
const SCALE: f32 = 2.0;

/// Maximum number of pixels of a PNG on a side, and of all, each of which takes four bytes.
const MAX_SIDE: u32 = 32_000;
const MAX_PIXELS: u64 = 100_000_000;

/// CSS pixels in an inch.
const DPI: f32 = 96.0;

/// A chart as PDF, whose text can be searched and copied.
///
/// # Errors
/// When the chart is no SVG that can be converted.
pub fn pdf(svg: &str) -> Result<Vec<u8>, PictureError> {
    let page = PageOptions { dpi: DPI };
    let pdf = svg2pdf::to_pdf(&tree(svg)?, ConversionOptions::default(), page);
    pdf.map_err(|error| PictureError::Pdf(error.to_string()))
}

/// A chart as PNG.
///
/// # Errors
/// When the chart is no SVG that can be drawn, or larger than a picture may be.
pub fn png(svg: &str) -> Result<Vec<u8>, PictureError> {
    let tree = tree(svg)?;
    let pixels = |size: f32| (SCALE * size).ceil() as u32;
    let (width, height) = (pixels(tree.size().width()), pixels(tree.size().height()));
    let is_picture =
        width.max(height) <= MAX_SIDE && u64::from(width) * u64::from(height) <= MAX_PIXELS;
    let pixmap = is_picture.then(|| Pixmap::new(width, height)).flatten();
    let mut pixmap = pixmap.ok_or(PictureError::TooLarge { width, height })?;
    resvg::render(
        &tree,
        Transform::from_scale(SCALE, SCALE),
        &mut pixmap.as_mut(),
    );
    pixmap
        .encode_png()
        .map_err(|cause| PictureError::Png(cause.to_string()))
}

/// The chart in the form that both are made of.
fn tree(svg: &str) -> Result<Tree, PictureError> {
    let mut options = Options::default();
    let fonts = options.fontdb_mut();
    for font in FONTS {
        fonts.load_font_source(resvg::usvg::fontdb::Source::Binary(Arc::new(font)));
    }
    fonts.set_sans_serif_family("DejaVu Sans");
    Tree::from_str(&written(svg), &options).map_err(|cause| PictureError::Svg(cause.to_string()))
}

/// Stands for what the type lacks; both weights have it, so that a line stays in its own.
const LACKING: char = '¤';

/// The text as the type can write it: a document may hold any character.
fn written(svg: &str) -> String {
    let has = in_type();
    let letter = |char| if has(char) { char } else { LACKING };
    svg.chars().map(letter).collect()
}

/// What to say of a picture whose text has letters that the type lacks.
pub fn lacking(svg: &str) -> Option<String> {
    let has = in_type();
    let letters = svg.chars().filter(|char| !has(*char)).count();
    (letters > 0).then(|| {
        let are = if letters == 1 {
            "letter is"
        } else {
            "letters are"
        };
        format!("{letters} {are} not in the type, and drawn as {LACKING}; .svg has all")
    })
}

/// Whether the type has a character.
fn in_type() -> impl Fn(char) -> bool {
    let face = Face::parse(FONTS[0], 0).ok();
    move |char| {
        let face = face.as_ref();
        char.is_ascii() || face.is_none_or(|face| face.glyph_index(char).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_type_has_what_charts_write_and_the_rest_is_told() {
        let own = "aZ09 µ ± × ≤ ≥ – … · ▸ ◂ ✓ äß éλΩж ●■▲◆";
        assert_eq!(written(own), own);
        assert_eq!(lacking(own), None);
        assert_eq!(written("<text>計測 a</text>"), "<text>¤¤ a</text>");
        assert!(lacking("<text>計測 a</text>").is_some_and(|said| said.starts_with("2 letters")));
        for font in FONTS {
            let face = Face::parse(font, 0).expect("a font");
            assert!(face.glyph_index(LACKING).is_some());
        }
    }

    #[test]
    fn what_is_no_picture_is_an_error() {
        for make in [pdf, png] {
            let error = make("<p>no picture</p>").expect_err("it is no SVG");
            assert!(matches!(error, PictureError::Svg(_)), "{error}");
        }
        let of_size = |width: u32, height: u32| {
            png(&format!(
                "<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{height}'/>"
            ))
        };
        for (width, height) in [
            (1000, 900_000_000),
            (1000, 450_000),
            (10, 16_001),
            (16_001, 10),
            (5001, 5000),
        ] {
            let error = of_size(width, height).expect_err("too large");
            assert!(error.to_string().contains("is too large"), "{error}");
        }
        assert!(of_size(10, 16_000).is_ok(), "the longest side");
    }
}
