//! Finds names that are spelled like one that was typed.

/// Minimum Jaro-Winkler similarity of a typed word to the known one that it may mean: two or three
/// letters of a word may be wrong.
pub(super) const MIN_SIMILARITY: f64 = 0.85;

/// Maximum number of suggested names.
const MAX_SUGGESTED: usize = 3;

/// Returns the known names that are similar to what was typed, the most similar first.
pub(crate) fn similar<T: AsRef<str>>(typed: &str, known: impl IntoIterator<Item = T>) -> Vec<T> {
    let is_similar = |one: &T| strsim::jaro_winkler(typed, one.as_ref()) > MIN_SIMILARITY;
    most_similar(typed, known.into_iter().filter(is_similar))
}

/// Returns the known names that are most similar to what was typed, however little.
pub(crate) fn most_similar<T: AsRef<str>>(
    typed: &str,
    known: impl IntoIterator<Item = T>,
) -> Vec<T> {
    let similarity = |one: &T| strsim::jaro_winkler(typed, one.as_ref());
    let mut known: Vec<T> = known.into_iter().collect();
    known.sort_by(|a, b| similarity(b).total_cmp(&similarity(a)));
    known.truncate(MAX_SUGGESTED);
    known
}
