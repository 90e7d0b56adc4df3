//! What a run was asked for, by which people tell runs apart.

use crate::commands::{command_of, text_of};
use crate::{Run, row_name};

/// The group of the procedures of published experiments.
const STUDY: &str = "study";

impl Run {
    /// What was asked for, as on a command line: `run syscall task`, `time make`, `bill git`,
    /// `study three-costs`.
    pub fn asked(&self) -> String {
        if let Some(bill) = &self.bill {
            return format!("bill {}", text_of(&bill.command));
        }
        let commands = self.measurements.iter().filter_map(command_of);
        let commands = distinct(commands.map(text_of));
        if !commands.is_empty() {
            return format!("time {}", commands.join(" "));
        }
        let studies = distinct(self.repeated());
        if !studies.is_empty() {
            return format!("study {}", studies.join(" "));
        }
        let words = std::iter::once("run");
        let words = words.chain(self.config.selectors.iter().map(String::as_str));
        words.collect::<Vec<_>>().join(" ")
    }

    /// Whether it was to repeat studies: of the catalogue's rows it has those that stand beside theirs.
    pub fn repeats_studies(&self) -> bool {
        self.repeated().next().is_some()
    }

    /// The studies that it repeats: the user's own, and those whose procedures were asked for row by row, as
    /// `syscost study run` does.
    fn repeated(&self) -> impl Iterator<Item = String> {
        let own = self.studies.iter().map(|study| study.id.clone());
        let names = self.measurements.iter().map(|row| &row.name);
        let asked = names.filter(|name| self.config.selectors.contains(name));
        let published = asked.filter_map(|name| {
            let mut parts = row_name::id(name).split('.');
            let is_one = parts.next() == Some(STUDY);
            parts.next().filter(|_| is_one)
        });
        own.chain(published.map(|study| study.replace('_', "-")))
    }
}

/// Each once, in their order.
fn distinct(all: impl Iterator<Item = String>) -> Vec<String> {
    let mut distinct: Vec<String> = Vec::new();
    for one in all {
        if !distinct.contains(&one) {
            distinct.push(one);
        }
    }
    distinct
}

#[cfg(test)]
mod tests {
    use crate::Run;
    use crate::bill::Bill;
    use crate::fixture::{run, valued};

    #[test]
    fn a_run_is_told_apart_by_what_was_asked_for() {
        let of = |names: &[&str], selectors: &[&str]| {
            let rows = names.iter().map(|name| valued(name, 1.0));
            let mut run = run("1", rows.collect());
            run.config.selectors = selectors.iter().map(|one| (*one).to_owned()).collect();
            run
        };
        assert_eq!(of(&["syscall.null"], &[]).asked(), "run");
        let some = of(&["syscall.null"], &["syscall", "task"]);
        assert_eq!(some.asked(), "run syscall task");
        let rows = ["study.three_costs.switch{between=threads}", "syscall.null"];
        assert_eq!(of(&rows, &rows).asked(), "study three-costs");
        // The whole catalogue has procedures too.
        assert_eq!(of(&rows, &[]).asked(), "run");
        assert!(of(&rows, &rows).repeats_studies() && !of(&rows, &[]).repeats_studies());
        let mut timed = of(
            &["command.cpu", "command.wall", "command.cpu"],
            &["command"],
        );
        for (row, command) in timed.measurements.iter_mut().zip(["make", "make", "a%2cb"]) {
            row.case = [("command".to_owned(), command.to_owned())].into();
        }
        assert_eq!(timed.asked(), "time make a,b");
        let billed = Run {
            bill: Some(Box::new(Bill {
                command: "git status".to_owned(),
                ..Bill::default()
            })),
            ..some
        };
        assert_eq!(billed.asked(), "bill git status");
    }
}
