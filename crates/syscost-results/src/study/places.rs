//! The positions of a study's parts in its text.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

/// The lines, from 1, of what a study refers to outside of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lines {
    /// Of its id.
    pub id: usize,
    /// Of its quantities, in their order.
    pub quantities: Vec<QuantityLines>,
}

/// The lines of one quantity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuantityLines {
    /// The quantity's first line.
    pub begin: usize,
    /// Of `as_published`; the quantity's first line if there is none, as for all others.
    pub as_published: usize,
    /// Of `ours`.
    pub ours: usize,
    /// The counts that it names, in its claims, its reasons and their texts.
    pub counted: Vec<CountLine>,
}

/// A count that a study names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountLine {
    /// Its name.
    pub name: String,
    /// The field that names it.
    pub field: &'static str,
    /// The field's line.
    pub line: usize,
}

/// The position of each part, which a [`Study`] no longer has.
#[derive(Deserialize)]
pub(super) struct Places {
    pub(super) id: Spanned<String>,
    #[serde(default, rename = "machine")]
    pub(super) machines: Vec<Spanned<Fields>>,
    #[serde(default, rename = "quantity")]
    pub(super) quantities: Vec<Spanned<QuantityPlaces>>,
    #[serde(default, rename = "ratio")]
    pub(super) ratios: Vec<Fields>,
    #[serde(default, rename = "doubt")]
    pub(super) doubts: Vec<Fields>,
    #[serde(default, rename = "chart")]
    pub(super) charts: Vec<Fields>,
}

/// The position of each field of a part.
pub(super) type Fields = BTreeMap<String, Spanned<toml::Value>>;

#[derive(Deserialize)]
pub(super) struct QuantityPlaces {
    pub(super) id: Spanned<String>,
    pub(super) as_published: Option<Spanned<String>>,
    pub(super) ours: Option<Spanned<String>>,
    pub(super) ours_scale: Option<Spanned<f64>>,
    #[serde(default)]
    pub(super) published: Vec<Spanned<Fields>>,
    #[serde(default, rename = "claim")]
    pub(super) claims: Vec<Spanned<Fields>>,
    #[serde(default, rename = "reason")]
    pub(super) reasons: Vec<Spanned<Fields>>,
}

/// The position of this field.
pub(super) fn field(fields: &Fields, name: &str) -> usize {
    fields.get(name).map_or(0, |one| one.span().start)
}

/// The position of this field of a part, or of the part if it has no such field.
pub(super) fn field_or_part(part: &Spanned<Fields>, name: &str) -> usize {
    let fields = part.get_ref();
    fields
        .get(name)
        .map_or(part.span().start, |one| one.span().start)
}

/// The lines of these positions.
pub(super) fn lines(places: &Places, line_of: impl Fn(usize) -> usize) -> Lines {
    let of = |place: &Spanned<QuantityPlaces>| {
        let begin = place.span().start;
        let fields = place.get_ref();
        let row = |row: &Option<Spanned<String>>| {
            line_of(row.as_ref().map_or(begin, |row| row.span().start))
        };
        let parts = fields.claims.iter().chain(&fields.reasons);
        QuantityLines {
            begin: line_of(begin),
            as_published: row(&fields.as_published),
            ours: row(&fields.ours),
            counted: parts
                .flat_map(|part| counts(part.get_ref(), &line_of))
                .collect(),
        }
    };
    Lines {
        id: line_of(places.id.span().start),
        quantities: places.quantities.iter().map(of).collect(),
    }
}

/// The counts that a claim or a reason names.
fn counts(fields: &Fields, line_of: impl Fn(usize) -> usize) -> Vec<CountLine> {
    let mut found = Vec::new();
    for field in ["counted", "holds", "broken", "text"] {
        let Some((value, text)) = fields
            .get(field)
            .and_then(|one| Some((one, one.get_ref().as_str()?)))
        else {
            continue;
        };
        let names: Vec<&str> = match field {
            "counted" => vec![text],
            _ => {
                let inner = text
                    .split('{')
                    .skip(1)
                    .filter_map(|rest| rest.split_once('}'));
                inner
                    .map(|(name, _)| name)
                    .filter(|name| !name.is_empty())
                    .collect()
            }
        };
        found.extend(names.into_iter().map(|name| CountLine {
            name: name.to_owned(),
            field,
            line: line_of(value.span().start),
        }));
    }
    found
}
