//! The end of the summary: what signs mean, warnings, rows without a number, and next steps.

use std::collections::BTreeSet;

use syscost_results::run::Warning;
use syscost_results::summary::Block;
use syscost_results::{Estimate, Flag, Measurement, Run, Status};

use crate::page::Page;
use crate::paint::{self, cut_end, width};
use crate::sentence::Mark;
use crate::units::is_upper;
use crate::wrap::wrap;
use crate::{TableOptions, footer, sentence};

/// Maximum number of warnings; of more, the first ones are shown.
const WARNINGS: usize = 3;
/// Maximum number of lines of a summary: what a tall terminal shows.
const MAX_LINES: usize = 50;
/// Maximum number of lines of the legend.
const LEGEND: usize = 3;

impl Page {
    /// Adds all of it, in as many lines as a summary has left.
    pub(super) fn closing(
        &mut self,
        run: &Run,
        blocks: &[Block<'_>],
        are_signs_left_out: bool,
        options: &TableOptions,
    ) {
        let rows: Vec<&Measurement> = blocks
            .iter()
            .flat_map(|block| &block.lines)
            .map(|line| line.row)
            .filter(|row| row.status.has_figures())
            .collect();
        let [mut legend, mut ending] = [0; 2].map(|_| Page {
            out: String::new(),
            ..*self
        });
        legend.legend(&rows, are_signs_left_out);
        ending.ending(run, options);
        let taken = [&self.out, &legend.out, &ending.out].map(|text| text.lines().count());
        let room = MAX_LINES.saturating_sub(taken.iter().sum());
        let warnings = match options.quiet {
            true => &[],
            false => &run.warnings[..],
        };
        let warned = usize::from(!warnings.is_empty());
        let problems = self.problems(run, room.saturating_sub(warned));
        let is_spaced = room > problems.len() + warned;
        if is_spaced {
            self.line("");
        }
        self.out.push_str(&legend.out);
        let room = room.saturating_sub(problems.len() + usize::from(is_spaced));
        self.warnings(warnings, room.clamp(1, WARNINGS));
        for problem in problems {
            self.line(&problem);
        }
        self.out.push_str(&ending.out);
    }

    /// What the signs of these rows mean, in one paragraph: of flags as many as there is room for.
    fn legend(&mut self, rows: &[&Measurement], are_signs_left_out: bool) {
        let are_marked = |mark| rows.iter().any(|row| Mark::of(&row.evidence) == mark);
        let have = |has: fn(&Estimate) -> bool| rows.iter().any(|row| has(&row.estimate));
        let marks = [
            (are_marked(Mark::Confirmed), "✓ confirmed by counts"),
            (are_marked(Mark::Unverified), "? unconfirmed (-v: why)"),
            (
                have(|estimate| estimate.ci95_low.is_some() && !is_upper(estimate)),
                "± larger side of 95 % interval",
            ),
            (
                have(is_upper),
                "+N: its upper side, where longer than the median",
            ),
        ];
        let marks: Vec<&str> = marks
            .into_iter()
            .filter_map(|(is_there, words)| is_there.then_some(words))
            .collect();
        let marks = (!marks.is_empty()).then(|| marks.join(", "));
        let flags: BTreeSet<&Flag> = rows.iter().flat_map(|row| &row.flags).collect();
        let text = |count: usize| {
            let parts = [
                marks.clone(),
                footer::grades(rows.iter().map(|row| &row.estimate)),
                footer::short_meanings(flags.iter().copied().take(count)),
                are_signs_left_out.then(|| "+1: one flag more".to_owned()),
            ];
            let parts: Vec<String> = parts.into_iter().flatten().collect();
            parts.join("; ")
        };
        let texts = (0..=flags.len()).rev().map(text);
        let fits = |text: &String| wrap(text, self.columns).len() <= LEGEND;
        let text = texts.into_iter().find(fits).unwrap_or_else(|| text(0));
        self.dim(&text);
    }

    /// The first of these warnings, in this number of lines, and how many there are beyond.
    fn warnings(&mut self, warnings: &[Warning], room: usize) {
        let more = warnings.len().saturating_sub(room);
        for (index, warning) in warnings.iter().take(room).enumerate() {
            let more = (index + 1 == room && more > 0).then(|| match more {
                1 => "1 more warning".to_owned(),
                more => format!("{more} more warnings"),
            });
            let warning = self.cut_before(&format!("! {}", warning.message), more);
            let warning = self.paint.text(paint::CARE, &warning);
            self.line(&warning);
        }
    }

    /// The first row that was withheld and the first that failed, with their reasons; where there
    /// is no room for both, the withheld one and the number of the others.
    fn problems(&self, run: &Run, room: usize) -> Vec<String> {
        let found: Vec<(Status, Vec<&Measurement>)> = [Status::Withheld, Status::Failed]
            .into_iter()
            .map(|status| {
                let rows = run.measurements.iter();
                (status, rows.filter(|row| row.status == status).collect())
            })
            .filter(|(_, rows): &(_, Vec<_>)| !rows.is_empty())
            .collect();
        let line = |(status, rows): &(Status, Vec<&Measurement>), others: Option<String>| {
            let more = match rows.len() - 1 {
                0 => None,
                count => Some(format!("{count} more")),
            };
            let first = rows[0];
            let reason = sentence::reason(first).map_or_else(String::new, |why| format!(": {why}"));
            let text = format!("{}: {}{reason}", status.words(), first.name);
            self.cut_before(&text, more.into_iter().chain(others))
        };
        match &found[..] {
            [first, (status, others)] if room < 2 => {
                let others = format!("{} {}", others.len(), status.words());
                vec![line(first, Some(others))]
            }
            found => found.iter().map(|one| line(one, None)).collect(),
        }
    }

    /// A line that ends in what is not shown, `(and 2 more)`, and before it is cut to fit.
    fn cut_before(&self, text: &str, more: impl IntoIterator<Item = String>) -> String {
        let more: Vec<String> = more.into_iter().collect();
        let more = match more.is_empty() {
            true => String::new(),
            false => format!(" (and {})", more.join(", ")),
        };
        cut_end(text, self.columns.saturating_sub(width(&more))) + &more
    }

    /// How many rows were measured, where they are kept, and what to do next.
    fn ending(&mut self, run: &Run, options: &TableOptions) {
        self.paragraph(0, anstyle::Style::new(), &sentence::summary(run));
        if options.quiet {
            return;
        }
        if let Some(path) = &options.saved_to {
            self.line(&format!("saved to {path}"));
        }
        if let Some(name) = &options.name {
            self.dim(&format!(
                "Next: syscost show {name} | syscost explain ID | syscost report {name} -o r.html"
            ));
        }
    }
}
