//! The list of machines, of what is done in them, and of what is expected not to go well.

use std::collections::BTreeMap;
use std::fmt;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::Value;

use super::judge::Finding;
use crate::listed::fits;

const LIST: &str = include_str!("list.toml");
const EXPECTED: &str = include_str!("expected.toml");

/// The list.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct List {
    /// Seconds that a machine may take.
    pub(super) seconds: f64,
    pub(super) step: Vec<Step>,
    pub(super) machine: Vec<Machine>,
    /// Rows of which each does all that the other does, and more.
    pub(super) dearer: Vec<Dearer>,
    #[serde(skip)]
    pub(super) expected: Vec<Expected>,
    /// What doctor's document holds on every machine that does not say otherwise.
    #[serde(default)]
    facts: BTreeMap<String, Value>,
}

impl List {
    /// Reads the list.
    pub(super) fn read() -> Result<Self> {
        #[derive(Deserialize)]
        struct File {
            expected: Vec<Expected>,
        }
        let file: File = toml::from_str(EXPECTED).context("reading what is expected")?;
        Ok(Self {
            expected: file.expected,
            ..toml::from_str(LIST).context("reading the list")?
        })
    }

    /// What this machine does.
    pub(super) fn steps(&self, machine: &Machine) -> impl Iterator<Item = &Step> {
        let steps = self.step.iter();
        steps.filter(|step| machine.takes(step))
    }

    /// What doctor's document must hold on this machine, by its path there.
    pub(super) fn facts<'a>(&'a self, machine: &'a Machine) -> BTreeMap<&'a str, &'a Value> {
        let facts = self.facts.iter().chain(&machine.facts);
        facts.map(|(path, value)| (&**path, value)).collect()
    }
}

/// A command that is executed in machines.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Step {
    pub(super) name: String,
    /// For the guest's shell.
    pub(super) command: String,
    /// What it prints, if that is judged.
    pub(super) prints: Option<Prints>,
    /// Whether only machines that name their steps may take it.
    #[serde(default)]
    apart: bool,
}

/// What a step prints that is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Prints {
    /// The benchmarks that there are.
    Catalogue,
    /// What `doctor` finds.
    Doctor,
    /// A run.
    Run,
    /// The self-test's outcomes.
    Selftest,
    /// What programs of tests print.
    Tests,
}

/// An emulated machine.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Machine {
    pub(super) name: String,
    pub(super) arch: Arch,
    /// The suite of Debian and the package in it: a kernel, or the source of one.
    pub(super) kernel: [String; 2],
    /// The size of its pages, in KiB.
    #[serde(default = "four")]
    pub(super) pages: u32,
    /// The processor, as qemu calls it.
    pub(super) cpu: String,
    #[serde(default = "one")]
    pub(super) smp: String,
    /// Further arguments of qemu.
    #[serde(default)]
    pub(super) qemu: String,
    /// What is added to the kernel's command line.
    #[serde(default)]
    pub(super) command_line: String,
    /// What the guest's shell does before the first step.
    #[serde(default)]
    pub(super) before: String,
    /// What it does beside the steps.
    #[serde(default)]
    pub(super) beside: String,
    /// The steps that it takes, if not all that are not apart.
    steps: Option<Vec<String>>,
    /// How many times longer than others it may take.
    #[serde(default = "once")]
    pub(super) times: f64,
    /// Whether it is one of the cheapest that together try most.
    #[serde(default)]
    pub(super) quick: bool,
    #[serde(default)]
    facts: BTreeMap<String, Value>,
}

impl Machine {
    /// Whether it takes this step.
    pub(super) fn takes(&self, step: &Step) -> bool {
        match &self.steps {
            Some(names) => names.contains(&step.name),
            None => !step.apart,
        }
    }
}

fn one() -> String {
    "1".to_owned()
}

fn four() -> u32 {
    4
}

fn once() -> f64 {
    1.0
}

/// An architecture, as Rust calls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub(super) enum Arch {
    #[serde(rename = "x86_64")]
    X86,
    #[serde(rename = "aarch64")]
    Arm,
}

impl Arch {
    /// What Debian calls it.
    pub(super) fn of_debian(self) -> &'static str {
        match self {
            Arch::X86 => "amd64",
            Arch::Arm => "arm64",
        }
    }

    /// The target that programs are built for.
    pub(super) fn triple(self) -> &'static str {
        match self {
            Arch::X86 => "x86_64-unknown-linux-gnu",
            Arch::Arm => "aarch64-unknown-linux-gnu",
        }
    }

    /// The emulator, with the board that it emulates.
    pub(super) fn qemu(self) -> [&'static str; 3] {
        match self {
            Arch::X86 => ["qemu-system-x86_64", "-machine", "pc,accel=tcg"],
            Arch::Arm => [
                "qemu-system-aarch64",
                "-machine",
                "virt,accel=tcg,gic-version=3",
            ],
        }
    }

    /// What the kernel has to know of the emulator: the serial port, and that a counter which looks wrong on
    /// a busy machine is not.
    pub(super) fn command_line(self) -> &'static str {
        match self {
            Arch::X86 => "console=ttyS0 tsc=reliable",
            Arch::Arm => "console=ttyAMA0",
        }
    }
}

/// Rows that cannot cost less than another one.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Dearer {
    /// Pattern of the rows.
    rows: String,
    /// The name of the other.
    pub(super) than: String,
}

impl Dearer {
    /// Whether it is about this row.
    pub(super) fn is_of(&self, row: &str) -> bool {
        fits(&self.rows, row)
    }
}

/// Something that does not go well, and why.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Expected {
    /// Patterns of machines; all of them without any.
    #[serde(default)]
    machines: Vec<String>,
    /// Patterns of machines of which it is not expected.
    #[serde(default)]
    except: Vec<String>,
    /// The step that shows it.
    pub(super) step: String,
    /// Pattern of what it is about: the step, a row, a fact.
    #[serde(default = "any")]
    at: String,
    /// Pattern of how that ends or what it is.
    #[serde(default = "any")]
    is: String,
    /// What is said of it, among other words.
    #[serde(default)]
    said: String,
    /// Why it is so; `fault: ..` where it should not be.
    pub(super) because: String,
    /// Whether it is so at times only.
    #[serde(default)]
    pub(super) sometimes: bool,
}

fn any() -> String {
    "*".to_owned()
}

impl Expected {
    /// Whether it is expected of this machine.
    pub(super) fn is_of(&self, machine: &str) -> bool {
        let is_in = |patterns: &[String]| patterns.iter().any(|one| fits(one, machine));
        (self.machines.is_empty() || is_in(&self.machines)) && !is_in(&self.except)
    }

    /// The cells of its line in the documentation: command, machines, what it is about, what is said, why.
    pub(super) fn cells(&self) -> [String; 5] {
        let machines = match (&self.machines[..], &self.except[..]) {
            ([], []) => "all".to_owned(),
            ([], except) => format!("all but {}", except.join(", ")),
            (machines, _) => machines.join(", "),
        };
        // A pattern that any text fits says nothing.
        let told = [&self.is, &self.said]
            .into_iter()
            .filter(|text| **text != "*" && !text.is_empty());
        let told: Vec<String> = told.cloned().collect();
        let at = if self.at == "*" {
            String::new()
        } else {
            format!("`{}`", self.at)
        };
        let when = if self.sometimes { " (at times)" } else { "" };
        let because = format!("{}{when}", self.because);
        [self.step.clone(), machines, at, told.join(": "), because]
    }

    /// Whether this is what it expects.
    pub(super) fn is_met_by(&self, finding: &Finding) -> bool {
        fits(&self.at, &finding.at)
            && fits(&self.is, &finding.is)
            && finding.said.contains(&self.said)
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} {} {}", self.step, self.at, self.is, self.said)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use glob::Pattern;

    use super::*;

    #[test]
    fn each_machine_has_a_name_of_its_own_and_takes_steps_that_there_are() {
        let list = List::read().expect("a list");
        let names: BTreeSet<&str> = list.machine.iter().map(|machine| &*machine.name).collect();
        assert_eq!(names.len(), list.machine.len());
        let steps: BTreeSet<&str> = list.step.iter().map(|step| &*step.name).collect();
        assert_eq!(steps.len(), list.step.len());
        for machine in &list.machine {
            for asked in machine.steps.iter().flatten() {
                assert!(steps.contains(&**asked), "{}: {asked}", machine.name);
            }
        }
    }

    #[test]
    fn what_is_expected_is_of_machines_that_there_are_and_can_be_met() {
        let list = List::read().expect("a list");
        for expected in &list.expected {
            for pattern in expected.machines.iter().chain(&expected.except) {
                let mut machines = list.machine.iter();
                assert!(
                    machines.any(|machine| fits(pattern, &machine.name)),
                    "{pattern}"
                );
            }
            assert!(
                list.step.iter().any(|step| step.name == expected.step),
                "{}",
                expected.step
            );
            for pattern in [&expected.at, &expected.is] {
                assert!(Pattern::new(pattern).is_ok(), "{pattern}");
            }
        }
    }
}
