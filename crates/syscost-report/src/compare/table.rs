//! The text of a comparison: the verdict, what got worse and better, what could not be decided, then
//! what to know about it.

use anstyle::Style;
use syscost_results::compare::{Change, Comparison, Difference, Row};
use syscost_results::facts;

use super::{
    IN_TURN, are_few_settled, are_rows_left_out, causes, clean, group_interval, group_ratio,
    groups_note, is_noticed, margin, medians, notices, own_notes, parts, power, side, sides,
    single_runs, spread, summary, tail, together, too_few, value, why_missing,
};
use crate::grid::{Behind, Cell, Grid, INDENT, Name, left, right};
use crate::page::Page;
use crate::paint::{self, cut_end};
use crate::sentence;
use crate::table::TableOptions;

/// The comparison as text that ends in a newline. The brief form lists what changed and counts the
/// rest; the verbose form lists all rows with margins and notes, and those that could not be
/// compared.
pub fn table(comparison: &Comparison, options: &TableOptions) -> String {
    let mut page = Page::new(options);
    page.paragraph(0, paint::HEADING, &summary(comparison));
    for line in causes(comparison).into_iter().chain(together(comparison)) {
        page.paragraph(0, paint::HEADING, &line);
    }
    let both = [&comparison.base, &comparison.new];
    for (name, one) in sides(comparison).into_iter().zip(both) {
        page.hanging(&format!("{name:6}"), 6, paint::DIM, &clean(&side(one)));
    }
    let in_turn = comparison.paired.then(|| IN_TURN.to_owned());
    for line in in_turn.into_iter().chain(spread(comparison)) {
        page.dim(&line);
    }
    // Whoever acts on a change has to know this first.
    let caveat = single_runs(comparison).filter(|_| !options.quiet);
    caveat
        .iter()
        .for_each(|text| page.paragraph(0, paint::CARE, text));
    page.judged(comparison, options);
    let facts = comparison.facts.iter();
    let facts: Vec<&Difference> = facts.filter(|fact| !is_noticed(fact)).collect();
    page.facts(&facts, options.verbose);
    if !options.quiet {
        page.groups(comparison);
        let notices = notices(comparison);
        if !notices.is_empty() {
            page.section("notes", paint::CARE);
        }
        for line in notices {
            page.paragraph(INDENT, Style::new(), &clean(&line));
        }
    }
    page.uncompared(comparison, options.verbose);
    if !options.verbose && !options.quiet && !comparison.rows.is_empty() {
        let hint = "-v shows every row with its margin and what was not compared";
        page.line("");
        page.dim(hint);
    }
    page.out
}

impl Page {
    fn section(&mut self, title: &str, style: Style) {
        let (head, rest) = title.split_at(title.find(':').unwrap_or(title.len()));
        let line = format!("\n{}{rest}", self.paint.text(style.bold(), head));
        self.line(&line);
    }

    /// The rows of each verdict; of those that were not decided only how many, unless verbose, and
    /// how large a change would have been found.
    fn judged(&mut self, comparison: &Comparison, options: &TableOptions) {
        for (verdict, style, meaning) in [
            (Change::Worse, paint::BAD, ""),
            (Change::Better, paint::GOOD, ""),
            (
                Change::Inconclusive,
                paint::CARE,
                "the samples cannot tell whether they changed",
            ),
            (
                Change::Same,
                paint::DIM,
                "any change is smaller than the margin beside it",
            ),
        ] {
            let rows = comparison.rows.iter();
            let rows: Vec<&Row> = rows.filter(|row| row.verdict == verdict).collect();
            let is_undecided = verdict == Change::Inconclusive && !options.quiet;
            if options.verbose || matches!(verdict, Change::Worse | Change::Better) {
                if !rows.is_empty() {
                    self.line("");
                    self.rows(comparison, &rows, (verdict, style), options.verbose);
                    if !meaning.is_empty() {
                        self.paragraph(INDENT, paint::DIM, meaning);
                    }
                }
            } else if is_undecided && !rows.is_empty() {
                let rows = sentence::count(rows.len(), "row");
                self.section(&format!("{}: {rows}", super::verdict(verdict)), style);
                self.paragraph(INDENT, paint::DIM, meaning);
            }
            if is_undecided {
                let few = are_few_settled(comparison).then(|| too_few(comparison).to_owned());
                let sentences: Vec<String> = power(comparison).into_iter().chain(few).collect();
                if rows.is_empty() && !sentences.is_empty() {
                    self.line("");
                }
                let indent = if rows.is_empty() { 0 } else { INDENT };
                for text in sentences {
                    self.paragraph(indent, paint::DIM, &text);
                }
            }
        }
    }

    fn groups(&mut self, comparison: &Comparison) {
        let groups = &comparison.groups;
        if groups.is_empty() {
            return;
        }
        let left_out = are_rows_left_out(groups);
        let heads = ["cost", "95 %", "worse", "better", "inconcl."].map(right);
        // How many are the same follows from the others.
        let heads = heads.into_iter().chain([right("same").rank(1)]);
        let heads = heads.chain(left_out.then(|| right("left out").rank(2)));
        let mut grid = Grid::new(heads.collect());
        grid.whole("");
        grid.heading("groups", paint::HEADING);
        for group in groups {
            let name = match &*group.name {
                "" => "all".to_owned(),
                name => clean(name),
            };
            let interval = group_interval(group).unwrap_or_else(|| "none".to_owned());
            let counts = [group.worse, group.better, group.inconclusive, group.same];
            let counts = counts.into_iter().chain(left_out.then_some(group.left_out));
            let texts = [group_ratio(group), interval].into_iter();
            let cells = texts
                .chain(counts.map(|count| count.to_string()))
                .map(Cell::from);
            grid.line(Name::new(name, INDENT), cells.collect(), Behind::Nothing);
        }
        self.grid(&grid);
        let note = groups_note(comparison, sides(comparison));
        self.paragraph(INDENT, paint::DIM, &note);
    }

    /// The facts that differ, with their values whole only if verbose.
    fn facts(&mut self, facts: &[&Difference], verbose: bool) {
        if facts.is_empty() {
            return;
        }
        self.section("differs", paint::CARE);
        for fact in facts {
            let name = clean(&facts::words(&fact.fact));
            let sides = [&fact.base, &fact.new].map(|side| clean(value(side)));
            let taken = INDENT + paint::width(&name) + 6;
            let [base, new] = match verbose {
                true => sides,
                false => shortened(sides, self.columns.saturating_sub(taken)),
            };
            let mut text = format!("{name}: {base} -> {new}");
            if let Some(meaning) = &fact.meaning {
                text.push_str(&format!(" ({})", clean(meaning)));
            }
            self.paragraph(INDENT, Style::new(), &text);
        }
    }

    /// One line per row: name, both medians, the change.
    fn rows(
        &mut self,
        comparison: &Comparison,
        rows: &[&Row],
        (verdict, style): (Change, Style),
        verbose: bool,
    ) {
        let own_notes = own_notes(comparison);
        let [base, new] = sides(comparison);
        let mut grid = Grid::new(vec![
            right(base),
            right(new),
            left("change"),
            left("95 % interval"),
            right("margin"),
        ]);
        grid.heading(super::verdict(verdict), style.bold());
        for row in rows {
            let [base, new] = medians(row);
            let (change, interval) = parts(row);
            let interval = interval.unwrap_or_else(|| "none".to_owned());
            let margin = if verbose { margin(row) } else { String::new() };
            let cells = [base, new, change, interval, margin].map(Cell::from);
            // People look for it by its whole name.
            let name = Name::whole(clean(&row.name), INDENT);
            grid.line(name, cells.to_vec(), Behind::Nothing);
            let notes: Vec<&str> = match verbose {
                true => row.notes.iter().map(String::as_str).collect(),
                false if row.verdict < Change::Inconclusive => own_notes(row),
                false => Vec::new(),
            };
            let tail = tail(row).filter(|_| verbose);
            for note in notes.into_iter().chain(tail.as_deref()) {
                grid.whole_lines(self.dim_lines(2 * INDENT, &clean(note)));
            }
        }
        self.grid(&grid);
    }

    /// Rows that could not be compared: refused ones by name, missing ones counted unless verbose.
    fn uncompared(&mut self, comparison: &Comparison, verbose: bool) {
        if !comparison.refused.is_empty() {
            self.section("not compared", paint::CARE);
            for refused in &comparison.refused {
                let text = format!("{}: {}", refused.name, refused.reason);
                self.paragraph(INDENT, Style::new(), &clean(&text));
            }
        }
        let missing = &comparison.missing;
        if verbose && !missing.is_empty() {
            self.section(why_missing(comparison), paint::CARE);
            for missing in missing {
                let text = format!("{}: {}", missing.name, missing.reason);
                self.paragraph(INDENT, Style::new(), &clean(&text));
            }
        } else if let Some(first) = missing.first() {
            let which = if missing.len() == 1 {
                ""
            } else {
                "the first is "
            };
            let text = format!(
                "{} {} ({which}{}: {})",
                sentence::count(missing.len(), "row"),
                why_missing(comparison),
                first.name,
                first.reason
            );
            if comparison.refused.is_empty() {
                self.line("");
            }
            self.dim(&clean(&text));
        }
    }
}

/// Two different values within `room` columns together: if need be, from the word on in which they
/// begin to differ, and as much of either as there is room for.
fn shortened([base, new]: [String; 2], room: usize) -> [String; 2] {
    let [one, other] = [&base, &new].map(|side| paint::width(side));
    if one + other <= room {
        return [base, new];
    }
    let half = (room / 2).max(10);
    // A short value leaves its room to the other.
    let most = half.max(room.saturating_sub(one.min(other)));
    let pairs = base.char_indices().zip(new.chars());
    let alike = pairs.take_while(|((_, one), other)| one == other);
    // They differ from the word on that begins here.
    let words = alike.filter(|((_, one), _)| matches!(one, ' ' | ','));
    let from = words
        .last()
        .map_or(0, |((at, space), _)| at + space.len_utf8());
    let from = if from < half / 2 { 0 } else { from };
    let begun = if from > 0 { "…" } else { "" };
    [base, new].map(|side| cut_end(&format!("{begun}{}", &side[from..]), most))
}
