//! Wraps names into several lines.

/// The text in lines of at most `max_chars` characters, broken after a comma or space where
/// possible; nothing is lost.
pub(crate) fn wrapped(label: &str, max_chars: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in label.split_inclusive([',', ' ']) {
        let long = word.chars().count();
        let mut chars = word.chars().peekable();
        while chars.peek().is_some() {
            if used == max_chars || (used > 0 && used + long > max_chars) {
                lines.push(String::new());
                used = 0;
            }
            let part: String = chars.by_ref().take(max_chars - used).collect();
            used += part.chars().count();
            if let Some(line) = lines.last_mut() {
                line.push_str(&part);
            }
        }
    }
    lines
}
