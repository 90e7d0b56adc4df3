//! `syscost plot` on a real run.

mod common;

use common::{Program, RUN};

#[test]
fn a_picture_is_named_as_what_it_is() {
    let program = Program::new();
    for name in ["x.png", "x", "svg", ".svg"] {
        let file = program.folder().join(name);
        let name = file.to_str().expect("a path in UTF-8");
        program
            .run(&format!("plot {RUN} numbers -o {name}"))
            .says(2, "plot writes SVG; give a file that ends in .svg");
        assert!(!file.exists(), "{name} was written");
    }
    let output = program.run(&format!("plot {RUN} numbers -o -"));
    assert!(output.code == Some(0) && output.out.ends_with("</svg>\n"));
    assert!(output.err.is_empty(), "no file was written");
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
        ("violin", "syscall.null"),
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
    assert!(plot("syscall.null --title Kernel").contains(">Kernel</text>"));
}

#[test]
fn what_cannot_be_drawn_is_refused_with_what_to_do() {
    for (arguments, words) in [
        ("syscall.nul", "no row is called `syscall.nul`"),
        ("timing", "one chart shows one unit, so name rows of one"),
        ("syscall.null --kind curve", "draw --kind bars"),
        ("numbers --kind ecdf", "leave --kind out"),
        ("numbers --case of=tcp", "leave --case out"),
        ("syscall.poll --case of=nothing", "no of=nothing"),
    ] {
        is_refused(arguments, words);
    }
}

#[test]
fn a_parameter_given_apart_means_the_same_rows() {
    let apart = plot("syscall.poll --case of=tcp");
    assert_eq!(apart, plot("syscall.poll{of=tcp}"));
    assert_ne!(apart, plot("syscall.poll"));
}
