//! Rows under the names that they have now, where an earlier version called them otherwise.
//!
//! A document keeps the names of the version that wrote it. What reads documents sees today's, so that a
//! history and a comparison follow a row through its renaming.

use std::collections::BTreeMap;

use crate::row_name::{id, parameters};

/// Rows that were named otherwise, as two patterns of a name: the benchmark with its parameters in order.
///
/// `$size` stands for any value, and for the same one in both; a value that stands there itself is the only
/// one that is meant before, and what is added now: `fs.read{size=$size}`, `fs.read{size=$size,cache=warm}`.
#[derive(Debug, Clone, Copy)]
pub struct Renamed {
    /// The name before.
    pub was: &'static str,
    /// The name now.
    pub now: &'static str,
}

/// What was renamed, the oldest first: a row that was renamed twice is followed through both.
pub const RENAMED: &[Renamed] = &[];

/// What is measured no longer, and what tells as much: the benchmark's id, and a row to take instead.
pub const GONE: &[(&str, &str)] = &[
    ("switch.eventfd", "ipc.round_trip{via=eventfd}"),
    ("switch.signal", "ipc.round_trip{via=signal}"),
    ("switch.socketpair", "ipc.round_trip{via=socketpair}"),
    ("task.clone3", "task.fork"),
];

impl Renamed {
    /// The name now of the row that had this one; `None` of another row.
    pub fn apply(&self, name: &str) -> Option<String> {
        let pattern: Vec<(&str, &str)> = parameters(self.was).collect();
        let found: Vec<(&str, &str)> = parameters(name).collect();
        let mut values = BTreeMap::new();
        let is_it = id(self.was) == id(name)
            && pattern.len() == found.len()
            && (pattern.iter().zip(&found)).all(|(&(key, meant), &(seen_key, seen))| {
                let first = if meant.starts_with('$') { seen } else { meant };
                key == seen_key && *values.entry(meant).or_insert(first) == seen
            });
        let value = |value| values.get(value).copied().unwrap_or(value);
        let now = parameters(self.now).map(|(key, of_it)| format!("{key}={}", value(of_it)));
        let now: Vec<String> = now.collect();
        is_it.then(|| match &now[..] {
            [] => self.now.to_owned(),
            now => format!("{}{{{}}}", id(self.now), now.join(",")),
        })
    }
}

/// The name that a row has now; `None` where that is the one it had.
pub fn name_now(name: &str) -> Option<String> {
    through(RENAMED, name)
}

/// Gives a row the name that it has now; whether that is another one.
pub fn rename(name: &mut String) -> bool {
    let now = name_now(name);
    let is_other = now.is_some();
    *name = now.unwrap_or_else(|| std::mem::take(name));
    is_other
}

fn through(all: &[Renamed], name: &str) -> Option<String> {
    all.iter().fold(None, |now, one| {
        one.apply(now.as_deref().unwrap_or(name)).or(now)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: &[Renamed] = &[
        Renamed {
            was: "fs.read{size=$size}",
            now: "fs.read{size=$size,cache=warm}",
        },
        Renamed {
            was: "fs.read{size=$size,cache=$cache}",
            now: "fs.pread{cache=$cache,bytes=$size}",
        },
        Renamed {
            was: "call.null",
            now: "call.empty{of=none}",
        },
        Renamed {
            was: "call.far{arguments=0}",
            now: "call.near",
        },
    ];

    #[test]
    fn a_row_is_followed_through_all_its_names() {
        for (was, now) in [
            ("fs.read{size=4K}", Some("fs.pread{cache=warm,bytes=4K}")),
            (
                "fs.read{size=4K,cache=cold}",
                Some("fs.pread{cache=cold,bytes=4K}"),
            ),
            ("call.null", Some("call.empty{of=none}")),
            ("call.far{arguments=0}", Some("call.near")),
            ("call.far{arguments=1}", None),
            ("fs.read", None),
            ("fs.read{bytes=4K}", None),
            ("fs.readdir{size=4K}", None),
            ("fs.read{size=4K,cache=cold,dir=a}", None),
        ] {
            assert_eq!(through(ALL, was).as_deref(), now, "{was}");
        }
    }

    #[test]
    fn the_patterns_say_where_each_value_comes_from() {
        for one in RENAMED.iter().chain(ALL) {
            let before: Vec<&str> = parameters(one.was).map(|(_, value)| value).collect();
            for (_, value) in parameters(one.now).filter(|(_, value)| value.starts_with('$')) {
                assert!(before.contains(&value), "{one:?}: {value}");
            }
        }
    }
}
