//! The end of the summary: what signs mean, warnings, rows without a number, and next steps.

use std::collections::BTreeSet;

use syscost_results::run::Warning;
use syscost_results::summary::Block;
use syscost_results::{Flag, Measurement, Run, Status};

use crate::grid::Drawn;
use crate::page::Page;
use crate::paint::{self, cut_end, width};
use crate::sentence::Mark;
use crate::tone::Tone;
use crate::units::is_upper;
use crate::view::{Column, RowView};
use crate::wrap::wrap;
use crate::{TableOptions, flags, sentence};

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
        drawn: &Drawn,
        options: &TableOptions,
    ) {
        let lines = blocks.iter().flat_map(|block| &block.lines);
        let rows: Vec<RowView<'_>> = lines
            .map(|line| RowView::of(line.row).beside(line.reference))
            .filter(|view| view.figures.is_some())
            .collect();
        let [mut legend, mut ending] = [0; 2].map(|_| Page {
            out: String::new(),
            ..*self
        });
        legend.legend(&rows, drawn);
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
    fn legend(&mut self, rows: &[RowView<'_>], drawn: &Drawn) {
        let any = |has: fn(&RowView<'_>) -> bool| rows.iter().any(has);
        let marks = [
            (
                any(|view| view.mark == Mark::Confirmed),
                "✓ confirmed by counts",
            ),
            (
                any(|view| view.mark == Mark::Unverified),
                "? unconfirmed (-v: why)",
            ),
            (
                any(|view| view.estimate.ci95_low.is_some() && !is_upper(&view.estimate)),
                "± larger side of 95 % interval",
            ),
            (any(|view| is_upper(&view.estimate)), "+N: its upper side"),
            (
                any(|view| matches!(view.cell(Column::Ratio).tone, Tone::Good | Tone::Bad)),
                "▲ better, ▼ worse: intervals apart at either core frequency",
            ),
        ];
        let marks = marks
            .into_iter()
            .filter_map(|(is_there, words)| is_there.then_some(words));
        let marks: Vec<&str> = marks.collect();
        let marks = (!marks.is_empty()).then(|| marks.join(", "));
        let flags: BTreeSet<&Flag> = rows.iter().flat_map(|view| &view.row.flags).collect();
        let left_out = &drawn.left_out;
        let text = |count: usize| {
            let parts = [
                marks.clone(),
                flags::grades(rows.iter().map(|view| &view.estimate)),
                flags::short_meanings(flags.iter().copied().take(count)),
                drawn
                    .are_signs_left_out
                    .then(|| "+1: a flag more".to_owned()),
                (!left_out.is_empty()).then(|| format!("no room: {}", left_out.join(", "))),
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
