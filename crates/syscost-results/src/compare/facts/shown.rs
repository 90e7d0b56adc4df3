//! The values of a fact as text.

use serde_json::Value;

/// The values as text; `None` if nothing is known.
pub(super) fn shown(values: &[Value]) -> Option<String> {
    let known: Vec<String> = values
        .iter()
        .filter(|value| !value.is_null())
        .map(|value| match value {
            Value::String(text) if text.is_empty() => "none".to_owned(),
            Value::String(text) => text.clone(),
            Value::Number(number) if number.is_f64() => {
                number.as_f64().map_or_else(String::new, rounded)
            }
            other => other.to_string(),
        })
        .collect();
    (!known.is_empty()).then(|| known.join(" or "))
}

/// A measured number with four significant digits, enough to distinguish values that differ by more
/// than [`TOLERANCE`](super::TOLERANCE).
fn rounded(number: f64) -> String {
    let magnitude = number.abs().max(f64::MIN_POSITIVE).log10().floor();
    let decimals = (3.0 - magnitude).clamp(0.0, 12.0) as usize;
    let text = format!("{number:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::rounded;

    #[test]
    fn measured_numbers_are_shown_in_four_digits() {
        let texts = [2.4454041442403205, 2.3, 0.0, 12.0, 0.000123456, 1234567.8].map(rounded);
        assert_eq!(texts, ["2.445", "2.3", "0", "12", "0.0001235", "1234568"]);
    }
}
