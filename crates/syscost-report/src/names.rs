//! Names of rows, shortened to a width so that none can be taken for another.

use syscost_results::row_name;

use crate::paint::width;

/// Number of names of a set up to which they are told apart when shortened: each is compared with all
/// others. More are not shortened.
const MAX_COMPARED: usize = 500;

/// The names of a table's rows, each shortened to at most this width; `None` for one that cannot be
/// told apart from the others when shortened, which has to stand somewhere as a whole.
pub(crate) fn distinct(names: &[&str], max_width: usize) -> Vec<Option<String>> {
    let short = names.iter().map(|name| short(name, names, max_width));
    short.collect()
}

/// A name, shortened to at most this width so that it cannot be taken for one of the `others`;
/// `None` if that is impossible, or takes too long as there are so many.
pub(crate) fn short(name: &str, others: &[&str], max_width: usize) -> Option<String> {
    if others.len() > MAX_COMPARED {
        return Some(name.to_owned()).filter(|name| width(name) <= max_width);
    }
    let short = cut_case(name, others, max_width)?;
    let is_other = |other: &&str| *other != name && may_mean(&short, other);
    let is_distinct = short == name || !others.iter().any(is_other);
    is_distinct.then_some(short)
}

/// A row's name or case, with whole parameters replaced by ellipses until it is no wider than
/// `max_width`: first those that distinguish it least from the `others`, of these the ones that all
/// share, then those in the middle; then the beginning of its id. `None` if that does not suffice: a
/// word is never cut.
fn cut_case(name: &str, others: &[&str], max_width: usize) -> Option<String> {
    let fits = |text: &String| width(text) <= max_width;
    let mut found = name.to_owned();
    if fits(&found) {
        return Some(found);
    }
    let (id, case) = parts(name);
    let mut parameters: Vec<Option<&str>> = case.split(',').map(Some).collect();
    let same = others.iter().filter(|other| parts(other).0 == id);
    let same: Vec<&str> = same.copied().collect();
    let is_common = |one: &str| {
        let has = |other: &&str| parts(other).1.split(',').any(|other| other == one);
        same.len() > 1 && same.iter().all(has)
    };
    let common: Vec<bool> = case.split(',').map(is_common).collect();
    let shown = |parameters: &[Option<&str>]| {
        let runs = parameters.chunk_by(|a, b| a.is_none() && b.is_none());
        let shown: Vec<&str> = runs.map(|run| run[0].unwrap_or("…")).collect();
        shown.join(",")
    };
    let text = |id: Option<&str>, case: &str| match id {
        Some(id) => format!("{id}{{{case}}}"),
        None => case.to_owned(),
    };
    while !fits(&found) {
        let kept = |index: &usize| parameters[*index].is_some();
        let left: Vec<usize> = (0..parameters.len()).filter(kept).collect();
        if left.len() < 2 {
            let ends = id.into_iter().flat_map(|id| id.match_indices('.'));
            let case = shown(&parameters);
            let mut shorter = ends.map(|(at, _)| text(id.map(|id| &id[at..]), &case));
            return shorter.find_map(|text| Some(format!("…{text}")).filter(fits));
        }
        let without = |index: usize| {
            let mut fewer = parameters.clone();
            fewer[index] = None;
            text(id, &shown(&fewer))
        };
        let mistaken = |text: &str| {
            let meant = same.iter().filter(|other| may_mean(text, other));
            meant.count()
        };
        let loss = |place: &usize| {
            let index = left[*place];
            let from_middle = place.abs_diff((left.len() - 1) / 2);
            (mistaken(&without(index)), !common[index], from_middle)
        };
        // Two are left at least.
        let next = (0..left.len()).min_by_key(loss).unwrap_or(0);
        parameters[left[next]] = None;
        found = text(id, &shown(&parameters));
    }
    Some(found)
}

/// The text in lines of at most `max_chars` characters, and of one at least: broken after a comma or
/// space, else after what ends a word within a parameter; a word only if it is longer than a line.
/// Nothing is lost.
pub(crate) fn wrapped(label: &str, max_chars: usize) -> Vec<String> {
    let max_chars = max_chars.max(1);
    let mut lines = vec![String::new()];
    let mut used = 0;
    let words = label.split_inclusive([',', ' ']).flat_map(|part| {
        let is_long = part.chars().count() > max_chars;
        let ends: &[char] = if is_long { &['=', '_', '.', '{'] } else { &[] };
        part.split_inclusive(ends)
    });
    for word in words {
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

/// The id, if the name has one before its case, and the parameters.
fn parts(name: &str) -> (Option<&str>, &str) {
    match row_name::case(name) {
        Some(case) => (Some(row_name::id(name)), case),
        None => (None, name),
    }
}

/// Whether a shortened name could stand for this one: each ellipsis for anything.
fn may_mean(short: &str, name: &str) -> bool {
    let Some((first, others)) = short.split_once('…') else {
        return name == short;
    };
    let (middle, last) = others.rsplit_once('…').unwrap_or(("", others));
    let Some(mut rest) = name.strip_prefix(first) else {
        return false;
    };
    for piece in middle.split('…') {
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn whole_parameters_go_first_those_that_tell_nothing() {
        let case = "op=read,simd=avx512,bytes=24K,threads=1";
        let pair = [case, "op=read,simd=sse,bytes=48K,threads=1"];
        let polls = ["net.tcp.poll{fds=500,a=b}", "net.tcp.poll{fds=1,a=b}"];
        let none = &[][..];
        for (name, others, width, short) in [
            (case, none, 39, Some(case)),
            (case, none, 30, Some("op=read,…,bytes=24K,threads=1")),
            (case, none, 20, Some("op=read,…,threads=1")),
            (case, &pair, 30, Some("…,simd=avx512,bytes=24K,…")),
            (case, none, 12, Some("…,threads=1")),
            (case, none, 10, None),
            ("poll{kind=tcp,fds=100}", none, 17, Some("poll{…,fds=100}")),
            ("poll{fds=500}", none, 9, None),
            (
                "net.tcp.poll{fds=500}",
                none,
                20,
                Some("….tcp.poll{fds=500}"),
            ),
            (polls[0], &polls, 20, Some("….poll{fds=500,…}")),
            ("a.b", none, 20, Some("a.b")),
        ] {
            assert_eq!(cut_case(name, others, width).as_deref(), short, "{name}");
        }
    }

    #[test]
    fn an_ellipsis_stands_for_anything() {
        for (short, name) in [
            ("a=1,…", "a=1,b=2"),
            ("…,b=2,…", "a=1,b=2,c=3"),
            ("….poll{…}", "net.poll{x}"),
        ] {
            assert!(may_mean(short, name), "{short} {name}");
        }
        for (short, name) in [
            ("a=1,…", "a=2,b=1"),
            ("a=1", "a=12"),
            ("…,b=2", "a=1,b=21"),
            ("a=1,…,a=1", "a=1"),
        ] {
            assert!(!may_mean(short, name), "{short} {name}");
        }
    }

    #[test]
    fn of_very_many_names_only_those_that_fit_stand_beside_their_numbers() {
        let many = |count: usize| -> Vec<String> {
            let names = (0..count).map(|index| format!("op=read,simd=avx512,n={index}"));
            names.chain(["a=1".to_owned()]).collect()
        };
        for (count, first) in [
            (9, Some("…,n=0")),
            (MAX_COMPARED - 1, Some("…,n=0")),
            (MAX_COMPARED, None),
        ] {
            let names = many(count);
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let found = distinct(&names, 9);
            assert_eq!(found[0].as_deref(), first, "{count}");
            assert_eq!(found[count].as_deref(), Some("a=1"), "{count}");
        }
    }

    /// The names of some rows, as a catalogue has them: most parameters are shared by many.
    fn names() -> impl Strategy<Value = BTreeSet<String>> {
        let case = ("[a-c]{3,9}", 0..3u32, 0..2u32, 0..3u32)
            .prop_map(|(via, a, b, c)| format!("via={via},alpha={a},beta={b},gamma={c}"));
        let id = prop::option::of("(x|long\\.name)\\.(poll|read)");
        let name = (id, case).prop_map(|(id, case)| match id {
            Some(id) => format!("{id}{{{case}}}"),
            None => case,
        });
        prop::collection::btree_set(name, 1..30)
    }

    proptest! {
        #[test]
        fn shortened_names_of_one_table_are_unique(names in names(), max_width in 5usize..50) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let labels = distinct(&names, max_width);
            let shown: Vec<&str> = labels
                .iter()
                .zip(&names)
                .map(|(label, name)| label.as_deref().unwrap_or(name))
                .collect();
            let unique: BTreeSet<&&str> = shown.iter().collect();
            prop_assert_eq!(unique.len(), names.len(), "{:?}", shown);
            for (label, name) in labels.iter().zip(&names) {
                let Some(label) = label else { continue };
                prop_assert!(width(label) <= max_width, "{}", label);
                let meant: Vec<_> = names.iter().filter(|other| may_mean(label, other)).collect();
                prop_assert_eq!(meant, [name], "{}", label);
            }
        }
    }

    #[test]
    fn lines_end_after_parameters_then_after_words() {
        for (label, max_chars, lines) in [
            ("a=1,b=2", 7, &["a=1,b=2"][..]),
            ("a=1,b=2", 5, &["a=1,", "b=2"]),
            (
                "op=compare_exchange_failure",
                24,
                &["op=compare_exchange_", "failure"],
            ),
            ("via=read_write,of=a", 12, &["via=read_", "write,of=a"]),
            ("abcdef", 4, &["abcd", "ef"]),
            ("ab", 0, &["a", "b"]),
            ("", 0, &[""]),
        ] {
            assert_eq!(wrapped(label, max_chars), lines, "{label} {max_chars}");
        }
    }
}
