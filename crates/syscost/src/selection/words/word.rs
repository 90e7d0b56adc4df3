//! A word to search for, however it is written.

use syscost_results::Unit;

/// One word that is searched for.
#[derive(Clone)]
pub(super) struct Word {
    /// As it was written.
    pub(super) typed: String,
    /// Its letters and digits.
    pub(super) text: String,
    /// Its singular, if it may be a plural.
    singular: Option<String>,
}

impl Word {
    pub(super) fn new(word: &str) -> Self {
        let text = squeezed(word);
        // `lat_fs` is not a plural.
        let singular = text
            .strip_suffix('s')
            .filter(|rest| rest.len() > 2 && !word.contains('_'));
        let singular = singular.map(str::to_owned);
        let typed = word.to_owned();
        Self {
            typed,
            text,
            singular,
        }
    }

    /// Whether a word of the text, or several in a row joined into one, begins with this word.
    pub(super) fn is_in(&self, text: &str) -> bool {
        let parts = parts(text);
        (0..parts.len()).any(|first| {
            let rest = parts[first..].concat();
            self.forms().any(|form| rest.starts_with(form))
        })
    }

    /// Whether a word of the text, or several in a row joined into one, equals this word.
    pub(super) fn is_whole_in(&self, text: &str) -> bool {
        let parts = parts(text);
        (0..parts.len()).any(|first| {
            (first..parts.len()).any(|last| {
                let joined = parts[first..=last].concat();
                self.forms().any(|form| joined == form)
            })
        })
    }

    /// Whether it equals this value of a parameter.
    pub(super) fn is_value(&self, value: &str) -> bool {
        squeezed(value) == self.text
    }

    fn forms(&self) -> impl Iterator<Item = &str> {
        self.singular.iter().chain([&self.text]).map(String::as_str)
    }

    /// The units of the quantity that it names; empty for other words.
    pub(super) fn units(&self) -> &'static [Unit] {
        let is_one_of = |names: &[&str]| self.forms().any(|form| names.contains(&form));
        if is_one_of(&["latency", "latencies", "time", "cost", "overhead"]) {
            &[Unit::Nanoseconds]
        } else if is_one_of(&["bandwidth", "throughput"]) {
            &[
                Unit::BytesPerSecond,
                Unit::OperationsPerSecond,
                Unit::FlopsPerSecond,
            ]
        } else {
            &[]
        }
    }
}

fn parts(text: &str) -> Vec<String> {
    let parts = text.split(|c: char| !c.is_alphanumeric()).map(squeezed);
    parts.filter(|part| !part.is_empty()).collect()
}

/// Only the letters and digits, in lower case.
fn squeezed(text: &str) -> String {
    let letters = text.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}
