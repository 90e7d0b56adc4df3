//! What the processes of a row reported, in one.

use syscost_results::stats::order;

/// The range that contains both of these.
pub(super) fn wider(a: Option<(f64, f64)>, b: Option<(f64, f64)>) -> Option<(f64, f64)> {
    match (a, b) {
        (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
        (a, b) => a.or(b),
    }
}

/// Combines the numbers of all processes as the name says: the longest of all, the smallest of all,
/// the sum of counts, the mean of shares of places; else the median.
pub(super) fn over_processes(name: &str, values: &[f64]) -> Option<f64> {
    let has = |wanted: &[&str]| name.split('_').any(|word| wanted.contains(&word));
    if has(&["longest", "most", "largest"]) {
        values.iter().copied().reduce(f64::max)
    } else if has(&["shortest", "least", "smallest"]) {
        values.iter().copied().reduce(f64::min)
    } else if name.starts_with("singles_") {
        Some(values.iter().sum())
    } else if name.starts_with("placed_") {
        Some(values.iter().sum::<f64>() / values.len() as f64)
    } else {
        order::median(values)
    }
}

pub(super) fn merge_histogram(into: &mut Vec<(f64, u64)>, other: &[(f64, u64)]) {
    for &(bound, count) in other {
        match into.binary_search_by(|(known, _)| known.total_cmp(&bound)) {
            Ok(index) => into[index].1 += count,
            Err(index) => into.insert(index, (bound, count)),
        }
    }
}
