//! Where in a JSON text something is, as a path.

/// What is on the way to a place.
enum Step {
    /// In an object, at this key once there is one.
    Object(Option<String>),
    /// In an array, at this element once there is one.
    Array(Option<usize>),
}

/// The path of the value that ends at this line and column, both from 1, as serde_json counts them: `measurements[0].estimate.median`.
/// Empty for the whole document.
pub(super) fn path_at(text: &[u8], line: usize, column: usize) -> String {
    let lines = text.split_inclusive(|byte| *byte == b'\n');
    let before: usize = lines.take(line.saturating_sub(1)).map(<[u8]>::len).sum();
    let text = &text[..text.len().min(before + column)];
    let (mut steps, mut at) = (Vec::new(), 0);
    while let Some(&byte) = text.get(at) {
        at += 1;
        let is_first = matches!(steps.last(), Some(Step::Array(None)));
        if is_first && !byte.is_ascii_whitespace() && byte != b']' {
            steps.pop();
            steps.push(Step::Array(Some(0)));
        }
        match (byte, steps.last_mut()) {
            (b'{', _) => steps.push(Step::Object(None)),
            (b'[', _) => steps.push(Step::Array(None)),
            (b'}' | b']', _) => drop(steps.pop()),
            (b',', Some(Step::Array(Some(index)))) => *index += 1,
            (b',', Some(Step::Object(key))) => *key = None,
            (b'"', last) => {
                let end = at + length(&text[at..]);
                if let Some(Step::Object(key @ None)) = last {
                    *key = Some(String::from_utf8_lossy(&text[at..end]).into_owned());
                }
                at = end + 1;
            }
            _ => {}
        }
    }
    written(&steps)
}

/// The length of a string without its quotes; `text` begins within it.
fn length(text: &[u8]) -> usize {
    let mut is_escaped = false;
    let end = text.iter().position(|byte| {
        let is_end = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        is_end
    });
    end.unwrap_or(text.len())
}

fn written(steps: &[Step]) -> String {
    let mut path = String::new();
    for step in steps {
        match step {
            Step::Object(Some(key)) if path.is_empty() => path += key,
            Step::Object(Some(key)) => path += &format!(".{key}"),
            Step::Array(Some(index)) => path += &format!("[{index}]"),
            Step::Object(None) | Step::Array(None) => {}
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_found_by_its_end() {
        let text = r#"{"a": {"b,\"}": [1, {"c": "x]"}, [], 5]},
 "d": true}"#;
        let of = |what: &str| {
            let end = text.find(what).expect("it is there") + what.len();
            let line = 1 + text[..end].matches('\n').count();
            let begin = text[..end].rfind('\n').map_or(0, |at| at + 1);
            path_at(text.as_bytes(), line, end - begin)
        };
        for (what, path) in [
            ("[1", r#"a.b,\"}[0]"#),
            (r#""x]""#, r#"a.b,\"}[1].c"#),
            ("}, [], 5", r#"a.b,\"}[3]"#),
            ("[]", r#"a.b,\"}[2]"#),
            ("5]", r#"a.b,\"}"#),
            ("5]}", "a"),
            ("true", "d"),
            ("true}", ""),
        ] {
            assert_eq!(of(what), path, "{what}");
        }
        assert_eq!(path_at(b"", 7, 9), "");
    }
}
