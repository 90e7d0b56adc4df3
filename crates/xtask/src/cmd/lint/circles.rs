//! Few files of a crate `use` each other round: whoever reads one of them must read them all.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::Finding;
use super::target::without_comments;
use xtask::workspace::SourceFile;

/// How many files of a crate may, if it is not among those below.
const MOST: usize = 4;

/// The crates where more do. These numbers only become smaller.
const MORE: [(&str, usize); 3] = [
    ("crates/syscost-benches", 5),
    ("crates/syscost-net", 6),
    ("crates/syscost-report", 5),
];

/// Modules from the root of a crate on, then perhaps an item of the last one.
type Name<'a> = Vec<&'a str>;

/// What each module of a crate imports outside tests, and whether it hands that on.
type Imports<'a> = BTreeMap<Name<'a>, Vec<(Name<'a>, bool)>>;

/// The crates of which more files do than may, and those where fewer do than are expected here.
pub(super) fn findings(files: &[SourceFile]) -> Vec<Finding> {
    let code = files.iter().filter_map(|file| {
        let (folder, path) = file.path.to_str()?.split_once("/src/")?;
        Some((folder, path, without_comments(&file.text)))
    });
    let code: Vec<_> = code.collect();
    let mut crates: BTreeMap<&str, Imports> = BTreeMap::new();
    for (folder, path, code) in &code {
        let parts = path.trim_end_matches(".rs").split('/');
        let module = parts.filter(|part| !["lib", "main", "mod"].contains(part));
        let imports = crates.entry(folder).or_default().entry(module.collect());
        imports.or_default().extend(imported(code));
    }
    let of_each = crates.iter().filter_map(|(folder, modules)| {
        let own = MORE.iter().find(|(name, _)| name == folder);
        let (circle, most) = (largest_circle(modules), own.map_or(MOST, |own| own.1));
        let what_to_do = match circle.len() {
            count if count > most => "move what ties them to a file that uses no other",
            count if count < most && own.is_some() => "let `MORE` say so",
            _ => return None,
        };
        let names: Vec<String> = circle.iter().map(|module| module.join("::")).collect();
        let (count, names) = (names.len(), names.join(", "));
        let message =
            format!("{count} files use each other round, not {most}: {what_to_do} ({names})");
        Some(Finding::new(&Path::new(folder).join("src"), 1, message))
    });
    of_each.collect()
}

/// What this code imports, as it is written, and whether publicly.
fn imported(code: &str) -> Vec<(Name<'_>, bool)> {
    let statements = code.split(';');
    let own = statements.take_while(|text| !text.contains("mod tests {"));
    let declared = own.filter_map(|text| text.rsplit_once("use "));
    let of_each = declared.flat_map(|(before, tree)| {
        let is_public = before.trim_end().ends_with([')', 'b']);
        let names = leaves(&[], tree).into_iter();
        names.map(move |name| (name, is_public))
    });
    of_each.collect()
}

/// The names of `a::{b, c::d}`: `a::b` and `a::c::d`.
fn leaves<'a>(before: &[&'a str], tree: &'a str) -> Vec<Name<'a>> {
    let (path, inner) = tree.split_once('{').unwrap_or((tree, ""));
    let parts = path
        .split("::")
        .filter_map(|part| part.split_whitespace().next());
    let path = parts.filter(|part| !["self", "*"].contains(part));
    let path = [before, &path.collect::<Name>()].concat();
    let mut depth = 0;
    let branches = inner
        .trim_end_matches(['}', ',', ' ', '\n'])
        .split(|letter| {
            depth += i32::from(letter == '{') - i32::from(letter == '}');
            letter == ',' && depth == 0
        });
    match inner.is_empty() {
        true => vec![path],
        false => branches.flat_map(|branch| leaves(&path, branch)).collect(),
    }
}

/// The largest set of modules each of which leads to all the others.
fn largest_circle<'a>(modules: &Imports<'a>) -> Vec<Name<'a>> {
    let reached = |begin: &Name<'a>| {
        let (mut reached, mut next) = (BTreeSet::new(), vec![begin.clone()]);
        while let Some(module) = next.pop() {
            let imports = modules[&module].iter().filter(|(_, is_public)| !is_public);
            let used = imports.filter_map(|(name, _)| home(&module, name, modules));
            next.extend(used.filter(|used| *used != module && reached.insert(used.clone())));
        }
        reached
    };
    let all = modules.keys().map(|module| (module, reached(module)));
    let all: BTreeMap<&Name, BTreeSet<Name>> = all.collect();
    let circles = all.iter().map(|(one, others)| {
        let others = others.iter().filter(|other| all[other].contains(*one));
        others.cloned().collect()
    });
    circles.max_by_key(Vec::len).unwrap_or_default()
}

/// The module of this crate where what `own` calls so is written, whoever hands it on.
fn home<'a>(own: &[&'a str], name: &[&'a str], modules: &Imports<'a>) -> Option<Name<'a>> {
    let up = name.iter().take_while(|part| **part == "super").count();
    let name = match name.first()? {
        &"crate" => name[1..].to_vec(),
        _ => [&own[..own.len().checked_sub(up)?], &name[up..]].concat(),
    };
    let is_module = |end: &usize| modules.contains_key(&name[..*end]);
    let end = (0..=name.len()).rev().find(is_module)?;
    let (module, item) = (&name[..end], name.get(end));
    // A macro is handed on under its own name.
    let is_macro = |one: &Name| one.len() == 1 || one[1..] == name;
    let is_it = |one: &&(Name, bool)| one.1 && one.0.last() == item && !is_macro(&one.0);
    match modules[module].iter().find(is_it) {
        Some((other, _)) => home(module, other, modules),
        None => Some(module.to_vec()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circle_is_found_through_who_hands_on_and_not_through_tests() {
        let file = |path: &str, text: &str| SourceFile {
            path: format!("crates/x/src/{path}.rs").into(),
            text: text.to_owned(),
        };
        let files = [
            file("lib", "pub use a::{A, b::B};"),
            file(
                "a/mod",
                "use std::fmt; pub(crate) use self::b::{C, D as E}; use crate::four::Four;",
            ),
            file("a/b", "use crate::{one::*, other};"),
            file("one", "use super::two::Two;"),
            file("two", "use crate::{\n    three::{self, Three},\n};"),
            file("three", "use crate::B; // use crate::other::Other;"),
            file(
                "four",
                "use crate::a::C;\n#[cfg(test)]\nmod tests { use super::*; use crate::one::One; }",
            ),
            file("other", "use crate::four::Four;"),
        ];
        let found = |count: usize| {
            findings(&files[..count])
                .iter()
                .map(Finding::to_string)
                .collect::<Vec<_>>()
        };
        assert_eq!(found(6), [""; 0]);
        assert_eq!(found(8).len(), 1);
    }
}
