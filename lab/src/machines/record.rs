//! The table of what came of machines: as it is printed, and in the documentation.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use anyhow::{Context, Result};
use jiff::Zoned;
use xtask::workspace;

use super::list::{Arch, Expected, List, Machine};
use super::packages::run;

/// What stands before the table in docs/platforms.md.
const PAGE: &str = include_str!("platforms.md");

/// The lines of the table so far.
pub(super) struct Record<'a> {
    list: &'a List,
    head: Vec<String>,
    lines: Vec<(&'a Machine, Vec<String>)>,
}

impl<'a> Record<'a> {
    pub(super) fn new(list: &'a List) -> Self {
        let steps = list.step.iter().map(|step| step.name.clone());
        let head = ["machine", "kernel", "processor", "CPUs", "page"].map(str::to_owned);
        let rest = ["commit", "seconds", "expected", "unexpected"].map(str::to_owned);
        Self {
            list,
            head: head.into_iter().chain(steps).chain(rest).collect(),
            lines: Vec::new(),
        }
    }

    /// The lines above those of machines.
    pub(super) fn head(&self) -> String {
        let rule = vec!["---".to_owned(); self.head.len()];
        format!("{}\n{}", line(&self.head), line(&rule))
    }

    /// Adds the cells of a machine, and returns its line.
    pub(super) fn add(&mut self, machine: &'a Machine, cells: Vec<String>) -> String {
        let [suite, package] = &machine.kernel;
        let mut all = vec![
            machine.name.clone(),
            format!("{suite}: {package}"),
            machine.cpu.clone(),
            machine.smp.clone(),
            format!("{}K", machine.pages),
        ];
        all.extend(cells);
        // Of what was not booted nothing came.
        all.resize(self.head.len(), String::new());
        let printed = line(&all);
        self.lines.push((machine, all));
        printed
    }

    /// Writes what came of all machines to docs/platforms.md, and a line of it to the README.
    pub(super) fn write(&self) -> Result<()> {
        let qemu = run(Command::new("qemu-system-x86_64").arg("--version"))?;
        let qemu = qemu.split_whitespace().nth(3).unwrap_or_default();
        let when = format!(
            "{}, qemu {qemu}, {:.0} minutes of machines side by side",
            Zoned::now().date(),
            self.seconds() / 60.0
        );
        let mut lines: Vec<String> = self.lines.iter().map(|(_, cells)| line(cells)).collect();
        lines.sort_unstable();
        let table = lines.join("\n");
        let head = ["command", "machines", "where", "what", "why"].map(str::to_owned);
        let rule = head.clone().map(|_| "---".to_owned());
        let expected = self.list.expected.iter().map(Expected::cells);
        let expected: Vec<String> = [head, rule]
            .into_iter()
            .chain(expected)
            .map(|cells| line(&cells))
            .collect();
        let page = format!(
            "{PAGE}\nLast run: {when}.\n\n{}\n{table}\n\n## What does not go well there, and why\n\n{}\n",
            self.head(),
            expected.join("\n")
        );
        write("docs/platforms.md", &page)?;
        let readme = workspace::read(&workspace::root().join("README.md"))?;
        let (before, rest) = readme
            .split_once("<!-- machines -->\n")
            .context("the README has no line `<!-- machines -->`")?;
        let (_, after) = rest
            .split_once("<!-- /machines -->")
            .context("the README has no line `<!-- /machines -->`")?;
        write(
            "README.md",
            &format!(
                "{before}<!-- machines -->\n{}\n<!-- /machines -->{after}",
                self.summary()
            ),
        )
    }

    /// How long machines took together.
    fn seconds(&self) -> f64 {
        let at = self.head.len().saturating_sub(3);
        let seconds = self
            .lines
            .iter()
            .filter_map(|(_, cells)| cells[at].parse::<f64>().ok());
        seconds.sum()
    }

    /// What machines there were, in a paragraph.
    fn summary(&self) -> String {
        let machines = || self.lines.iter().map(|(machine, _)| *machine);
        let words = |of: &dyn Fn(&Machine) -> String| {
            let words: BTreeSet<String> = machines().map(of).collect();
            words.into_iter().collect::<Vec<_>>().join(", ")
        };
        let pages: BTreeSet<u32> = machines().map(|machine| machine.pages).collect();
        let pages: Vec<String> = pages.iter().map(u32::to_string).collect();
        let arm = machines().filter(|machine| machine.arch == Arch::Arm);
        let others: Vec<&str> = self
            .lines
            .iter()
            .filter(|(_, cells)| cells.last().is_some_and(|cell| cell != "0"))
            .map(|(machine, _)| machine.name.as_str())
            .collect();
        let unexpected = match &others[..] {
            [] => String::new(),
            others => format!(" Something unexpected came of {}.", others.join(", ")),
        };
        format!(
            "Emulated ({}): {} machines, {} of them arm64. What is missing in each, and why: \
             [docs/platforms.md](docs/platforms.md).{unexpected} Processors: {}. Kernels of Debian: {}. Pages of {} KiB.",
            Zoned::now().date(),
            self.lines.len(),
            arm.count(),
            words(&|machine| machine.cpu.clone()),
            words(&|machine| machine.kernel.join(" ")),
            pages.join(", ")
        )
    }
}

/// A line of the table.
fn line(cells: &[String]) -> String {
    format!("| {} |", cells.join(" | "))
}

fn write(name: &str, text: &str) -> Result<()> {
    let path = workspace::root().join(name);
    fs::write(&path, text).with_context(|| format!("writing {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_has_a_cell_below_each_of_the_head_and_the_summary_names_what_was_unexpected() {
        let list = List::read().expect("a list");
        let mut record = Record::new(&list);
        let steps = list.step.iter().map(|_| "ok".to_owned());
        let numbers = ["c82e6031", "60", "4", "1"].map(str::to_owned);
        let cells = |line: &str| line.matches('|').count();
        let head = record.head();
        let head = cells(head.lines().next().expect("a line"));
        let booted = record.add(&list.machine[0], steps.chain(numbers).collect());
        let not_booted = record.add(&list.machine[1], Vec::new());
        assert_eq!([cells(&booted), cells(&not_booted)], [head; 2]);
        let summary = record.summary();
        assert!(
            summary.contains("2 machines, 0 of them arm64.")
                && summary.contains(&format!(
                    "unexpected came of {}, {}.",
                    list.machine[0].name, list.machine[1].name
                )),
            "{summary}"
        );
    }
}
