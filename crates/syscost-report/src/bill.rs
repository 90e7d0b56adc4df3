//! What a program asks of the kernel and what that costs, and how two such counts differ.

use maud::{Markup, html};
use syscost_results::bill::{
    Account, Bill, Difference, DifferentPart, ENTRY, PAGE_FAULT, PriceList, Range, SWITCH, Sum,
    Use, differences,
};
use syscost_results::{Measurement, Run, Status, Unit};

use crate::TableOptions;
use crate::commands::readable;
use crate::document::{
    Block, Column, Look, Row, Table, Text, html as written, markdown as marked, terminal,
};
use crate::html::frame;
use crate::sentence;
use crate::tone::Tone;
use crate::units::quantity;

/// Number of accounts that are shown where not all are wanted: those below the twentieth are hardly ever a percent.
const MOST_SHOWN: usize = 20;

/// Number of kinds of one account that are named below it.
const MOST_KINDS: usize = 4;

/// The least part of all that is worth a word as a cause, as a share.
const LEAST_CAUSE: f64 = 0.01;

/// Number of differences that are named of each sum.
const MOST_DIFFERENT: usize = 12;

/// A run's bill, and what it is to be seen beside.
#[derive(Debug, Clone, Copy)]
pub struct Billed<'r> {
    /// The run.
    pub run: &'r Run,
    /// An earlier run, with whose counts its own are compared.
    pub earlier: Option<&'r Run>,
    /// A run of another machine, by which it is priced, too.
    pub other: Option<&'r Run>,
    /// Whether every kind is shown.
    pub is_verbose: bool,
}

impl<'r> Billed<'r> {
    /// Beside nothing.
    pub fn of(run: &'r Run) -> Self {
        Billed {
            run,
            earlier: None,
            other: None,
            is_verbose: false,
        }
    }

    /// For a terminal.
    pub fn text(&self, options: &TableOptions) -> String {
        terminal(&self.blocks(), options)
    }

    /// As Markdown.
    pub fn markdown(&self) -> String {
        marked(&self.blocks(), None)
    }

    /// As a page, with a bar for each kind.
    pub fn page(&self) -> String {
        let command = self.run.bill.as_ref().map_or("", |bill| &bill.command);
        let title = format!("What {} asks of the kernel", readable(command));
        let below = html! { p { (sentence::machine(self.run)) } };
        let sections = html! { section id="bill" { (written(&self.blocks())) } };
        frame(
            &title,
            &below,
            &[("bill", "bill")],
            &sections,
            &self.run.tool.version,
        )
    }

    /// For any medium: how the counts differ, what each kind costs, and what it would there.
    pub fn blocks(&self) -> Vec<Block> {
        let Some(bill) = self.run.bill.as_deref() else {
            return vec![Block::paragraph(
                "this run has no bill: syscost bill COMMAND",
            )];
        };
        let mut blocks = vec![Block::Paragraph(heading(bill))];
        for refuted in &bill.refuted {
            let words = Text::of(Look::Tag, "refuted").with(Look::Plain, refuted);
            blocks.push(Block::Paragraph(words.tone(Tone::Bad)));
        }
        if let Some(before) = self.earlier.and_then(|run| run.bill.as_deref()) {
            let sums = differences(before, bill);
            blocks.extend(sums.iter().map(|one| Block::Paragraph(sum(one))));
        }
        let prices = PriceList::of(self.run);
        let column = bill.column(&prices);
        let accounts = bill.accounts(&prices, column);
        let shown = if self.is_verbose {
            accounts.len()
        } else {
            MOST_SHOWN
        };
        let listed = &accounts[..shown.min(accounts.len())];
        blocks.push(Block::Table(table(bill, listed)));
        blocks.extend(notes(bill, &accounts, shown, &prices, column));
        blocks.extend(unmeasured(self.run));
        blocks.extend(
            self.other
                .into_iter()
                .flat_map(|other| beside(bill, &prices, other, column)),
        );
        blocks
    }
}

/// How many prices are missing, and why the first is.
fn unmeasured(run: &Run) -> Option<Block> {
    let missing: Vec<&Measurement> = run
        .measurements
        .iter()
        .filter(|row| row.status != Status::Ok)
        .collect();
    let first = missing.first()?;
    let words = format!(
        "{} of {} prices were not measured: {}",
        missing.len(),
        run.measurements.len(),
        sentence::no_number(first)
    );
    Some(Block::note(words))
}

/// The program, its time, and its counts in a sentence.
fn heading(bill: &Bill) -> Text {
    let name = readable(&bill.command);
    let times = bill.cpu().map_or_else(String::new, |ns| {
        format!(" {} of CPU time,", quantity(Unit::Nanoseconds, ns))
    });
    let sum = |is_part: fn(&Use) -> bool| {
        let parts: Vec<&Use> = bill.uses.iter().filter(|one| is_part(one)).collect();
        let runs = parts.iter().map(|one| one.counts.len()).max().unwrap_or(0);
        let counts = (0..runs).map(|run| parts.iter().filter_map(|one| one.counts.get(run)).sum());
        let counts: Vec<u64> = counts.collect();
        Range {
            low: counts.iter().copied().min().unwrap_or(0),
            high: counts.iter().copied().max().unwrap_or(0),
        }
    };
    let calls = sum(|one| one.name != PAGE_FAULT && one.name != SWITCH);
    let faults = sum(|one| one.name == PAGE_FAULT);
    Text::of(Look::Tag, name).with(
        Look::Plain,
        format!(
            "{times} {} system calls, {} page faults in a run",
            range(calls),
            range(faults)
        ),
    )
}

/// A line for each kind.
fn table(bill: &Bill, accounts: &[Account<'_>]) -> Table {
    let is_sampled = bill.sampled.is_some();
    let most = accounts
        .iter()
        .map(|one| one.weight_ns())
        .fold(0.0, f64::max);
    let mut columns = vec![
        Column::right("times"),
        Column::right("each"),
        Column::right("priced"),
    ];
    if is_sampled {
        columns.push(Column::right("measured"));
    }
    columns.push(Column::left("share of the CPU time").rank(1));
    let cpu = bill.cpu().unwrap_or(0.0);
    let row = |one: &Account<'_>| {
        let time =
            |ns: Option<f64>| ns.map_or_else(String::new, |ns| quantity(Unit::Nanoseconds, ns));
        let least = if one.is_lower_bound && one.priced_ns.is_some() {
            "≥ "
        } else {
            ""
        };
        let mean = one.uses.iter().map(|(one, _)| one.mean()).sum::<f64>();
        let each = one.priced_ns.filter(|_| mean > 0.0).map(|ns| ns / mean);
        let weight = one.sampled_ns.or(one.priced_ns).unwrap_or(0.0);
        let mut cells: Vec<Text> = vec![
            range(one.range).into(),
            format!("{least}{}", time(each)).into(),
            format!("{least}{}", time(one.priced_ns)).into(),
        ];
        if is_sampled {
            cells.push(time(one.sampled_ns).into());
        }
        cells.push(match cpu > 0.0 && weight > 0.0 {
            true => Text::drawn(
                format!("{:4.1} %", 100.0 * weight / cpu),
                bar(weight / most, weight / cpu),
            ),
            false => Text::default(),
        });
        let mut row = Row::new(Text::of(Look::Code, one.name), cells);
        row.notes
            .extend(kinds(one).map(|words| Text::from(words).tone(Tone::Quiet)));
        row
    };
    Table {
        class: "bill",
        caption: "What the program asks of the kernel".to_owned(),
        names: "asked for".into(),
        columns,
        rows: accounts.iter().map(row).collect(),
    }
}

/// A bar of this length, 0 to 1, and the share that it stands for.
fn bar(length: f64, share: f64) -> Markup {
    let width = format!("{:.1}", 120.0 * length.clamp(0.0, 1.0));
    html! {
        svg class="sparkline" viewBox="0 0 160 16" role="img" aria-label={ (format!("{:.1} %", 100.0 * share)) } {
            rect x="0" y="3" width=(width) height="10" class="bar s0" {}
            text x=(format!("{:.1}", 124.0 * length.clamp(0.0, 1.0) + 3.0)) y="13" { (format!("{:.1} %", 100.0 * share)) }
        }
    }
}

/// The kinds of an account that has several.
fn kinds(account: &Account<'_>) -> Option<String> {
    let mut by_words: Vec<(String, f64, Option<f64>)> = Vec::new();
    for (one, costs) in &account.uses {
        let words = match one.words().strip_prefix(&one.name).map(str::trim) {
            Some("") | None => "others".to_owned(),
            Some(words) => words.trim_start_matches(": ").to_owned(),
        };
        match by_words.iter_mut().find(|(known, ..)| *known == words) {
            Some((_, number, sum)) => {
                *number += one.mean();
                *sum = sum.zip(*costs).map(|(sum, costs)| sum + costs);
            }
            None => by_words.push((words, one.mean(), *costs)),
        }
    }
    let named: Vec<String> = by_words
        .iter()
        .map(
            |(words, number, costs)| match costs.filter(|_| *number > 0.0) {
                Some(costs) => format!(
                    "{words} {number:.0} at {}",
                    quantity(Unit::Nanoseconds, costs / number)
                ),
                None => format!("{words} {number:.0}"),
            },
        )
        .collect();
    (by_words.len() > 1).then(|| sentence::listed(&named, MOST_KINDS))
}

/// What is explained, and by which prices.
fn notes(
    bill: &Bill,
    accounts: &[Account<'_>],
    shown: usize,
    prices: &PriceList,
    column: u64,
) -> Vec<Block> {
    let mut notes = Vec::new();
    let cpu = bill.cpu().unwrap_or(0.0);
    let columns = prices.columns();
    let percent = |part: f64, of: f64| format!("{:.0} %", 100.0 * part / of.max(1.0));
    let time = |ns: f64| quantity(Unit::Nanoseconds, ns);
    if accounts.len() > shown {
        let left = accounts.len() - shown;
        notes.push(Block::note(format!(
            "{} cost less (-v)",
            sentence::count(left, "other kind")
        )));
    }
    if !columns.is_empty() {
        let total = prices.total(bill, column);
        let said = match &bill.sampled {
            Some(sampled) => {
                let kernel = (1.0 - sampled.user) * cpu;
                format!(
                    "priced: {} of {} in the kernel, {}; {} in the program itself",
                    time(total),
                    time(kernel),
                    percent(total, kernel),
                    time(cpu - kernel)
                )
            }
            None => format!(
                "priced: {} of {} of CPU time, {}",
                time(total),
                time(cpu),
                percent(total, cpu)
            ),
        };
        let ends = [columns.first(), columns.last()]
            .map(|end| end.map_or(0.0, |end| prices.total(bill, *end)));
        let between = bill
            .between_entries_ns(prices)
            .map_or_else(String::new, |ns| {
                format!(": it works for {} between two entries", time(ns))
            });
        notes.push(Block::paragraph(said));
        notes.push(Block::note(format!(
            "each operation at the price that it has here after {} of other data were read{between}; {} with none, {} with {}",
            size(column),
            time(ends[0]),
            time(ends[1]),
            columns.last().map_or_else(String::new, |end| size(*end))
        )));
    }
    if let Some(sampled) = &bill.sampled {
        notes.extend(unexplained(&rest(bill, accounts), cpu));
        notes.push(Block::note(format!(
            "measured by {} samples of another run, which took {} of CPU time",
            sampled.samples,
            time(sampled.cpu_ns)
        )));
    }
    let is_bound = |one: &&Account<'_>| {
        let mut uses = one.uses.iter();
        uses.any(|(one, costs)| one.is_lower_bound && costs.is_some())
    };
    let bounds: Vec<&str> = accounts
        .iter()
        .filter(is_bound)
        .map(|one| one.name)
        .collect();
    if !bounds.is_empty() {
        notes.push(Block::note(format!(
            "no row is of all of {}: in part at the price of what does less, a lower bound (≥)",
            sentence::listed(&bounds, MOST_DIFFERENT)
        )));
    }
    notes.extend(bill.unknown.iter().map(Block::note));
    notes
}

/// What samples find in the kernel that no price stands for.
struct Rest<'b> {
    name: &'b str,
    ns: f64,
    /// The kernel's functions in which it is spent.
    functions: &'b [(String, f64)],
}

/// What no price explains, the largest first.
fn rest<'b>(bill: &'b Bill, accounts: &[Account<'_>]) -> Vec<Rest<'b>> {
    let cpu = bill.cpu().unwrap_or(0.0);
    let kinds = bill.sampled.iter().flat_map(|sampled| &sampled.kernel);
    let kinds = kinds.filter(|(name, _)| *name != ENTRY);
    let mut rest: Vec<Rest<'_>> = kinds
        .map(|(name, kind)| {
            let account = accounts.iter().find(|one| one.name == name);
            let sampled = account.and_then(|one| one.sampled_ns);
            let priced = account.and_then(|one| one.priced_ns);
            Rest {
                name,
                ns: sampled.unwrap_or(kind.share * cpu) - priced.unwrap_or(0.0),
                functions: &kind.functions,
            }
        })
        .collect();
    rest.sort_by(|one, other| other.ns.total_cmp(&one.ns));
    rest
}

/// The largest of what no price explains, with functions of the kernel.
fn unexplained(rest: &[Rest<'_>], cpu: f64) -> Option<Block> {
    /// Number of kinds that are named, and of functions of each.
    const MOST: usize = 3;
    /// The least share of the CPU time that is worth a word.
    const LEAST: f64 = 0.01;
    let large = rest.iter().filter(|one| one.ns > LEAST * cpu).take(MOST);
    let named = large.map(|one| {
        let functions = one.functions.iter().take(MOST);
        let functions: Vec<&str> = functions.map(|(name, _)| &**name).collect();
        let time = quantity(Unit::Nanoseconds, one.ns);
        format!("{} {time} ({})", one.name, functions.join(", "))
    });
    let named: Vec<String> = named.collect();
    (!named.is_empty()).then(|| Block::note(format!("not explained: {}", named.join("; "))))
}

/// A number of bytes, as rows have it.
fn size(bytes: u64) -> String {
    match bytes {
        0 => "none".to_owned(),
        bytes if bytes >= 1 << 20 => format!("{} MiB", bytes >> 20),
        bytes => format!("{} KiB", bytes >> 10),
    }
}

fn range(range: Range) -> String {
    match range.is_exact() {
        true => grouped(range.low),
        false => format!("{} to {}", grouped(range.low), grouped(range.high)),
    }
}

/// `34,303`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .filter_map(|group| str::from_utf8(group).ok())
        .collect();
    groups.join(",")
}

/// The same counts at the prices of another run's machine: a range, and what matters most.
fn beside(bill: &Bill, prices: &PriceList, other: &Run, column: u64) -> Vec<Block> {
    let there = PriceList::of(other);
    if there.columns().is_empty() {
        let words = format!(
            "no prices of {}: run `syscost run bill` there",
            sentence::machine(other)
        );
        return vec![Block::Paragraph(Text::from(words).tone(Tone::Care))];
    }
    let mut here_ns = 0.0;
    let mut lines: Vec<(String, f64, f64)> = Vec::new();
    let mut refused: Vec<String> = Vec::new();
    for one in &bill.uses {
        let both = prices.price(one, column).zip(there.price(one, column));
        let Some((here, there)) = both else {
            continue;
        };
        if one.priced_by.iter().any(|by| by.is_of_files) {
            refused.push(one.name.clone());
            continue;
        }
        here_ns += here * one.mean();
        match lines.iter_mut().find(|(name, ..)| *name == one.name) {
            Some((_, sum_here, sum_there)) => {
                *sum_here += here * one.mean();
                *sum_there += there * one.mean();
            }
            None => lines.push((one.name.clone(), here * one.mean(), there * one.mean())),
        }
    }
    let time = |ns: f64| quantity(Unit::Nanoseconds, ns);
    let there_in = |column: u64| -> f64 {
        let uses = bill
            .uses
            .iter()
            .filter(|one| one.priced_by.iter().all(|by| !by.is_of_files));
        uses.filter_map(|one| Some(there.price(one, column)? * one.mean()))
            .sum()
    };
    let columns = there.columns();
    let ends = [columns.first(), columns.last()].map(|end| end.map_or(0.0, |end| there_in(*end)));
    lines.sort_by(|one, other| (other.2 - other.1).abs().total_cmp(&(one.2 - one.1).abs()));
    let causes: Vec<String> = lines
        .iter()
        .filter(|(_, here, there)| (there - here).abs() > LEAST_CAUSE * here_ns)
        .map(|(name, here, there)| format!("{name} {} instead of {}", time(*there), time(*here)))
        .collect();
    let mut blocks = vec![Block::paragraph(format!(
        "on {}: {} to {} instead of {} for the same",
        sentence::machine(other),
        time(ends[0]),
        time(ends[1]),
        time(here_ns)
    ))];
    if !causes.is_empty() {
        blocks.push(Block::paragraph(format!(
            "most of that: {}",
            sentence::listed(&causes, MOST_DIFFERENT)
        )));
    }
    refused.dedup();
    if !refused.is_empty() {
        blocks.push(Block::note(format!(
            "not said of {}: what that costs depends on the file system and what is in it",
            sentence::listed(&refused, MOST_DIFFERENT)
        )));
    }
    blocks
}

/// `+12.1 % calls: readlink +985 (new)`.
fn sum(one: &Difference) -> Text {
    let name = one.of.name();
    let [before, after] = one.totals;
    if one.parts.is_empty() {
        let unsure = if before.is_exact() && after.is_exact() {
            ""
        } else {
            "; they vary from run to run"
        };
        return Text::from(format!("{name}: as before, {}{unsure}", range(after)));
    }
    let growth = match before.low {
        0 => "all new".to_owned(),
        _ => format!("{:+.1} %", 100.0 * (mid(after) / mid(before) - 1.0)),
    };
    let parts: Vec<String> = one
        .parts
        .iter()
        .map(|part| different(part, one.of))
        .collect();
    Text::of(Look::Tag, format!("{growth} {name}"))
        .with(
            Look::Plain,
            format!(
                "{} ({} to {})",
                sentence::listed(&parts, MOST_DIFFERENT),
                range(before),
                range(after)
            ),
        )
        .tone(if mid(after) > mid(before) {
            Tone::Bad
        } else {
            Tone::Good
        })
}

fn mid(range: Range) -> f64 {
    (range.low + range.high) as f64 / 2.0
}

fn different(part: &DifferentPart, of: Sum) -> String {
    let grew = part.grew();
    let sign = if grew < 0 { '-' } else { '+' };
    let number = match of {
        Sum::Bytes => quantity(Unit::Bytes, grew.unsigned_abs() as f64),
        Sum::Calls | Sum::Faults => grouped(grew.unsigned_abs()),
    };
    let remark = match part.ranges {
        [None, Some(_)] => " (new)",
        [Some(_), None] => " (gone)",
        _ => "",
    };
    format!("{} {sign}{number}{remark}", part.name)
}
