//! Finds names within texts, and replaces them.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};

use super::mounts::is_device;

/// Replaces a name that was removed.
pub(super) const UNNAMED: &str = "(unnamed)";

/// Directories that every machine has: paths in them identify nobody.
const COMMON: [&str; 8] = [
    "/bin", "/dev/cpu", "/dev/net", "/etc", "/proc", "/sys", "/usr/bin", "/usr/lib",
];

/// The names of a machine, its owner and its places in the texts of one run.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Longer names first: a path comes before the mount point that it begins with.
    names: Vec<String>,
    /// Words that the program itself uses, in lower case.
    words: BTreeSet<String>,
}

impl Names {
    /// `names` to be removed from a run whose program wrote `texts`.
    pub(super) fn new<'a>(names: BTreeSet<String>, texts: impl Iterator<Item = &'a str>) -> Self {
        let mut names: Vec<String> = names.into_iter().collect();
        // Every machine has the root directory.
        names.retain(|name| ![UNNAMED, "/", ""].contains(&name.as_str()));
        names.sort_by_key(|name| std::cmp::Reverse(name.len()));
        let words = texts.flat_map(|text| text.split(|letter: char| !letter.is_alphanumeric()));
        let words = words.map(str::to_lowercase).collect();
        Self { names, words }
    }

    /// The text without names, addresses and paths. A machine named like a common word, such as
    /// `time`, is not removed: the rest of a sentence would give the missing word away.
    pub(super) fn clean(&self, text: &str) -> String {
        let names = self.names.iter().filter(|name| !self.is_word(name));
        without_all(text, names)
    }

    /// As [`Self::clean`], for a text that is known to name a machine.
    pub(super) fn clean_of_words(&self, text: &str) -> String {
        without_all(text, self.names.iter())
    }

    /// As [`Self::clean`], for a fact of a machine, in which four numbers with points are a version.
    pub(super) fn clean_of_facts(&self, text: &str) -> String {
        let names = self.names.iter().filter(|name| !self.is_word(name));
        without_paths(&without_names(text, names))
    }

    fn is_word(&self, name: &str) -> bool {
        // At the beginning of a sentence a word has a capital.
        let mut letters = name.chars();
        let first = letters.next().into_iter().flat_map(char::to_lowercase);
        let word: String = first.chain(letters).collect();
        self.words.contains(&word) || name.bytes().all(|byte| byte.is_ascii_digit())
    }
}

fn without_all<'a>(text: &str, names: impl Iterator<Item = &'a String>) -> String {
    without_addresses(&without_paths(&without_names(text, names)))
}

fn without_names<'a>(text: &str, names: impl Iterator<Item = &'a String>) -> String {
    names.fold(text.to_owned(), |text, name| without(&text, name))
}

/// The text without this name, where it is a whole word or the beginning of a path.
fn without(text: &str, name: &str) -> String {
    let is_path = name.starts_with('/');
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(name) {
        out.push_str(&rest[..at]);
        let behind = &rest[at + name.len()..];
        let left = out.chars().next_back();
        let is_whole = match is_path {
            true => !left.is_some_and(is_of_a_path),
            false => {
                let is_joined = |left: Option<char>, right: Option<char>| {
                    left.is_some_and(is_of_a_word) && right.is_some_and(is_of_a_word)
                };
                let (first, last) = (name.chars().next(), name.chars().next_back());
                !is_joined(left, first) && !is_joined(last, behind.chars().next())
            }
        };
        if is_whole {
            out.push_str(UNNAMED);
            // The rest of the path reveals as much.
            let end = if is_path { end_of_path(behind) } else { 0 };
            rest = &behind[end..];
        } else {
            let first = name.chars().next().map_or(0, char::len_utf8);
            out.push_str(&name[..first]);
            rest = &rest[at + first..];
        }
    }
    out + rest
}

fn is_of_a_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

fn is_of_a_path(letter: char) -> bool {
    !letter.is_whitespace() && !"\"'`,;:=()[]{}<>".contains(letter)
}

fn end_of_path(text: &str) -> usize {
    text.find(|letter: char| !is_of_a_path(letter))
        .unwrap_or(text.len())
}

/// The text without absolute paths, except those that are the same on every machine.
fn without_paths(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('/') {
        out.push_str(&rest[..at]);
        // Skip the rest of `and/or` or `MiB/s`.
        let is_begun = out.chars().next_back().is_some_and(is_of_a_path);
        let (path, behind) = rest[at..].split_at(end_of_path(&rest[at..]));
        out.push_str(match !is_begun && is_revealing(path) {
            true => UNNAMED,
            false => path,
        });
        rest = behind;
    }
    out + rest
}

/// Whether a path reveals anything.
fn is_revealing(path: &str) -> bool {
    let is_in = |folder: &&str| {
        let rest = path.strip_prefix(*folder);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    path.len() > 1 && !is_device(path) && !COMMON.iter().any(is_in)
}

/// The text without machine addresses, except those that mean this machine everywhere.
fn without_addresses(text: &str) -> String {
    let is_of_an_address = |letter: char| letter.is_ascii_alphanumeric() || ":._".contains(letter);
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    loop {
        let end = rest.find(|letter: char| !is_of_an_address(letter));
        let (word, behind) = rest.split_at(end.unwrap_or(rest.len()));
        // With its port, or with more than that, as in `10.0.0.7:2049:635`.
        let host = word.split_once(':').map_or(word, |(host, _)| host);
        let candidates = [word, word.trim_end_matches([':', '.']), host];
        match candidates.into_iter().find(|one| is_foreign(one)) {
            Some(address) => {
                out.push_str(UNNAMED);
                out.push_str(&word[address.len()..]);
            }
            None => out.push_str(word),
        }
        let mut letters = behind.chars();
        match letters.next() {
            Some(letter) => out.push(letter),
            None => return out,
        }
        rest = letters.as_str();
    }
}

fn is_foreign(text: &str) -> bool {
    let alone = text.parse::<IpAddr>().ok();
    let address = alone.or_else(|| Some(text.parse::<SocketAddr>().ok()?.ip()));
    address.is_some_and(|address| !address.is_loopback() && !address.is_unspecified())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Names {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        Names::new(names, ["read(2): time of a call"].into_iter())
    }

    #[test]
    fn names_are_found_as_words() {
        let names = names(&["vm", "db1", "/srv", "db1:/srv/a b", "/", ""]);
        for (text, clean) in [
            ("the far end is vm too", "the far end is (unnamed) too"),
            ("a vmlinux, KVM, vm_area", "a vmlinux, KVM, vm_area"),
            ("vm, (vm) vm.lan", "(unnamed), ((unnamed)) (unnamed).lan"),
            ("from db1:/srv/a b: stale", "from (unnamed): stale"),
            ("db10 and db1", "db10 and (unnamed)"),
            ("/srv/x: no space", "(unnamed): no space"),
            ("1/s and/or 4 / 2", "1/s and/or 4 / 2"),
        ] {
            assert_eq!(names.clean(text), clean);
        }
    }

    #[test]
    fn a_machine_called_by_a_common_word_leaves_sentences_as_they_are() {
        let names = names(&["time", "7"]);
        let text = "CPU 7 lost 11.5 % of its time";
        assert_eq!(names.clean(text), text);
        let (capital, text) = (self::names(&["Time"]), "Time lost: 11.5 % of all time");
        assert_eq!(capital.clean(text), text);
        assert_eq!(
            names.clean_of_words("the far end is time too"),
            "the far end is (unnamed) too"
        );
    }

    #[test]
    fn unknown_paths_are_taken_out_and_those_of_every_machine_are_not() {
        let names = names(&["/mnt/a b"]);
        for (text, clean) in [
            (
                "opening /home/alice/x.txt: denied",
                "opening (unnamed): denied",
            ),
            (
                "LD_PRELOAD=/opt/a.so:/opt/b",
                "LD_PRELOAD=(unnamed):(unnamed)",
            ),
            ("in /mnt/a b/c, there", "in (unnamed), there"),
            ("//files.acme.example/alice", "(unnamed)"),
            (
                "/dev/mapper/alice--vg and /dev/vda1",
                "(unnamed) and /dev/vda1",
            ),
            ("/proc/net/snmp", "/proc/net/snmp"),
            ("/process", "(unnamed)"),
            (
                "/sys/dev/block/8:0/stat (vda)",
                "/sys/dev/block/8:0/stat (vda)",
            ),
        ] {
            assert_eq!(names.clean(text), clean);
        }
    }

    #[test]
    fn addresses_of_other_machines_are_taken_out() {
        let names = names(&[]);
        for (text, clean) in [
            ("10.1.2.3:7717 of 10.7.8.9.", "(unnamed) of (unnamed)."),
            ("10.0.0.7:2049:635", "(unnamed):2049:635"),
            (
                "[fe80::1%2]:7717, 2001:db8::7",
                "[(unnamed)%2]:7717, (unnamed)",
            ),
            ("127.0.0.1:80 and ::1", "127.0.0.1:80 and ::1"),
            ("0.0.0.0, 6.18.44, 12:30:45", "0.0.0.0, 6.18.44, 12:30:45"),
        ] {
            assert_eq!(names.clean(text), clean);
        }
    }
}
