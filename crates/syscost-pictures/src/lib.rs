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

/// The text with a box in place of what the type lacks: a document may hold any character.
fn written(svg: &str) -> String {
    let face = Face::parse(FONTS[0], 0).ok();
    let has = |char| {
        let face = face.as_ref();
        face.is_none_or(|face| face.glyph_index(char).is_some())
    };
    svg.chars()
        .map(|char| {
            if char.is_ascii() || has(char) {
                char
            } else {
                '□'
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_type_has_what_charts_write_and_a_box_for_the_rest() {
        let own = "aZ09 µ ± × ≤ ≥ – … · ▸ ◂ ✓ äß éλΩж ●■▲◆";
        assert_eq!(written(own), own);
        assert_eq!(written("<text>計測 a</text>"), "<text>□□ a</text>");
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
