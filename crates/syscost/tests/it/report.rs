//! `syscost report` on a real run, looked at by a real browser.

mod charts;
mod reading;

use crate::common::browser::Browser;
use crate::common::{Json, Program, RUN, or_skip, recorded};
use crate::readers::missing;

/// Writes the page of these runs and returns its path.
fn report(program: &Program, arguments: &str) -> String {
    let file = program.folder().join("r.html").display().to_string();
    let report = format!("report {arguments} -o {file}");
    let output = program.run(&report).succeeded();
    assert!(output.out.is_empty(), "standard output is for documents");
    file
}

#[test]
fn the_page_explains_its_benchmarks() {
    let program = Program::new();
    let page = std::fs::read_to_string(report(&program, RUN)).expect("the page");
    assert!(page.starts_with("<!DOCTYPE html>"));
    for text in [
        "The cheapest system calls",
        "Does not measure",
        "Numbers every programmer should know",
    ] {
        assert!(page.contains(text), "not found: {text}");
    }
    assert!(page.len() < 400_000, "the page has {} bytes", page.len());
}

/// A browser; an error if there is none. CI requires one.
fn browser() -> Result<Browser, String> {
    Browser::start().ok_or_else(|| missing("chromium"))
}

#[test]
fn a_page_of_a_comparison_is_as_silent_and_filters() {
    let mut browser = or_skip!(browser());
    let program = Program::new();
    let file = program.folder().join("c.html").display().to_string();
    let mut run = recorded();
    run["id"] = "another".into();
    let other = program.put("other.json", run.to_string());
    let compared = program.run(&format!("compare {RUN} {other} --format html"));
    std::fs::write(&file, compared.succeeded().out).expect("the page is written");
    for (width, scheme) in [(1400, "light"), (400, "dark")] {
        browser.open(&file, width, scheme);
        let over = browser.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth",
        );
        assert_eq!(over, 0, "the page scrolls sideways at {width}");
        browser.evaluate(
            "filter.value = 'getppid'; filter.dispatchEvent(new Event('input', {bubbles: true}));",
        );
        let shown = "[...document.querySelectorAll('table.rows > tbody')].filter(body => body.offsetHeight)\
            .every(body => body.id.includes('getppid'))";
        assert_eq!(browser.evaluate(shown), true);
    }
    assert_eq!(browser.complaints, [""; 0]);
}

#[test]
fn rows_over_time_come_from_the_kept_runs() {
    let program = Program::new();
    for number in 0..3 {
        let mut run = recorded();
        run["id"] = format!("2026010{}T000000Z-00000{number}", number + 1).into();
        program.keep(&run);
    }
    let file = report(&program, "latest --history");
    let page = std::fs::read_to_string(file).expect("the page");
    assert!(page.contains("id=\"history\""));
    assert!(page.contains("0 of "), "no level changed");
    assert!(
        !std::fs::read_to_string(report(&program, "latest"))
            .expect("the page")
            .contains("id=\"history\"")
    );
}

#[test]
fn a_browser_finds_no_error_no_request_and_working_controls() {
    let mut browser = or_skip!(browser());
    let program = Program::new();
    let all = reading::copies(&program, 6);
    for runs in [&all[..1], &all[..2], &all] {
        let file = report(&program, &runs.join(" "));
        for (width, scheme) in [(1400, "light"), (400, "dark")] {
            browser.open(&file, width, scheme);
            let over = browser.evaluate(
                "document.documentElement.scrollWidth - document.documentElement.clientWidth",
            );
            assert_eq!(over, 0, "the page scrolls sideways at {width}");
            // Bars are meant to be compared, so each row gives them the same width.
            let widths = browser.evaluate(
                "new Set([...document.querySelectorAll('.headline tbody .wide')].map(bar => Math.round(bar.offsetWidth))).size",
            );
            assert_eq!(widths, 1, "bars on different scales at {width}");
            controls(&mut browser);
        }
    }
    assert_eq!(
        browser.complaints, [""; 0],
        "the page must be silent and alone"
    );
}

#[test]
fn links_lead_to_rows_and_unfold_them() {
    let mut browser = or_skip!(browser());
    let program = Program::new();
    let file = report(&program, RUN);
    browser.open(&file, 1400, "light");
    let links =
        "[...document.querySelectorAll('a[href^=\"#\"]')].map(link => link.getAttribute('href'))";
    let links: Vec<String> = serde_json::from_value(browser.evaluate(links)).expect("links");
    assert!(
        links.iter().any(|link| link.starts_with("#row-")),
        "{links:?}"
    );
    for link in links {
        // Even if the filter hides the link's target.
        browser
            .evaluate("filter.value = 'nothing at all'; filter.dispatchEvent(new Event('input'))");
        let arrive = format!(
            "new Promise(done => {{ location.hash = ''; location.hash = {link:?}; setTimeout(done, 100); }})"
        );
        browser.evaluate(&arrive);
        let seen = "(() => { const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));\
            const box = target.getBoundingClientRect();\
            return box.height > 0 && box.bottom > 0 && box.top < innerHeight; })()";
        assert_eq!(browser.evaluate(seen), true, "{link} is not on the screen");
    }
    let row = "(() => { location.hash = '#row-syscall.null{call=getppid}'; })()";
    browser.evaluate(row);
    let unfolded = "new Promise(done => setTimeout(() => done(!document.getElementById('row-syscall.null{call=getppid}')\
        .rows[1]?.hidden), 100))";
    assert_eq!(browser.evaluate(unfolded), true, "its evidence is unfolded");
    assert_eq!(browser.complaints, [""; 0]);
}

#[test]
fn a_long_page_opens_the_group_a_link_leads_to() {
    let mut browser = or_skip!(browser());
    let program = Program::new();
    let mut run = recorded();
    let rows = run["measurements"].list_mut();
    for (index, mut row) in rows.clone().into_iter().enumerate().cycle().take(250) {
        let name = row["name"].text().to_owned();
        let more = format!("{{more={},", rows.len() + index);
        row["name"] = match name.contains('{') {
            true => name.replacen('{', &more, 1),
            false => format!("{name}{}}}", more.trim_end_matches(',')),
        }
        .into();
        row["case"]["more"] = (rows.len() + index).to_string().into();
        rows.push(row);
    }
    let file = report(&program, &program.put("long.json", run.to_string()));
    browser.open(&file, 1400, "light");
    let open =
        "[...document.querySelectorAll('.group > details')].filter(group => group.open).length";
    assert_eq!(
        browser.evaluate(open),
        0,
        "nothing is laid out before it is wanted"
    );
    for target in [
        "group-syscall",
        "charts-syscall",
        "row-syscall.null{call=getppid}",
        "about-syscall.null",
    ] {
        let arrive = format!(
            "new Promise(done => {{ location.hash = {target:?}; setTimeout(done, 200); }})"
        );
        browser.evaluate(&arrive);
        let place = format!(
            "(() => {{ const box = document.getElementById({target:?}).getBoundingClientRect();\
             return box.height > 0 && box.top >= 0 && box.top < innerHeight; }})()"
        );
        assert_eq!(
            browser.evaluate(&place),
            true,
            "{target} is not on the screen"
        );
    }
    // The filter opens the rows that it finds.
    browser.evaluate(
        "filter.value = 'signal.'; filter.dispatchEvent(new Event('input', {bubbles: true}))",
    );
    let seen =
        "[...document.querySelectorAll('#group-signal tbody')].some(body => body.offsetHeight)";
    assert_eq!(browser.evaluate(seen), true);
    assert_eq!(browser.complaints, [""; 0]);
}

#[test]
fn pictures_can_be_read_on_a_narrow_screen() {
    let mut browser = or_skip!(browser());
    let program = Program::new();
    let file = report(&program, &format!("{RUN} --samples"));
    for width in [400, 700, 1400] {
        browser.open(&file, width, "light");
        // Font sizes as rendered, in pixels; a chart that is not laid out yet has no size.
        let smallest = "Math.min(...[...document.querySelectorAll('.chart')].flatMap(chart => {\
            chart.scrollIntoView();\
            const scale = chart.getBoundingClientRect().width / chart.viewBox.baseVal.width;\
            return [...chart.querySelectorAll('text')].map(text => scale * parseFloat(getComputedStyle(text).fontSize)); }))";
        let smallest = browser.evaluate(smallest).number();
        assert!(smallest >= 10.9, "type of {smallest} px at {width}");
        // No text outside its picture, and none overlapping another in the same line.
        let cut = "[...document.querySelectorAll('.chart')].flatMap(chart => {\
            chart.scrollIntoView();\
            const whole = chart.getBoundingClientRect();\
            const texts = [...chart.querySelectorAll('text')].map(text => [text.textContent, text.getBoundingClientRect()]);\
            const out = texts.filter(([, box]) => box.left < whole.left - 1 || box.right > whole.right + 1 || box.bottom > whole.bottom + 1);\
            const over = texts.filter(([, a], i) => texts.some(([, b], j) => i < j && a.left + 1 < b.right && b.left + 1 < a.right\
                && a.top + 4 < b.bottom && b.top + 4 < a.bottom));\
            return [...out, ...over].map(([text]) => chart.closest('article, tr')?.id + ': ' + text); })";
        let cut: Vec<String> = serde_json::from_value(browser.evaluate(cut)).expect("texts");
        assert!(cut.is_empty(), "at {width}: {cut:?}");
    }
}

#[test]
fn the_longer_bar_is_the_greater_number() {
    let mut browser = or_skip!(browser());
    let program = Program::new();
    let file = report(&program, RUN);
    for width in [1400, 400] {
        browser.open(&file, width, "light");
        // The text of each row, in nanoseconds, and the length of its bar.
        let bars = "[...document.querySelectorAll('.headline tbody tr')].map(row => {\
            const words = row.querySelector('td.num').textContent.trim().split(' ');\
            const unit = { ns: 1, 'µs': 1e3, ms: 1e6, s: 1e9 }[words.at(-1)];\
            return [words[0] * unit, row.querySelector('.track > span').getBoundingClientRect().width]; })";
        let mut bars: Vec<(f64, f64)> =
            serde_json::from_value(browser.evaluate(bars)).expect("costs and widths of bars");
        bars.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert!(bars.len() > 5, "{} bars", bars.len());
        for pair in bars.windows(2) {
            // Positions are rounded to a sixty-fourth of a pixel.
            assert!(pair[0].1 <= pair[1].1 + 0.1, "at {width}: {bars:?}");
        }
    }
}

#[test]
fn the_browser_does_complain_of_errors_and_requests() {
    let mut browser = or_skip!(browser());
    let program = Program::new();
    for bad in [
        "<script>console.error('told')</script>",
        "<script>nothing.here()</script>",
        "<img src='beside.png'>",
        "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'\"><script>1</script>",
    ] {
        let file = program.folder().join("bad.html");
        std::fs::write(&file, format!("<!DOCTYPE html><title>bad</title>{bad}")).expect("a page");
        browser.complaints.clear();
        browser.open(file.to_str().expect("a path in UTF-8"), 800, "light");
        assert!(!browser.complaints.is_empty(), "no complaint of {bad}");
    }
}

/// Filters, sorts, unfolds and changes the theme as a reader would.
fn controls(browser: &mut Browser) {
    let visible = "[...document.querySelectorAll('table.rows > tbody')].filter(body => body.offsetHeight).length";
    let all = browser.evaluate(visible).as_u64().expect("a number");
    browser.evaluate(
        "filter.value = 'getppid'; filter.dispatchEvent(new Event('input', {bubbles: true}));",
    );
    let some = browser.evaluate(visible).as_u64().expect("a number");
    assert!(
        0 < some && some < all,
        "{some} of {all} rows pass the filter"
    );
    let count = browser.evaluate("document.getElementById('count').textContent");
    assert_eq!(count, format!("{some} of {all} rows"));
    // The benchmark's tags are in its card, not in its rows.
    for term in ["lat_syscall", "kernel-entry", "syscalloverhead"] {
        browser.evaluate(&format!(
            "filter.value = '{term}'; filter.dispatchEvent(new Event('input'))"
        ));
        let found = browser.evaluate(visible).as_u64().expect("a number");
        assert!(0 < found && found < all, "{found} of {all} rows: {term}");
    }
    browser.evaluate("filter.value = ''; filter.dispatchEvent(new Event('input'))");
    assert_eq!(browser.evaluate(visible), all);

    let order =
        "[...document.querySelectorAll('#group-syscall tbody')].map(body => body.id).join()";
    let before = browser.evaluate(order);
    browser.evaluate("document.querySelectorAll('#group-syscall button.sort')[1].click()");
    assert_ne!(browser.evaluate(order), before, "a click sorts");
    let values = "(() => { const values = [...document.querySelectorAll('#group-syscall tr.row')]\
        .map(row => row.cells[1].dataset.v).filter(value => value !== undefined).map(Number);\
        return values.length > 3 && values.every((value, i) => !i || values[i - 1] <= value); })()";
    assert_eq!(browser.evaluate(values), true, "by the median, upwards");
    assert_eq!(
        browser.evaluate(
            "document.querySelectorAll('#group-syscall th')[1].getAttribute('aria-sort')"
        ),
        "ascending"
    );

    // By its title too, which is in no row.
    browser.evaluate("filter.value = 'cheapest'; filter.dispatchEvent(new Event('input'))");
    let titled = browser.evaluate(visible).as_u64().expect("a number");
    assert!(titled < all, "{titled} of {all} rows pass a title's word");
    browser.evaluate("filter.value = ''; filter.dispatchEvent(new Event('input'))");

    browser.evaluate("document.querySelector('#group-syscall button.more').click()");
    let unfolded = "(() => { const detail = document.querySelector('#group-syscall tr.detail:not([hidden])');\
        return detail.offsetHeight > 0 && detail.textContent.includes('Does not measure'); })()";
    assert_eq!(
        browser.evaluate(unfolded),
        true,
        "evidence and explanation unfold"
    );

    let paper = "getComputedStyle(document.body).backgroundColor";
    let before = browser.evaluate(paper);
    browser.evaluate("document.getElementById('theme').click()");
    assert_ne!(
        browser.evaluate(paper),
        before,
        "the button changes light and dark"
    );
}
