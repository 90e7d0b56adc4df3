//! The few colours of the terminal output, and how text is cut to a width.

use anstyle::{AnsiColor, Style};
use comfy_table::{ContentArrangement, Table, presets};

/// Headings.
pub(crate) const HEADING: Style = Style::new().bold();
/// Secondary information.
pub(crate) const DIM: Style = Style::new().dimmed();
/// Good news.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// Deserves attention.
pub(crate) const CARE: Style = AnsiColor::Yellow.on_default();
/// Bad news.
pub(crate) const BAD: Style = AnsiColor::Red.on_default();

/// Whether and how to paint text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paint {
    /// Whether to write colours.
    pub(crate) color: bool,
}

impl Paint {
    /// The text in a style, if colours are wanted.
    pub(crate) fn text(self, style: Style, text: &str) -> String {
        if self.color && !text.is_empty() {
            format!("{style}{text}{style:#}")
        } else {
            text.to_owned()
        }
    }
}

/// Width in columns; texts of a run contain no wide characters.
pub(crate) fn width(text: &str) -> usize {
    text.chars().count()
}

/// The text, with its end replaced by an ellipsis if it is wider than `max_width`.
pub(crate) fn cut_end(text: &str, max_width: usize) -> String {
    if width(text) <= max_width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(max_width.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// The text, with its middle replaced by an ellipsis if it is wider than `max_width`: the end of a
/// name distinguishes it from its neighbours.
pub(crate) fn cut_middle(text: &str, max_width: usize) -> String {
    let long = width(text);
    if long <= max_width {
        return text.to_owned();
    }
    let kept = max_width.saturating_sub(1);
    let head: String = text.chars().take(kept / 2).collect();
    let tail: String = text.chars().skip(long - (kept - kept / 2)).collect();
    format!("{head}…{tail}")
}

/// A row's name or case, with whole parameters replaced by ellipses until it is no wider than
/// `max_width`: first those that are `common` to its neighbours, then those in the middle; then the
/// beginning of its id. If that does not suffice, the middle is cut.
pub(crate) fn cut_case(name: &str, common: &[&str], max_width: usize) -> String {
    let (id, case) = match name.split_once('{') {
        Some((id, case)) => (Some(id), case.trim_end_matches('}')),
        None => (None, name),
    };
    let mut parameters: Vec<Option<&str>> = case.split(',').map(Some).collect();
    let shown = |parameters: &[Option<&str>]| {
        let runs = parameters.chunk_by(|a, b| a.is_none() && b.is_none());
        let shown: Vec<&str> = runs.map(|run| run[0].unwrap_or("…")).collect();
        shown.join(",")
    };
    let text = |id: Option<&str>, case: &str| match id {
        Some(id) => format!("{id}{{{case}}}"),
        None => case.to_owned(),
    };
    let fits = |text: &String| width(text) <= max_width;
    let mut found = name.to_owned();
    while !fits(&found) {
        let kept = |index: &usize| parameters[*index].is_some();
        let left: Vec<usize> = (0..parameters.len()).filter(kept).collect();
        if left.len() < 2 {
            let ends = id.into_iter().flat_map(|id| id.match_indices('.'));
            let case = shown(&parameters);
            let mut shorter = ends.map(|(at, _)| text(id.map(|id| &id[at..]), &case));
            let shorter = shorter.find_map(|text| Some(format!("…{text}")).filter(fits));
            return shorter.unwrap_or_else(|| cut_middle(name, max_width));
        }
        let is_common =
            |index: &&usize| parameters[**index].is_some_and(|one| common.contains(&one));
        let next = left.iter().find(is_common).copied();
        parameters[next.unwrap_or(left[(left.len() - 1) / 2])] = None;
        found = text(id, &shown(&parameters));
    }
    found
}

/// The parameters that the case of a name shares with all these names of the same benchmark, if
/// there are several.
pub(crate) fn common_parameters<'a>(name: &'a str, all: &[&str]) -> Vec<&'a str> {
    let Some((id, case)) = name.split_once('{') else {
        return Vec::new();
    };
    let cases: Vec<&str> = all
        .iter()
        .filter_map(|other| other.split_once('{'))
        .filter(|(other, _)| *other == id)
        .map(|(_, case)| case.trim_end_matches('}'))
        .collect();
    let is_in_all = |one: &&str| {
        cases
            .iter()
            .all(|case| case.split(',').any(|other| other == *one))
    };
    let parameters = case.trim_end_matches('}').split(',');
    parameters
        .filter(|_| cases.len() > 1)
        .filter(is_in_all)
        .collect()
}

/// A table whose columns are separated only by their padding, as wide as its cells.
pub(crate) fn columns() -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled);
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_keep_to_the_width() {
        assert_eq!(cut_end("abcdef", 6), "abcdef");
        assert_eq!(cut_end("abc def", 5), "abc…");
        assert_eq!(cut_middle("poll{fds=500}", 9), "poll…500}");
        assert_eq!(cut_middle("µµµµµµ", 3), "µ…µ");
    }

    #[test]
    fn whole_parameters_go_first_those_that_tell_nothing() {
        let case = "op=read,simd=avx512,bytes=24K,threads=1";
        assert_eq!(cut_case(case, &[], 39), case);
        assert_eq!(cut_case(case, &[], 30), "op=read,…,bytes=24K,threads=1");
        assert_eq!(cut_case(case, &[], 20), "op=read,…,threads=1");
        let common = ["op=read", "threads=1"];
        assert_eq!(cut_case(case, &common, 30), "…,simd=avx512,bytes=24K,…");
        assert_eq!(cut_case(case, &[], 12), "…,threads=1");
        assert_eq!(
            cut_case("poll{kind=tcp,fds=100}", &[], 17),
            "poll{…,fds=100}"
        );
        assert_eq!(cut_case("poll{fds=500}", &[], 9), "poll…500}");
        assert_eq!(
            cut_case("net.tcp.poll{fds=500}", &[], 20),
            "….tcp.poll{fds=500}"
        );
        assert_eq!(
            cut_case("net.tcp.poll{fds=500,a=b}", &["a=b"], 20),
            "….poll{fds=500,…}"
        );
        assert_eq!(cut_case("a.b", &[], 20), "a.b");
    }

    #[test]
    fn what_names_share_tells_nothing() {
        let all = ["m{op=r,size=1K}", "m{op=r,size=2K}", "n{op=r}", "o"];
        assert_eq!(common_parameters(all[0], &all), ["op=r"]);
        assert_eq!(common_parameters(all[2], &all), [""; 0], "the only one");
        assert_eq!(common_parameters(all[3], &all), [""; 0]);
    }

    #[test]
    fn paints_only_when_asked() {
        assert_eq!(Paint { color: false }.text(BAD, "x"), "x");
        assert_eq!(Paint { color: true }.text(BAD, "x"), "\u{1b}[31mx\u{1b}[0m");
    }
}
