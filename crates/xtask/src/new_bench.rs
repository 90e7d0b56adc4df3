//! `cargo new-bench GROUP.NAME`: creates a benchmark's file from a template, and adds its two
//! lines to the group's list. In a directory within a group, such as `net/tcp`, it is
//! GROUP.FOLDER.NAME.

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;

use xtask::workspace::{self, BENCHES};

/// Arguments of `new-bench`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Its id, e.g. `syscall.null` or `net.tcp.connect`: the group, and its folder, must exist; the
    /// name is what the operation is called
    #[arg(value_name = "GROUP.NAME")]
    id: String,
}

/// Runs the chore.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    add(workspace::root(), &arguments.id)?;
    println!(
        "{BENCHES}/{}.rs is yours to fill in; then:",
        arguments.id.replace('.', "/")
    );
    println!("  cargo run -- run {} --profile quick -v", arguments.id);
    println!("  cargo xtask lint && cargo xtask gen");
    Ok(())
}

/// Adds a benchmark to the workspace at `root`.
fn add(root: &Path, id: &str) -> Result<()> {
    let words: Vec<&str> = id.split('.').collect();
    let (group, within, name) = match words[..] {
        [group, name] => (group, None, name),
        [group, within, name] => (group, Some(within), name),
        _ => bail!("`{id}` is no id; write GROUP.NAME, e.g. syscall.null"),
    };
    for word in words {
        ensure!(
            word.starts_with(|letter: char| letter.is_ascii_lowercase())
                && word
                    .chars()
                    .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'),
            "`{word}` must be lower-case letters, digits and underscores, and begin with a letter"
        );
    }
    let group_folder = root.join(BENCHES).join(group);
    let list = group_folder.join("mod.rs");
    ensure!(
        list.is_file(),
        "there is no group `{group}`: write {BENCHES}/{group}/mod.rs and name it in {BENCHES}/lib.rs first"
    );
    let folder = within.map_or(group_folder.clone(), |within| group_folder.join(within));
    let modules = folder.join("mod.rs");
    ensure!(
        modules.is_file(),
        "there is no folder {}: write its mod.rs and name it in {} first",
        folder.display(),
        list.display()
    );
    let file = folder.join(format!("{name}.rs"));
    ensure!(!file.exists(), "{} exists already", file.display());
    let entry = match within {
        Some(within) => format!("{within}::{}", raw(name)),
        None => raw(name),
    };
    let listed = with_entry(&workspace::read(&list)?, "group! {", &entry)
        .with_context(|| format!("extending {}", list.display()))?;
    workspace::write(&file, &template(id, name))?;
    workspace::write(&list, &listed)?;
    let declared = with_module(&workspace::read(&modules)?, within.is_some(), name);
    workspace::write(&modules, &declared)
}

/// The new benchmark's file. Until it is filled in, its row fails and `cargo xtask lint` says what
/// is missing.
fn template(id: &str, name: &str) -> String {
    // Listed by the group, even from a directory within it.
    let visible = match id.split('.').collect::<Vec<_>>()[..] {
        [group, _, _] => format!("in crate::{group}"),
        _ => "super".to_owned(),
    };
    let title = name.replace('_', " ");
    let title = title[..1].to_uppercase() + &title[1..];
    format!(
        r#"//! TODO: what the operation is, in one sentence.
//!
//! ## Measures
//! TODO: what happens between the two readings of the clock.
//! ## Does not measure
//! TODO: what a reader might expect here, and the id of the benchmark that has it.
//! ## Interpretation
//! TODO: what makes it expensive or cheap, and what a strange value means.
//! ## Source
//! TODO: who measured it before, or why it is new.

use syscost_harness::prelude::*;

pub({visible}) const BENCHMARK: Benchmark = Benchmark {{
    title: "{title}",
    // What people search for besides the title: terms of the field in lower case, programs that
    // measure the same.
    tags: "",
    // What must be counted for its number to be believed, e.g. `calls(Sysno::GETPPID)`.
    expect: &[],
    measure,
    ..Benchmark::DEFAULT
}};

fn measure(plan: Plan) -> Result<Outcome, Failure> {{
    // Set up here, unmeasured; tear down by `Drop`. Only what stands inside the closure is measured.
    plan.measure(Loop::each(|| {{
        Err::<(), _>("the operation is not written yet")
    }}))
}}
"#
    )
}

/// The name as an identifier in code.
fn raw(name: &str) -> String {
    match is_keyword(name) {
        true => format!("r#{name}"),
        false => name.to_owned(),
    }
}

/// Keywords that are likely names of operations.
fn is_keyword(name: &str) -> bool {
    [
        "abstract", "async", "await", "break", "do", "final", "gen", "loop", "move", "ref",
        "return", "try", "yield",
    ]
    .contains(&name)
}

/// Adds `mod name;` in alphabetical order. In a directory within a group the module is visible to
/// the group, which lists it.
fn with_module(modules: &str, is_within: bool, name: &str) -> String {
    let key = |line: &str| {
        let (visibility, name) = line.split_once("mod ")?;
        let is_module = visibility.is_empty() || visibility.starts_with("pub");
        is_module.then(|| name.replace("r#", ""))
    };
    let visible = if is_within { "pub(super) " } else { "" };
    let new = format!("{visible}mod {};", raw(name));
    let mut lines: Vec<&str> = modules.lines().collect();
    let known: Vec<usize> = (0..lines.len())
        .filter(|&at| key(lines[at]).is_some_and(|key| key.ends_with(';')))
        .collect();
    let at = match known.last() {
        Some(last) => {
            let mut behind = known.iter().copied();
            let at = behind.find(|&at| key(lines[at]) > key(&new));
            let at = at.unwrap_or(last + 1);
            // Above the attributes of the next one.
            let attributes = lines[..at].iter().rev();
            at - attributes.take_while(|line| line.starts_with("#[")).count()
        }
        None => {
            // The first module, below the comment at the beginning of the file.
            let comment = lines.iter().take_while(|line| line.starts_with("//!"));
            let at = comment.count();
            lines.insert(at, "");
            at + 1
        }
    };
    lines.insert(at, &new);
    lines.join("\n") + "\n"
}

/// Adds `name` at the end of the list that begins so.
pub(crate) fn with_entry(text: &str, list: &str, name: &str) -> Result<String> {
    let missing = || format!("it has no list `{list}`");
    let start = text.find(&format!("{list}\n")).with_context(missing)?;
    let length = text[start..].find('}').context("its list is not closed")?;
    let (head, tail) = text.split_at(start + length);
    let (entries, indent) = head.rsplit_once('\n').with_context(missing)?;
    Ok(format!("{entries}\n{indent}    {name},\n{indent}{tail}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::lint;
    use std::fs;
    use std::process::Command;
    use xtask::workspace::rust_files;

    /// A copy of the real group `syscall`.
    fn copy() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join(BENCHES).join("syscall");
        fs::create_dir_all(&folder).unwrap();
        for file in rust_files(workspace::root()).unwrap() {
            if file.path.starts_with(Path::new(BENCHES).join("syscall")) {
                workspace::write(&root.path().join(&file.path), &file.text).unwrap();
            }
        }
        root
    }

    #[test]
    fn a_new_benchmark_is_listed_and_only_its_words_are_missing() {
        let root = copy();
        let before = lint::findings(&rust_files(root.path()).unwrap());
        add(root.path(), "syscall.made_up").unwrap();
        let files = rust_files(root.path()).unwrap();
        let new: Vec<String> = lint::findings(&files)
            .into_iter()
            .filter(|finding| !before.contains(finding))
            .map(|finding| finding.to_string())
            .collect();
        assert_eq!(new.len(), 5, "{new:?}");
        assert!(
            new.iter()
                .all(|line| line.contains("made_up.rs") && line.ends_with("is not written yet")),
            "{new:?}"
        );
        assert!(
            add(root.path(), "syscall.made_up")
                .unwrap_err()
                .to_string()
                .ends_with("exists already")
        );
    }

    #[test]
    fn what_is_written_is_formatted() {
        let Ok(version) = Command::new("rustfmt").arg("--version").output() else {
            println!("skipped: rustfmt is not installed");
            return;
        };
        if !version.status.success() {
            println!("skipped: rustfmt is not installed");
            return;
        }
        let root = tempfile::tempdir().unwrap();
        let list = Path::new(BENCHES).join("some/mod.rs");
        workspace::write(&root.path().join(&list), FIRST).unwrap();
        workspace::write(
            &root.path().join(list.with_file_name("first.rs")),
            "//! First.\n",
        )
        .unwrap();
        let within = root.path().join(BENCHES).join("some/wire/mod.rs");
        workspace::write(&within, "//! Within.\n").unwrap();
        let names = [
            "second_one",
            "loop",
            "another_operation",
            "wire.one",
            "wire.of_two",
        ];
        for name in names {
            add(root.path(), &format!("some.{name}")).unwrap();
            // rustfmt follows the `mod` lines, so this checks the new files as well.
            let check = Command::new("rustfmt")
                .args(["--edition", "2024", "--check"])
                .arg(root.path().join(&list))
                .output()
                .unwrap();
            assert!(
                check.status.success(),
                "{}",
                String::from_utf8_lossy(&[check.stdout, check.stderr].concat())
            );
        }
    }

    const FIRST: &str = "\
//! Some.

mod first;
mod wire;

use syscost_harness::prelude::*;

pub(crate) const GROUP: Group = group! {
    some: \"some operations\",
    first,
};
";

    #[test]
    fn the_two_lines_go_where_they_belong() {
        let extended = |list: &str, name: &str| {
            with_module(
                &with_entry(list, "group! {", &raw(name)).unwrap(),
                false,
                name,
            )
        };
        let two = extended(FIRST, "early");
        assert!(
            two.contains("mod early;\nmod first;\nmod wire;\n\nuse"),
            "{two}"
        );
        assert!(
            two.contains("    some: \"some operations\",\n    first,\n    early,\n};\n"),
            "{two}"
        );
        let four = extended(&extended(&two, "loop"), "second");
        assert!(
            four.contains("mod early;\nmod first;\nmod r#loop;\nmod second;\nmod wire;\n\nuse"),
            "{four}"
        );
        let lines = "    first,\n    early,\n    r#loop,\n    second,\n};\n";
        assert!(four.contains(lines), "{four}");
        let others = "pub(crate) mod null;\n#[cfg(test)]\nmod tests;\n";
        assert_eq!(
            with_module(&with_module(others, false, "stat"), false, "membarrier"),
            "mod membarrier;\npub(crate) mod null;\nmod stat;\n#[cfg(test)]\nmod tests;\n"
        );
        let one = with_module("//! Within.\n", true, "of_two");
        assert_eq!(one, "//! Within.\n\npub(super) mod of_two;\n");
        assert_eq!(
            with_module(&one, true, "loop"),
            "//! Within.\n\npub(super) mod r#loop;\npub(super) mod of_two;\n"
        );
    }

    #[test]
    fn nonsense_is_refused_before_anything_is_written() {
        let root = copy();
        for (id, complaint) in [
            ("syscall", "write GROUP.NAME"),
            ("nobody.home", "no group `nobody`"),
            ("syscall.Null", "lower-case"),
            ("syscall.", "begin with a letter"),
            ("../x.y", "write GROUP.NAME"),
            ("syscall.../x", "write GROUP.NAME"),
            ("syscall.no_folder.x", "there is no folder"),
            ("syscall.a.b.c", "write GROUP.NAME"),
        ] {
            let error = add(root.path(), id).unwrap_err().to_string();
            assert!(
                error.contains(complaint) || error.contains("lower-case"),
                "{id}: {error}"
            );
        }
        assert!(with_entry("//! No list.\n", "group! {", "x").is_err());
    }
}
