//! The report of studies as a page to hand in.

use maud::html;
use syscost_results::Run;

use super::Repeated;
use crate::document::{self, Block};
use crate::html::{frame, runs::subtitle};

/// The report of studies that these runs repeat: machines, results, charts, questions.
pub fn lab_report(studies: &[Repeated], runs: &[&Run]) -> String {
    let below = html! {
        p class="blanks" { span { "Name:" } span { "Date:" } }
        (subtitle(runs, None))
    };
    let blocks = super::report(studies, runs);
    let links = blocks.iter().filter_map(|block| match block {
        Block::Heading { id, .. } if !id.is_empty() => {
            Some((id.as_str(), id.trim_start_matches("study-")))
        }
        _ => None,
    });
    frame(
        &super::title(studies),
        &below,
        &links.collect::<Vec<_>>(),
        &document::html(&blocks),
        runs.last().map_or("", |run| &run.tool.version),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expect::has;
    use crate::study::section;
    use crate::study::tests::{hand_made, on_two_machines, run};

    #[test]
    fn several_machines_are_columns_and_bars() {
        let [slow, fast] = on_two_machines();
        let runs = [&slow, &fast];
        let page =
            document::html(&section(&[Repeated::new(&hand_made(), &runs)], &runs)).into_string();
        for expected in [
            "<th scope=\"col\">old</th>",
            "<th scope=\"col\">alpha</th>",
            "<th scope=\"col\">beta</th>",
            "<td data-head=\"beta\"><span class=\"figure\">1.6 ns</span>",
            "the verdicts in full",
            "logarithmic axis",
        ] {
            assert!(page.contains(expected), "{expected}: {page}");
        }
        let chart = page.split("<figcaption>Calls across the machines").nth(1);
        let chart = chart.and_then(|rest| rest.split("</figure>").next());
        let chart = chart.expect("it is drawn");
        has(chart, &[">alpha</text>", ">beta</text>"]);
        assert!(!chart.contains(">syscost</text>"), "{chart}");
    }

    #[test]
    fn the_page_says_what_the_terminal_says() {
        let mut run = run();
        run.measurements
            .retain(|row| !row.name.starts_with("syscall.null"));
        let page = document::html(&section(&[Repeated::new(&hand_made(), &[&run])], &[&run]))
            .into_string();
        for expected in [
            "<figcaption>Calls across the machines</figcaption>",
            "<figcaption>How long a call took</figcaption>",
            "old: An old machine, 2 GHz",
            "time by the stated clock",
            ">not part of this run</span>",
            "ticks of a time-stamp counter",
            "8 ticks",
            "<a href=\"#study-hand-made-getpid\">getpid()</a>",
            "<span class=\"tag bad\">not what it says</span>",
            "<code>study.<wbr>hand_made.<wbr>getpid</code>",
            "(see: getpid)",
            "runs 39, 40, 44",
            "✓ 1 of 1 claims",
            "<th scope=\"col\">older</th>",
            "<p class=\"note\">One at a time, less the clock.</p>",
            "class=\"name end\">here</text>",
        ] {
            assert!(page.contains(expected), "{expected}: {page}");
        }
    }
}
