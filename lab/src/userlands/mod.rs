//! `cargo lab userlands`: the program in roots that are not like this machine's.
//!
//! `list.toml` says which roots there are, what is done in them, and what goes otherwise there than on this machine; all else is
//! complained of. It takes root, debootstrap, and what `cargo xtask dist` has packed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::Args;
use glob::glob;
use serde::Deserialize;
use serde_json::Value;
use syscost_benches::CATALOGUE;
use syscost_results::{Status, document};
use xtask::{cargo, workspace};

use crate::invariants::violations;
use crate::listed::{self, fits};

const LIST: &str = include_str!("list.toml");

/// What a user land's shell script begins with.
const BEGIN: &str = include_str!("begin.sh");

/// How much of what was said is shown, in characters.
const SHOWN: usize = 300;

/// Findings of the doctor that are not of the user land.
const OF_THE_HOUR: [&str; 6] = [
    "cpu_pressure",
    "load",
    "noise",
    "scheduling",
    "shared_core",
    "steal",
];

/// Arguments of `userlands`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// User lands whose names contain one of these words; all without any
    #[arg(value_name = "WORD")]
    words: Vec<String>,
    /// What `cargo xtask dist` has packed; without it target/dist
    #[arg(long, value_name = "FOLDER")]
    dist: Option<PathBuf>,
    /// A program that is linked with musl; without it one is built
    #[arg(long, value_name = "FILE")]
    musl_program: Option<PathBuf>,
    /// Where roots are kept, and the last output of each user land
    #[arg(long, value_name = "FOLDER", default_value_os_t = listed::kept())]
    folder: PathBuf,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    /// Roots by their names, with the script that makes each in `$ROOT`.
    roots: BTreeMap<String, String>,
    steps: BTreeMap<String, String>,
    land: Vec<Land>,
    expected: Vec<Expected>,
}

/// A user land.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Land {
    name: String,
    /// What `$ROOT` is at first; changes are forgotten.
    root: String,
    /// A script that puts the program there, and defines how it is started: `syscost`.
    script: String,
    #[serde(default)]
    program: Which,
}

/// Which program is tried.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Which {
    #[default]
    Amd64,
    Arm64,
    Musl,
}

/// Something that goes otherwise than on this machine, and why.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    /// Patterns of the lands.
    lands: Vec<String>,
    /// Patterns of what is found.
    found: String,
    #[allow(dead_code, reason = "for people")]
    because: String,
    /// Whether it is so at times only.
    #[serde(default)]
    sometimes: bool,
}

impl Expected {
    fn is_of(&self, land: &Land) -> bool {
        self.lands.iter().any(|pattern| fits(pattern, &land.name))
    }
}

/// Runs the chore.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let list: List = toml::from_str(LIST).context("reading the list")?;
    let bench = Bench {
        list: &list,
        arguments,
    };
    let steps = list.steps.keys().map(|name| format!("{name} | "));
    println!(
        "| user land | {}rows | seconds | otherwise than here | not as listed |",
        steps.collect::<String>()
    );
    println!("{}", "|---".repeat(list.steps.len() + 5) + "|");
    let mut here = BTreeSet::new();
    let mut complaints = Vec::new();
    for (index, land) in list.land.iter().enumerate() {
        // The first is this machine, which the others are held against.
        if index > 0 && !listed::is_asked(&arguments.words, &land.name) {
            continue;
        }
        let begun = Instant::now();
        let ran = match bench.run(land) {
            Ok(ran) => ran,
            Err(error) if index == 0 => return Err(error.context(land.name.clone())),
            Err(error) => {
                println!("| {} | {error:#} |", land.name);
                complaints.push(format!("{}: {error:#}", land.name));
                continue;
            }
        };
        let found: BTreeSet<&String> = ran.found.difference(&here).collect();
        let expected: Vec<&Expected> = list.expected.iter().filter(|one| one.is_of(land)).collect();
        let mut wrong = ran.broken.clone();
        if index > 0 {
            let is_new = |what: &&&String| !expected.iter().any(|one| fits(&one.found, what));
            let is_met = |one: &Expected| found.iter().any(|what| fits(&one.found, what));
            let is_missing = |one: &&&Expected| !one.sometimes && !is_met(one);
            wrong.extend(found.iter().filter(is_new).map(ToString::to_string));
            let missing = expected.iter().filter(is_missing);
            wrong.extend(missing.map(|one| format!("no longer so: {}", one.found)));
        }
        println!(
            "| {} | {} | {} | {:.0} | {} | {} |",
            land.name,
            ran.ends.join(" | "),
            ran.measured,
            begun.elapsed().as_secs_f64(),
            found.len(),
            wrong.len()
        );
        complaints.extend(wrong.iter().map(|what| format!("{}: {what}", land.name)));
        if index == 0 {
            ensure!(
                ran.ends.iter().all(|end| end == "ok"),
                "nothing can be held against this machine, where a step fails"
            );
            here = ran.found;
        }
    }
    listed::ended(&complaints, &bench.printed())
}

/// What came of a user land.
struct Ran {
    /// How each step ended.
    ends: Vec<String>,
    /// How many rows have a number, of all.
    measured: String,
    found: BTreeSet<String>,
    /// What goes well in no user land.
    broken: Vec<String>,
}

struct Bench<'a> {
    list: &'a List,
    arguments: &'a Arguments,
}

impl Bench<'_> {
    /// The folder with what steps printed.
    fn printed(&self) -> PathBuf {
        self.arguments.folder.join("userlands")
    }

    /// A file that `dist` has packed.
    fn packed(&self, pattern: &str) -> Result<PathBuf> {
        let given = self.arguments.dist.clone();
        let dist = given.unwrap_or_else(|| workspace::root().join("target/dist"));
        let dist = fs::canonicalize(&dist).unwrap_or(dist);
        let pattern = dist.join(pattern).display().to_string();
        let found = glob(&pattern)?.flatten().next();
        found.with_context(|| format!("no {pattern}: `cargo xtask dist` makes it"))
    }

    fn program(&self, which: Which) -> Result<PathBuf> {
        match (which, &self.arguments.musl_program) {
            (Which::Amd64, _) => self.packed("image/amd64/syscost"),
            (Which::Arm64, _) => self.packed("image/arm64/syscost"),
            (Which::Musl, Some(given)) => Ok(given.clone()),
            (Which::Musl, None) => {
                Ok(cargo::release(Some("x86_64-unknown-linux-musl"), &[])?.program)
            }
        }
    }

    /// Takes all steps in this user land.
    fn run(&self, land: &Land) -> Result<Ran> {
        let root = self.root(&land.root)?;
        let (program, package) = (self.program(land.program)?, self.packed("*_amd64.deb")?);
        let printed = self.printed().join(&land.name);
        let _ = fs::remove_dir_all(&printed);
        fs::create_dir_all(&printed).with_context(|| format!("making {}", printed.display()))?;
        let steps = self.list.steps.iter();
        let steps: String = steps
            .map(|(name, words)| format!("step {name} {words}\n"))
            .collect();
        let script = format!("{BEGIN}\n{}\n{steps}", land.script);
        // All mounts and processes end with it.
        let said = Command::new("unshare")
            .args([
                "--mount-proc",
                "--pid",
                "--fork",
                "--kill-child",
                "sh",
                "-eu",
                "-c",
                &script,
            ])
            .envs([("LOWER", &root), ("PROGRAM", &program)])
            .envs([("PACKAGE", &package), ("PRINTED", &printed)])
            .stdin(Stdio::null())
            .output()
            .context("starting unshare")?;
        let failed = String::from_utf8_lossy(&said.stderr);
        ensure!(said.status.success(), "{}", failed.trim());
        judged(self.list, &printed)
    }

    /// The folder of a root, made if there is none.
    fn root(&self, name: &str) -> Result<PathBuf> {
        let root = self.arguments.folder.join("roots").join(name);
        if !root.exists() {
            eprintln!("making the root {name}");
            let part = root.with_extension("part");
            let _ = fs::remove_dir_all(&part);
            fs::create_dir_all(&part).with_context(|| format!("making {}", part.display()))?;
            let script = self
                .list
                .roots
                .get(name)
                .context("no such root is listed")?;
            let made = Command::new("sh")
                .args(["-eu", "-c", script])
                .env("ROOT", &part)
                .stdout(Stdio::null())
                .status()?;
            ensure!(made.success(), "the root {name} cannot be made");
            fs::rename(&part, &root).with_context(|| format!("naming {}", root.display()))?;
        }
        Ok(root)
    }
}

/// What the steps have left in this folder, and what in it is not as where all goes well.
fn judged(list: &List, printed: &Path) -> Result<Ran> {
    let mut ran = Ran {
        ends: Vec::new(),
        measured: String::new(),
        found: BTreeSet::new(),
        broken: Vec::new(),
    };
    for step in list.steps.keys() {
        let read = |end: &str| fs::read(printed.join(format!("{step}.{end}")));
        let text =
            |end: &str| Ok::<_, anyhow::Error>(String::from_utf8_lossy(&read(end)?).into_owned());
        let (code, err) = (text("code")?, text("err")?);
        let mut find = |what: String| {
            let what = what.split_whitespace().collect::<Vec<_>>().join(" ");
            let what: String = what.chars().take(SHOWN).collect();
            ran.found.insert(format!("{step}: {what}"));
        };
        ran.ends.push(match code.trim() {
            "0" => "ok".to_owned(),
            code => {
                find(format!("exit {code}: {err}"));
                format!("exit {code}")
            }
        });
        if err.contains("panicked") {
            ran.broken.push(format!("{step}: panicked: {err}"));
        }
        let out = read("out")?;
        let Ok(value) = serde_json::from_slice::<Value>(&out) else {
            if code.trim() == "0" && step != "show" {
                ran.broken.push(format!("{step}: no document"));
            }
            continue;
        };
        for benchmark in value.as_array().into_iter().flatten() {
            if benchmark["support"] != "yes" {
                let [id, reason] = ["id", "reason"].map(|key| benchmark[key].as_str());
                find(format!(
                    "{}: {}",
                    id.unwrap_or_default(),
                    reason.unwrap_or_default()
                ));
            }
        }
        for finding in value["findings"].as_array().into_iter().flatten() {
            let code = finding["code"].as_str().unwrap_or_default();
            if finding["level"] != "good" && !OF_THE_HOUR.contains(&code) {
                find(format!("{code} {}: {}", finding["level"], finding["seen"]));
            }
        }
        if let Ok(run) = document::read(&out) {
            let inconsistent = violations(&run, &CATALOGUE).into_iter();
            ran.broken
                .extend(inconsistent.map(|what| format!("{step}: {what}")));
            let rows = &run.measurements;
            ran.measured = listed::measured(&run);
            let is_told = |status| !matches!(status, Status::Ok | Status::Skipped);
            for row in rows.iter().filter(|row| is_told(row.status)) {
                let reason = row.reason.as_deref().unwrap_or_default();
                find(format!("{} {}: {reason}", row.name, row.status.words()));
            }
        }
    }
    Ok(ran)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_land_has_a_root_and_what_is_expected_is_of_lands_that_there_are() {
        let list: List = toml::from_str(LIST).expect("a list");
        for land in &list.land {
            assert!(list.roots.contains_key(&land.root), "{}", land.root);
        }
        for pattern in list.expected.iter().flat_map(|one| &one.lands) {
            let mut lands = list.land.iter();
            assert!(lands.any(|land| fits(pattern, &land.name)), "{pattern}");
        }
    }
}
