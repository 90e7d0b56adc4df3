//! A page is readable on any screen, and says whose numbers it shows.

use super::{RUN, browser, report};
use crate::common::{Json, Program, or_skip, recorded};

/// The fixture under another id, with this row's interval twice as far from its median.
fn other_run(program: &Program, name: &str) -> String {
    let mut run = recorded();
    run["id"] = "another".into();
    let rows = run["measurements"].list_mut();
    let row = rows.iter_mut().find(|row| row["name"] == name).expect("it");
    let estimate = &mut row["estimate"];
    let median = estimate["median"].number();
    for (end, factor) in [("ci95_low", 0.5), ("ci95_high", 1.5)] {
        estimate[end] = (factor * median).into();
    }
    program.put("other.json", run.to_string())
}

/// Documents of this many runs, alike but for their ids and hosts.
pub(super) fn copies(program: &Program, count: usize) -> Vec<String> {
    let copy = |index: usize| {
        let mut run = recorded();
        run["id"] = format!("copy-{index}").into();
        run["machine"]["hostname"] = format!("host-{index}").into();
        program.put(&format!("copy-{index}.json"), run.to_string())
    };
    (0..count).map(copy).collect()
}

/// The kept run of a study with many machines, measured now.
fn study(program: &Program) -> String {
    let study = "study run three-costs --profile quick --budget 8";
    let code = program.run(study).code;
    // 5 where the machine is too busy for all of its published figures.
    assert!(matches!(code, Some(0 | 5)), "{code:?}");
    "latest".to_owned()
}

/// What is wider than the screen, than the box or than the cell that it is in, with every part of
/// the page opened and the longest verdict on each quantity. The links of the toolbar may scroll.
const BEYOND: &str = "(() => { document.querySelectorAll('details').forEach(part => { part.open = true; });\
    document.querySelectorAll('table.study .tag').forEach(tag => { tag.textContent = 'methods cannot be told apart'; });\
    const right = element => element.getBoundingClientRect().right;\
    const cut = element => right(element) > innerWidth + 1\
        || (element.closest('table.study') && right(element) > right(element.closest('td, th, table')) + 1)\
        || (/auto|scroll/.test(getComputedStyle(element).overflowX) && element.scrollWidth > element.clientWidth + 1);\
    const seen = [...document.querySelectorAll('body *')].filter(element => element.checkVisibility()\
        && !element.closest('.toolbar nav, .spoken, .skip, svg'));\
    const over = document.documentElement.scrollWidth > innerWidth ? ['the page'] : [];\
    return [...over, ...seen.filter(cut).map(element => element.tagName + ': ' + element.textContent.slice(0, 60))]; })()";

#[test]
#[ignore = "machine suite"]
fn nothing_stands_beyond_the_screen() {
    let mut browser = or_skip!(browser());
    let program = Program::new();
    let all = copies(&program, 6);
    let compared = program.folder().join("compared.html").display().to_string();
    let pages = [
        format!("report {} -o -", all[0]),
        format!("report {} -o -", all[..2].join(" ")),
        format!("report {} -o -", all[..4].join(" ")),
        format!(
            "compare {} {} --base {} --format html",
            all[0], all[1], all[2]
        ),
        format!(
            "compare {} {} --base {} --format html",
            all[0],
            all[1..5].join(" "),
            all[5]
        ),
        format!("report {} -o -", study(&program)),
    ];
    for page in pages {
        let written = program.run(&page).succeeded().out;
        std::fs::write(&compared, written).expect("the page is written");
        for width in [320, 400, 800, 1232, 1400, 1920] {
            browser.open(&compared, width, "light");
            let beyond: Vec<String> =
                serde_json::from_value(browser.evaluate(BEYOND)).expect("texts");
            assert!(beyond.is_empty(), "{page} at {width}: {beyond:?}");
        }
    }
}

#[test]
fn the_whole_row_opens() {
    let mut browser = or_skip!(browser());
    let program = Program::new();
    browser.open(&report(&program, RUN), 1400, "light");
    let script = "(() => { document.querySelectorAll('.group > details').forEach(group => { group.open = true; });\
        const row = document.querySelector('table.rows > tbody'); const states = [];\
        for (const cell of [row.rows[0].cells[1], row.rows[0].cells[0], row.querySelector('.more')]) {\
            cell.click(); states.push(row.querySelector('.more').ariaExpanded); }\
        return states; })()";
    let states: Vec<String> = serde_json::from_value(browser.evaluate(script)).expect("states");
    assert_eq!(states, ["true", "false", "true"]);
}

#[test]
fn a_run_is_shown_once() {
    let program = Program::new();
    program
        .run(&format!("report {RUN} {RUN} -o x.html"))
        .says(2, "is given twice; give each run once");
}

#[test]
fn details_tell_the_interval_of_the_run_whose_statistics_they_tell() {
    let mut browser = or_skip!(browser());
    let program = Program::new();
    let name = "syscall.null{call=getppid}";
    let other = other_run(&program, name);
    let file = report(&program, &format!("{RUN} {other}"));
    browser.open(&file, 1400, "light");
    let script = format!(
        "(() => {{ const row = document.getElementById('row-{name}'); row.querySelector('.more').click();\
         return [row.rows[1].textContent, ...[...row.querySelectorAll('.ci')].map(mark => mark.title)]; }})()"
    );
    let texts: Vec<String> = serde_json::from_value(browser.evaluate(&script)).expect("texts");
    assert_ne!(texts[1], texts[2]);
    assert!(
        texts[0].contains(&format!("95 % interval {}", texts[2])),
        "{texts:?}"
    );
    assert!(texts[0].contains("margin of a change"), "{texts:?}");
}

#[test]
fn the_filter_shows_what_it_finds_and_nothing_else() {
    let mut browser = or_skip!(browser());
    let program = Program::new();
    let file = report(&program, RUN);
    browser.open(&file, 1400, "light");
    let mut find = |words: &str| -> (Vec<String>, String, String) {
        browser.evaluate(&format!(
            "filter.value = '{words}'; filter.dispatchEvent(new Event('input', {{bubbles: true}}))"
        ));
        let found = "[[...document.querySelectorAll('table.rows > tbody')].filter(body => body.offsetHeight).map(body => body.id),\
            document.getElementById('count').textContent,\
            [...document.getElementById('content').children].find(part => part.offsetHeight)?.textContent ?? '']";
        serde_json::from_value(browser.evaluate(found)).expect("rows and texts")
    };
    let (rows, _, first) = find("getppid");
    assert!(
        !rows.is_empty() && rows.iter().all(|row| row.contains("getppid")),
        "{rows:?}"
    );
    assert!(
        first.starts_with("syscall"),
        "the first thing beneath the filter: {first}"
    );
    // `fault` must not match part of `default`, or of any other word.
    let (rows, _, _) = find("protection fault");
    assert!(rows.iter().all(|row| row.contains("fault")), "{rows:?}");
    let (rows, count, first) = find("no such thing");
    assert!(rows.is_empty());
    assert_eq!(count, "no row matches");
    assert!(first.starts_with("No row matches"), "{first}");
    assert_eq!(browser.complaints, [""; 0]);
}
