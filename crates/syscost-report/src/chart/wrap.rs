//! Names in several lines.

/// A text in lines of at most this many characters, broken behind a comma or space where it has
/// one; nothing is lost.
pub(super) fn wrapped(label: &str, most: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in label.split_inclusive([',', ' ']) {
        let long = word.chars().count();
        let mut chars = word.chars().peekable();
        while chars.peek().is_some() {
            if used == most || (used > 0 && used + long > most) {
                lines.push(String::new());
                used = 0;
            }
            let part: String = chars.by_ref().take(most - used).collect();
            used += part.chars().count();
            if let Some(line) = lines.last_mut() {
                line.push_str(&part);
            }
        }
    }
    lines
}
