//! `syscost plot` on a real run.

mod common;

use common::Program;

const RUN: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../fixtures/runs/quick.json"
);

#[test]
fn a_picture_is_named_as_what_it_is() {
    let program = Program::new();
    for name in ["x.png", "x", "svg", ".svg"] {
        let file = program.folder().join(name);
        let name = file.to_str().expect("a path in UTF-8");
        let output = program.run(&["plot", RUN, "numbers", "-o", name]);
        assert_eq!(output.status.code(), Some(2), "{name}");
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(
            text.contains("plot writes SVG; give a file that ends in .svg"),
            "{text}"
        );
        assert!(!file.exists(), "{name} was written");
    }
    let output = program.run(&["plot", RUN, "numbers", "-o", "-"]);
    assert!(output.status.success() && output.stdout.ends_with(b"</svg>\n"));
    assert!(output.stderr.is_empty(), "no file was written");
}

/// Draws, expects success, and returns the picture.
fn plot(arguments: &[&str]) -> String {
    let program = Program::new();
    let file = program.folder().join("x.svg");
    let file = file.to_str().expect("a path in UTF-8");
    let output = program.run(&[&["plot", RUN][..], arguments, &["-o", file]].concat());
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let svg = std::fs::read_to_string(file).expect("the picture was written");
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    svg
}

/// Expects a usage error, and returns its message.
fn refused(arguments: &[&str]) -> String {
    let program = Program::new();
    let file = program.folder().join("x.svg");
    let name = file.to_str().expect("a path in UTF-8");
    let output = program.run(&[&["plot", RUN][..], arguments, &["-o", name]].concat());
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    assert!(
        !file.exists(),
        "nothing is written for a chart that cannot be"
    );
    String::from_utf8(output.stderr).expect("text")
}

#[test]
fn numbers_are_drawn_with_machine_and_date() {
    let svg = plot(&["numbers"]);
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
        let light = plot(&[name, "--kind", kind]);
        assert_ne!(
            light,
            plot(&[name, "--kind", kind, "--theme", "dark"]),
            "{kind}"
        );
    }
    assert!(
        plot(&["syscall.poll"]).contains(">fds, logarithmic axis</text>"),
        "a curve suits it"
    );
    assert!(
        plot(&["syscall.null", "--title", "Into the kernel"]).contains(">Into the kernel</text>")
    );
}

#[test]
fn what_cannot_be_drawn_is_refused_with_what_to_do() {
    assert!(refused(&["syscall.nul"]).contains("no row is called `syscall.nul`"));
    assert!(refused(&["timing"]).contains("one chart shows one unit, so name rows of one"));
    assert!(refused(&["syscall.null", "--kind", "curve"]).contains("draw --kind bars"));
    assert!(refused(&["numbers", "--kind", "ecdf"]).contains("leave --kind out"));
}

#[test]
fn a_parameter_given_apart_means_the_same_rows() {
    let apart = plot(&["syscall.poll", "--case", "of=tcp"]);
    assert_eq!(apart, plot(&["syscall.poll{of=tcp}"]));
    assert_ne!(apart, plot(&["syscall.poll"]));
    let complaint = refused(&["numbers", "--case", "of=tcp"]);
    assert!(complaint.contains("leave --case out"), "{complaint}");
    let complaint = refused(&["syscall.poll", "--case", "of=nothing"]);
    assert!(complaint.contains("no of=nothing"), "{complaint}");
}
