//! What is spelled like something that was typed.

/// How alike a typed word and a known one must be for the one to be meant by the other, by Jaro and Winkler: two or three
/// letters of a word may be wrong.
pub(super) const MIN_SIMILARITY: f64 = 0.85;

/// Names suggested at most.
const MAX_SUGGESTED: usize = 3;

/// The few of these that are spelled like what was typed, the most similar first; none if none is.
pub(crate) fn similar<T: AsRef<str>>(typed: &str, known: impl IntoIterator<Item = T>) -> Vec<T> {
    let is_similar = |one: &T| strsim::jaro_winkler(typed, one.as_ref()) > MIN_SIMILARITY;
    most_similar(typed, known.into_iter().filter(is_similar))
}

/// The few of these that are most similar to what was typed, however little they are.
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
