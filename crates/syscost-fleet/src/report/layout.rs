//! How the report is laid out, in a terminal and in a page: which machines first, the worst first.

use maud::Markup;
use syscost_report::document::{Block, Column, Look, Row, Table, Text, Tone};
use syscost_report::sentence::count;
use syscost_report::units::quantity;

use super::words::{
    CONFIGURATION, change, configured, fact_changed, in_words, reason, summary, worse_or_better,
};
use super::{Report, Unlike, UnlikeRow};

/// How much of a report a medium shows.
pub(super) struct Shown {
    /// Machines with their rows, and how many of these are not folded.
    pub(super) machines: usize,
    pub(super) open: usize,
    /// Rows of a machine, and lines of any other list.
    pub(super) rows: usize,
    pub(super) lines: usize,
    /// Where the rest is.
    pub(super) all: &'static str,
    /// In a page, draws the rows' deviations as far as this: the axis, and each row.
    pub(super) plot: Option<fn(Option<&UnlikeRow>, f64) -> Markup>,
}

/// The machines that are not like the others.
pub(super) fn outliers(report: &Report, shown: &Shown) -> Vec<Block> {
    let mut all = Vec::new();
    if !report.outliers.is_empty() {
        all.push(Block::linked(2, "machines", "Machines unlike the others"));
        all.extend(shown.machines(&report.outliers, "the others"));
    }
    let head = |_| CONFIGURATION.to_owned();
    all.extend(shown.section(3, &report.configuration, head, |one| configured(one).into()));
    all
}

/// What changed, what was held against each other, and what was not judged.
pub(super) fn others(report: &Report, shown: &Shown) -> Vec<Block> {
    let mut all = Vec::new();
    if report.collections.len() > 1 {
        all.push(Block::linked(2, "changes", "Since measured before"));
        let head = |of| format!("In {} the machines changed together", count(of, "row"));
        all.extend(shown.section(3, &report.changed_together, head, |row| {
            let (of, worse) = (
                change(row.change, row.low, row.high),
                worse_or_better(row.worse),
            );
            let change = format!(
                " {of}, {worse}, the middle one of {} machines",
                row.machines
            );
            Text::of(Look::Code, &row.row).with(Look::Plain, change)
        }));
        let changed = match report.changed.len() {
            0 => "No machine changed in another way than the others".to_owned(),
            of => format!("{} changed as the others did not", count(of, "machine")),
        };
        all.push(Block::heading(3, changed));
        all.extend(shown.machines(&report.changed, "as others changed"));
    }
    all.push(Block::linked(2, "cohorts", "Held against each other"));
    all.push(Block::note(
        "A machine is compared with those that have the same values of these facts.",
    ));
    all.extend(shown.list(&report.cohorts, |cohort| in_words(cohort).into()));
    all.push(Block::linked(2, "left-out", "Not judged, and why"));
    let is_some_named = report.untold.len() + report.silent.len() + report.left_out.len() > 0;
    match report.measured - report.figures {
        0 if is_some_named => {}
        0 => all.push(Block::note("Every figure of every machine was judged.")),
        figures => all.push(Block::note(format!(
            "{} of {} that the machines measured: no number beyond doubt, or too few machines have one of the row.",
            count(figures, "figure"),
            report.measured
        ))),
    }
    let head = |of| format!("Of {} nothing can be said", count(of, "machine"));
    all.extend(shown.section(3, &report.untold, head, |one| {
        format!("{}: cannot tell: {}", one.machine, one.why).into()
    }));
    let head = |of| format!("{} gave no document", count(of, "node"));
    all.extend(shown.section(3, &report.silent, head, |node| {
        let reason = [&*node.node, node.state.word(), &*node.reason].into_iter();
        let reason: Vec<&str> = reason.filter(|text| !text.is_empty()).collect();
        reason.join(": ").into()
    }));
    let head = |of| format!("{} left out", count(of, "document"));
    all.extend(shown.section(3, &report.left_out, head, |left| {
        format!("{}: {}", left.what, left.why).into()
    }));
    all
}

impl Shown {
    /// A list beneath its heading, which is made of its length; nothing if it is empty.
    fn section<T>(
        &self,
        level: u8,
        list: &[T],
        heading: impl Fn(usize) -> String,
        line: impl Fn(&T) -> Text,
    ) -> Vec<Block> {
        let heading = (!list.is_empty()).then(|| Block::heading(level, heading(list.len())));
        heading.into_iter().chain(self.list(list, line)).collect()
    }

    /// The first lines of a list, and how many more there are.
    fn list<T>(&self, list: &[T], line: impl Fn(&T) -> Text) -> Option<Block> {
        let mut lines: Vec<Text> = list.iter().take(self.lines).map(line).collect();
        lines.extend(self.more(list.len(), self.lines, ""));
        (!lines.is_empty()).then_some(Block::List(lines))
    }

    /// How many more there are than are shown.
    fn more(&self, all: usize, shown: usize, of: &str) -> Option<Text> {
        let more = all.checked_sub(shown).filter(|more| *more > 0)?;
        Some(Text::from(format!("and {more} more{of}; {}", self.all)).tone(Tone::Quiet))
    }

    /// Machines with their rows, held against this.
    fn machines(&self, machines: &[Unlike], against: &str) -> Vec<Block> {
        let mut all = Vec::new();
        for (place, unlike) in machines.iter().take(self.machines).enumerate() {
            let since = unlike.since.iter().map(|since| format!(", since {since}"));
            let since: String = since.collect();
            let title = format!("{}: {}{since}", unlike.machine, summary(unlike));
            let blocks = self.unlike(unlike, against);
            if place < self.open {
                all.push(Block::heading(3, title));
                all.extend(blocks);
            } else {
                all.push(Block::Details(title.into(), blocks));
            }
        }
        all.extend(
            self.more(machines.len(), self.machines, " machines")
                .map(Block::Paragraph),
        );
        all
    }

    fn unlike(&self, unlike: &Unlike, against: &str) -> Vec<Block> {
        let rows = &unlike.rows[..unlike.rows.len().min(self.rows)];
        let reach = rows.iter().flat_map(|row| [row.low, row.high]);
        let reach = reach
            .map(|share| share.ln_1p().abs().min(1.0))
            .fold(0.05, f64::max);
        let mut columns = vec![Column::left("difference"), Column::right("here")];
        columns.push(Column::right(against));
        columns.extend(self.plot.iter().map(|plot| Column::plot(plot(None, reach))));
        let line = |row: &UnlikeRow| {
            let of = change(row.change, row.low, row.high);
            let tone = if row.worse { Tone::Bad } else { Tone::Good };
            let change = Text::from(format!("{of} {}", worse_or_better(row.worse))).tone(tone);
            let figures = [row.median, row.expected].map(|value| quantity(row.unit, value).into());
            let plot = self
                .plot
                .iter()
                .map(|plot| Text::drawn("", plot(Some(row), reach)));
            Row::new(&row.row, [change].into_iter().chain(figures).chain(plot))
        };
        let table = Table {
            class: "changes stack",
            caption: format!("Rows in which {} differs", unlike.machine),
            names: "row".into(),
            columns,
            rows: rows.iter().map(line).collect(),
        };
        let reasons = unlike
            .reasons
            .iter()
            .map(|one| format!("goes with {}", reason(one)));
        let reasons = reasons.chain(unlike.changed_facts.iter().map(fact_changed));
        let mut reasons: Vec<Text> = reasons.map(Text::from).collect();
        reasons.extend(self.more(unlike.rows.len(), self.rows, " rows"));
        let reasons = (!reasons.is_empty()).then_some(Block::List(reasons));
        [Block::Table(table)].into_iter().chain(reasons).collect()
    }
}
