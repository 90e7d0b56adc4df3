//! The text of a comparison: first the verdict, then what to know about it, what got worse and what
//! got better.

use comfy_table::CellAlignment;
use syscost_results::compare::{Change, Comparison, Difference, Row};

use super::{
    IN_TURN, are_rows_left_out, change, clean, group_interval, group_ratio, groups_note,
    is_noticed, margin, medians, notices, own_notes, power, side, sides, spread, summary, tail,
    value, why_missing,
};
use crate::names::cut_case;
use crate::paint::{self, Paint, cut_end};
use crate::sentence;
use crate::table::TableOptions;
use crate::wrap::wrap;

/// Indent of a line in a section, in columns.
const INDENT: usize = 2;

/// The comparison as text that ends in a newline. The brief form lists what changed and counts the
/// rest; the verbose form lists all rows with margins and notes, and those that could not be
/// compared.
pub fn table(comparison: &Comparison, options: &TableOptions) -> String {
    let width = options.width.max(60);
    let paint = Paint {
        color: options.color,
    };
    let mut out = Text {
        out: String::new(),
        width,
        paint,
    };
    // The answer first; what it is of, and what to know about it, after it.
    out.wrapped("", &summary(comparison), paint::HEADING);
    if let Some(power) = power(comparison).filter(|_| !options.quiet) {
        out.wrapped("", &power, paint::DIM);
    }
    let is_settled = |row: &&Row| row.verdict != Change::Inconclusive;
    let few = comparison.rows.iter().filter(is_settled).count() * 2 < comparison.rows.len();
    if few && !options.quiet {
        let advice =
            "more rounds (--profile standard) or several runs a side would settle more rows";
        out.wrapped("", advice, paint::DIM);
    }
    let labels = sides(comparison).map(|name| format!("{name:6}"));
    out.wrapped(&labels[0], &side(&comparison.base), paint::DIM);
    out.wrapped(&labels[1], &side(&comparison.new), paint::DIM);
    if comparison.paired {
        out.wrapped("", IN_TURN, paint::DIM);
    }
    if let Some(spread) = spread(comparison) {
        out.wrapped("", &spread, paint::DIM);
    }
    for line in notices(comparison).iter().filter(|_| !options.quiet) {
        out.wrapped("", line, paint::CARE);
    }
    if !options.quiet {
        out.groups(comparison);
    }
    let facts = comparison.facts.iter();
    let facts: Vec<&Difference> = facts.filter(|fact| !is_noticed(fact)).collect();
    out.facts(&facts, options.verbose);
    for (verdict, title, style) in [
        (Change::Worse, "worse", paint::BAD),
        (Change::Better, "better", paint::GOOD),
        (
            Change::Inconclusive,
            "inconclusive: the samples cannot tell",
            paint::CARE,
        ),
        (
            Change::Same,
            "the same: any change is smaller than the margin beside it",
            paint::DIM,
        ),
    ] {
        let rows: Vec<&Row> = comparison
            .rows
            .iter()
            .filter(|row| row.verdict == verdict)
            .collect();
        let changed = matches!(verdict, Change::Worse | Change::Better);
        if (changed || options.verbose) && !rows.is_empty() {
            out.section(title, style);
            out.rows(comparison, &rows, options.verbose);
        }
    }
    out.uncompared(comparison, options.verbose);
    if !options.verbose && !options.quiet && !comparison.rows.is_empty() {
        out.wrapped(
            "",
            "-v shows every row with its margin and what was not compared",
            paint::DIM,
        );
    }
    out.out
}

struct Text {
    out: String,
    width: usize,
    paint: Paint,
}

impl Text {
    fn line(&mut self, line: &str) {
        self.out.push_str(line.trim_end());
        self.out.push('\n');
    }

    /// Text in a style after a label, wrapped in alignment with it.
    fn wrapped(&mut self, label: &str, text: &str, style: anstyle::Style) {
        let room = self.width.saturating_sub(label.len());
        for (index, line) in wrap(&fitted(&clean(text), room), room).iter().enumerate() {
            let label = if index == 0 {
                label.to_owned()
            } else {
                " ".repeat(label.len())
            };
            let line = format!("{label}{}", self.paint.text(style, line));
            self.line(&line);
        }
    }

    fn section(&mut self, title: &str, style: anstyle::Style) {
        let (head, rest) = title
            .split_once(':')
            .map_or((title, String::new()), |(head, rest)| {
                (head, format!(":{rest}"))
            });
        let line = format!("\n{}{rest}", self.paint.text(style.bold(), head));
        self.line(&line);
    }

    /// A line for each group.
    fn groups(&mut self, comparison: &Comparison) {
        let groups = &comparison.groups;
        if groups.is_empty() {
            return;
        }
        self.section("groups", paint::HEADING);
        let mut table = paint::columns();
        let has_left_out = are_rows_left_out(groups);
        let heads = ["", "cost", "95 %", "worse", "better", "inconcl.", "same"];
        let left_out = has_left_out.then_some("left out");
        table.add_row(heads.into_iter().chain(left_out));
        for group in groups {
            let name = if group.name.is_empty() {
                "all"
            } else {
                &group.name
            };
            let interval = group_interval(group).unwrap_or_else(|| "none".to_owned());
            let counts = [group.worse, group.better, group.inconclusive, group.same];
            let mut cells = vec![clean(name), group_ratio(group), interval];
            let left_out = has_left_out.then_some(group.left_out);
            cells.extend(
                counts
                    .into_iter()
                    .chain(left_out)
                    .map(|count| count.to_string()),
            );
            table.add_row(cells);
        }
        for (index, column) in table.column_iter_mut().enumerate() {
            column.set_padding((2, 0));
            if index > 0 {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        let lines: Vec<String> = table.lines().collect();
        for (index, line) in lines.iter().enumerate() {
            let style = if index == 0 {
                paint::DIM
            } else {
                anstyle::Style::new()
            };
            let line = self.paint.text(style, line.trim_end());
            self.line(&line);
        }
        self.wrapped(
            "  ",
            &groups_note(comparison, sides(comparison)),
            paint::DIM,
        );
    }

    /// The facts that differ, with their values whole only if verbose.
    fn facts(&mut self, facts: &[&Difference], verbose: bool) {
        if facts.is_empty() {
            return;
        }
        self.section("differs", paint::CARE);
        for fact in facts {
            let name = fact.fact.strip_prefix("machine.").unwrap_or(&fact.fact);
            let sides = [&fact.base, &fact.new].map(|side| clean(value(side)));
            let [base, new] = match verbose {
                true => sides,
                false => shortened(sides, self.width.saturating_sub(INDENT + name.len() + 6)),
            };
            let mut text = format!("{name}: {base} -> {new}");
            if let Some(meaning) = &fact.meaning {
                text.push_str(&format!(" ({meaning})"));
            }
            self.wrapped(&" ".repeat(INDENT), &text, anstyle::Style::new());
        }
    }

    /// One line per row: name, both medians, the change.
    fn rows<'c>(&mut self, comparison: &'c Comparison, rows: &[&'c Row], verbose: bool) {
        let own_notes = own_notes(comparison);
        let numbers: Vec<[String; 3]> = rows
            .iter()
            .map(|row| {
                let mut sentence = change(row);
                if verbose {
                    sentence.push_str(&format!(", margin {}", margin(row)));
                }
                let [base, new] = medians(row);
                [base, new, sentence]
            })
            .collect();
        let widest = |column: usize| {
            let cells = numbers.iter().map(|cells| paint::width(&cells[column]));
            cells.max().unwrap_or(0)
        };
        let taken: usize = (0..3).map(|column| widest(column) + 2).sum();
        // A name too long to fit beside the numbers stands above them: with parameters left out it
        // could be confused with another row's.
        let room = self.width.saturating_sub(taken + INDENT);
        let names: Vec<String> = rows.iter().map(|row| clean(&row.name)).collect();
        let beside = |name: &str| paint::width(name) <= room;
        let mut table = paint::columns();
        for (name, [base, new, sentence]) in names.iter().zip(&numbers) {
            let name = if beside(name) { name } else { "" };
            table.add_row([name, base, new, sentence]);
        }
        for (index, column) in table.column_iter_mut().enumerate() {
            column.set_padding((if index == 0 { INDENT as u16 } else { 2 }, 0));
            if index == 1 || index == 2 {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        let lines: Vec<String> = table.lines().collect();
        for ((row, name), line) in rows.iter().zip(&names).zip(lines) {
            if !beside(name) {
                let name = cut_case(name, &[], self.width - INDENT);
                self.line(&format!("{}{name}", " ".repeat(INDENT)));
            }
            self.line(&line);
            let notes: Vec<&str> = match verbose {
                true => row.notes.iter().map(String::as_str).collect(),
                false if row.verdict < Change::Inconclusive => own_notes(row),
                false => Vec::new(),
            };
            let tail = tail(row).filter(|_| verbose);
            for note in notes.into_iter().chain(tail.as_deref()) {
                self.wrapped(&" ".repeat(2 * INDENT), note, paint::DIM);
            }
        }
    }

    /// Rows that could not be compared: refused ones by name, missing ones counted unless verbose.
    fn uncompared(&mut self, comparison: &Comparison, verbose: bool) {
        let indent = " ".repeat(INDENT);
        if !comparison.refused.is_empty() {
            self.section("not compared", paint::CARE);
            for refused in &comparison.refused {
                self.wrapped(
                    &indent,
                    &format!("{}: {}", refused.name, refused.reason),
                    anstyle::Style::new(),
                );
            }
        }
        let missing = &comparison.missing;
        if verbose && !missing.is_empty() {
            self.section(why_missing(comparison), paint::CARE);
            for missing in missing {
                self.wrapped(
                    &indent,
                    &format!("{}: {}", missing.name, missing.reason),
                    anstyle::Style::new(),
                );
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
            self.wrapped("", &text, paint::DIM);
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

/// The text, with row names too long for a line of this width shortened by the parameters in their
/// middle; wrapping would break them anywhere.
fn fitted(text: &str, width: usize) -> String {
    let fitted = |word: &str| {
        let name = word.trim_end_matches([',', ':', ';']);
        let behind = &word[name.len()..];
        match paint::width(word) > width && name.ends_with('}') {
            true => cut_case(name, &[], width - behind.len()) + behind,
            false => word.to_owned(),
        }
    };
    let words: Vec<String> = text.split(' ').map(fitted).collect();
    words.join(" ")
}
