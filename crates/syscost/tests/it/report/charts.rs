//! Charts of a page: the values of their points, by pointer and by keyboard, and charts as files.

use super::reading::copies;
use super::{browser, report};
use crate::common::{Json, Program, or_skip};

/// The chart that the others are tried on, and its points' texts as the page has them.
const CHART: &str = "const svg = document.querySelector('#about-syscall\\\\.null .chart[data-points]');\
    svg.closest('.group > details').open = true;\
    const texts = svg.dataset.points.split('\\n').map(line => line.split(' ').slice(3).join(' '));\
    const tip = document.querySelector('.tip');";

#[test]
fn a_point_tells_its_value_to_the_pointer_and_to_the_keyboard() {
    let mut browser = or_skip!(browser());
    let program = Program::new();
    let file = report(&program, &copies(&program, 2).join(" "));
    for (width, scheme) in [(1400, "light"), (400, "dark")] {
        browser.open(&file, width, scheme);
        let keys = format!(
            "(() => {{ {CHART} svg.focus();\
             const press = key => svg.dispatchEvent(new KeyboardEvent('keydown', {{ key, bubbles: true, cancelable: true }}));\
             const told = ['ArrowRight', 'ArrowRight', 'ArrowLeft', 'End', 'Escape'].map(key => {{ press(key); return tip.hidden ? '' : tip.textContent; }});\
             const said = document.querySelector('[aria-live].spoken').textContent;\
             return document.activeElement === svg && told[0].startsWith(texts[0]) && told[0].includes('A: ') && told[1].startsWith(texts[1])\
               && told[2] === told[0] && told[3].startsWith(texts.at(-1)) && told[4] === '' && said === told[3]; }})()"
        );
        assert_eq!(browser.evaluate(&keys), true, "by keys at {width}");
        let pointer = format!(
            "(() => {{ {CHART} svg.scrollIntoView({{ block: 'center' }});\
             const box = svg.getBoundingClientRect(), scale = box.width / svg.viewBox.baseVal.width;\
             return svg.dataset.points.split('\\n').every((line, index) => {{ const [x, y] = line.split(' ').map(Number);\
               svg.dispatchEvent(new PointerEvent('pointermove', {{ clientX: box.left + x * scale + 1, clientY: box.top + y * scale, bubbles: true }}));\
               const seen = tip.getBoundingClientRect();\
               return tip.textContent.startsWith(texts[index]) && seen.left >= 0 && seen.right <= innerWidth; }}); }})()"
        );
        assert_eq!(browser.evaluate(&pointer), true, "by pointer at {width}");
    }
    assert_eq!(browser.complaints, [""; 0]);
}

#[test]
fn a_chart_is_saved_as_a_file_that_needs_nothing_of_the_page() {
    let mut browser = or_skip!(browser());
    let program = Program::new();
    let file = report(&program, &copies(&program, 2).join(" "));
    browser.open(&file, 1400, "dark");
    let save = format!(
        "new Promise(done => {{ {CHART}\
         URL.createObjectURL = blob => {{ blob.text().then(done); return '#'; }};\
         svg.closest('figure').querySelector('.save').click(); }})"
    );
    let svg = browser.evaluate(&save);
    let svg = svg.text();
    for part in [
        "xmlns=\"http://www.w3.org/2000/svg\"",
        "syscall.null</text>",
        "A: host-0",
        "Median and 95 % interval of each row</text>",
        "syscost 0.1.0</text>",
        // The light theme's paper, whatever the page's is.
        "fill=\"#ffffff\"",
    ] {
        assert!(svg.contains(part), "{part} in {svg}");
    }
    assert!(
        !svg.contains("var(") && !svg.contains("data-points"),
        "{svg}"
    );
    let parses = format!(
        "!new DOMParser().parseFromString({}, 'image/svg+xml').querySelector('parsererror')",
        serde_json::to_string(svg).expect("JSON")
    );
    assert_eq!(browser.evaluate(&parses), true);
    assert_eq!(browser.complaints, [""; 0]);
}
