//! `syscost plot` on a real run.

use crate::common::{Json, Program, RUN, recorded};
use serde_json::Value;

#[test]
fn a_picture_is_named_as_what_it_is() {
    let program = Program::new();
    for name in ["x.jpg", "x", "svg", ".svg", ".pdf"] {
        let file = program.folder().join(name);
        let name = file.to_str().expect("a path in UTF-8");
        program.run(&format!("plot {RUN} numbers -o {name}")).says(
            2,
            "plot writes SVG, PDF and PNG; give a file that ends in .svg, .pdf or .png",
        );
        assert!(!file.exists(), "{name} was written");
    }
    let output = program.run(&format!("plot {RUN} numbers -o -"));
    assert!(output.code == Some(0) && output.out.ends_with("</svg>\n"));
    assert!(output.err.is_empty(), "no file was written");
}

#[test]
fn pictures_for_papers_are_svg_png_and_pdf() {
    let program = Program::new();
    let written = |ending: &str| {
        let file = program.folder().join(format!("x.{ending}"));
        let plot = format!("plot {RUN} syscall.poll -o {}", file.display());
        let ended = program.run(&plot);
        (!ended.lacks("pictures")).then(|| {
            ended.succeeded();
            std::fs::read(file).expect("the picture was written")
        })
    };
    let svg = String::from_utf8(written("svg").expect("all builds write it")).expect("text");
    assert!(svg.contains(" width=\"760\" height="), "{}", &svg[..300]);
    let (Some(png), Some(pdf)) = (written("png"), written("pdf")) else {
        return;
    };
    assert!(png.starts_with(b"\x89PNG\r\n"), "a PNG");
    let pixels = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().expect("four bytes"));
    assert_eq!(pixels(16), 1520);
    assert!(
        pdf.starts_with(b"%PDF-1.") && pdf.ends_with(b"%%EOF"),
        "a PDF"
    );
    let has = |text: &[u8]| pdf.windows(text.len()).any(|part| part == text);
    assert!(
        has(b"/MediaBox [0 0 570 "),
        "in points, of which an inch has 72"
    );
    assert!(
        has(b"/ToUnicode") && has(b"DejaVuSans"),
        "text, with its type"
    );
}

#[test]
fn several_runs_are_drawn_in_one_chart() {
    let program = Program::new();
    // The same machine an hour later, twice as slow.
    let recorded = recorded();
    let mut later = recorded.clone();
    later["id"] = "later".into();
    later["started"] = "2030-01-02T03:04:05Z".into();
    for row in later["measurements"].list_mut() {
        (row["samples"], row["core_cycles"]) = (Value::Null, Value::Null);
        for key in ["median", "ci95_low", "ci95_high"] {
            if let Some(number) = row["estimate"][key].as_f64() {
                row["estimate"][key] = (2.0 * number).into();
            }
        }
    }
    let file = program.folder().join("later.json");
    std::fs::write(&file, later.to_string()).expect("written");
    let both = format!("{RUN} {}", file.display());
    let output = program.run(&format!("plot {both} syscall.null -o -"));
    assert_eq!(output.code, Some(0), "{}", output.err);
    assert!(
        output.out.contains(">2030-01-02 03:04 UTC</text>"),
        "a legend"
    );
    assert_eq!(
        output.out.matches("2026-").count(),
        output.out.matches("2030-").count()
    );
    program
        .run(&format!("plot {RUN} {both} syscall.null -o -"))
        .says(2, "is given twice");
    let text = program.run(&format!("plot {both} syscall.null"));
    text.prints("■ 2030-01-02 03:04 UTC");

    let numbers = program.run(&format!("plot {both} numbers -o -"));
    assert_eq!(numbers.out.matches(">System call</text>").count(), 1);

    // Runs of the same minute are told apart by their ids.
    (later["id"], later["started"]) = ("again".into(), recorded["started"].clone());
    std::fs::write(&file, later.to_string()).expect("written");
    let numbers = program.run(&format!("plot {both} numbers -o -"));
    for id in [&later["id"], &recorded["id"]] {
        let id = id.text();
        assert!(numbers.out.contains(&format!(">{id}</text>")), "{id}");
    }
}

/// Draws, expects success, and returns the picture.
fn plot(arguments: &str) -> String {
    let program = Program::new();
    let file = program.folder().join("x.svg");
    let plot = format!("plot {RUN} {arguments} -o {}", file.display());
    program.run(&plot).succeeded();
    let svg = std::fs::read_to_string(file).expect("the picture was written");
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    svg
}

/// Expects a usage error with these words.
fn is_refused(arguments: &str, words: &str) {
    let program = Program::new();
    let file = program.folder().join("x.svg");
    let plot = format!("plot {RUN} {arguments} -o {}", file.display());
    program.run(&plot).says(2, words);
    assert!(
        !file.exists(),
        "nothing is written for a chart that cannot be"
    );
}

#[test]
fn numbers_are_drawn_with_machine_and_date() {
    let svg = plot("numbers");
    assert!(svg.contains(">System call</text>") && svg.contains("syscost 0.1.0"));
    assert!(svg.contains("Intel(R) Xeon(R) Processor, KVM"));
}

#[test]
fn every_kind_draws() {
    for (kind, name) in [
        ("bars", "syscall.null"),
        ("ecdf", "syscall.null"),
        ("curve", "syscall.poll"),
        ("heatmap", "syscall.poll{*of=tcp*}"),
    ] {
        let light = format!("{name} --kind {kind}");
        let dark = format!("{light} --theme dark");
        assert_ne!(plot(&light), plot(&dark), "{kind}");
    }
    assert!(
        plot("syscall.poll").contains(">fds, logarithmic axis</text>"),
        "a curve suits it"
    );
}

#[test]
fn what_cannot_be_drawn_is_refused_with_what_to_do() {
    for (arguments, words) in [
        ("syscall.nul", "no row is called `syscall.nul`"),
        ("timing", "one chart shows one unit, so name rows of one"),
        ("syscall.null --kind curve", "draw --kind bars"),
        ("numbers --kind ecdf", "leave --kind out"),
        ("syscall.poll{of=nothing}", "no of=nothing"),
    ] {
        is_refused(arguments, words);
    }
}
