//! Studies of several machines, as reports to hand in, and their programs, through the program.

use std::fs;

use crate::common::{Json, Program, recorded};
use serde_json::Value;

/// The runs of two machines in the program's directory.
fn two_runs(program: &Program) -> [String; 2] {
    ["alpha", "beta"].map(|host| {
        let mut run = recorded();
        run["id"] = Value::from(format!("run-of-{host}"));
        run["machine"]["hostname"] = Value::from(host);
        program.put(&format!("{host}.json"), run.to_string())
    })
}

#[test]
fn runs_of_two_machines_are_columns_in_every_format_and_in_the_page() {
    let program = Program::new();
    let [alpha, beta] = two_runs(&program);
    let of = |format: &str| {
        let report = format!("study report {alpha} {beta} three-costs --format {format}");
        program.run(&report).succeeded()
    };
    let judged = of("json").json();
    let runs: Vec<&Value> = judged.list().iter().collect();
    assert_eq!(runs.len(), 2);
    assert_eq!(
        (&runs[0]["run"], &runs[1]["run"]),
        (&"run-of-alpha".into(), &"run-of-beta".into())
    );
    for format in ["table", "markdown", "html"] {
        let printed = of(format).out;
        for part in ["opteron", "alpha", "beta", "getpid"] {
            assert!(printed.contains(part), "{format}: {part}");
        }
    }
    let lines = of("csv").out;
    for begin in [
        "three-costs,getpid,",
        "study,quantity,title,source,machine,run,value,unit,low,high,",
    ] {
        assert!(
            lines.lines().any(|line| line.starts_with(begin)),
            "{begin}: {lines}"
        );
    }
    for source in [
        "published,opteron",
        "method,alpha,run-of-alpha",
        "method,beta,run-of-beta",
    ] {
        assert!(lines.contains(source), "{source}: {lines}");
    }
    let twice = program.run(&format!("study report {alpha} {alpha} three-costs"));
    assert_eq!(twice.code, Some(2), "{}", twice.err);
}

#[test]
fn the_ending_of_a_file_is_its_format_and_a_folder_is_a_report_to_hand_in() {
    let program = Program::new();
    let [alpha, beta] = two_runs(&program);
    let write = |to: &str| {
        let path = program.folder().join(to);
        let path = path.display();
        program.run(&format!(
            "study report {alpha} {beta} three-costs -o {path}"
        ))
    };
    for (name, begins) in [
        ("lab.md", "# "),
        ("lab.html", "<!DOCTYPE html>"),
        ("lab.csv", "study,"),
        ("lab.json", "["),
        ("lab.txt", "alpha: "),
    ] {
        write(name).succeeded();
        let written = fs::read_to_string(program.folder().join(name)).expect("it is written");
        assert!(written.starts_with(begins), "{name}: {written}");
    }
    assert_eq!(write("lab.pdf").code, Some(2));
    let folder = program.folder().join("lab/").display().to_string();
    let both = format!("study report {alpha} --format csv -o {folder}");
    assert_eq!(program.run(&both).code, Some(2));
    write("lab/").succeeded();
    let lab = program.folder().join("lab");
    let report = fs::read_to_string(lab.join("report.md")).expect("the report");
    for part in [
        "## Summary",
        "## Machines",
        "## Results",
        "## Questions",
        "## Conclusion",
        "   Answer:",
        "](data/three-costs.csv)",
    ] {
        assert!(report.contains(part), "{part}");
    }
    // Every chart that the report shows is there.
    let charts: Vec<&str> = report
        .split("](figures/")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .collect();
    assert!(!charts.is_empty(), "{report}");
    for chart in charts {
        let svg = fs::read_to_string(lab.join("figures").join(chart)).expect("the chart");
        assert!(svg.starts_with("<svg"), "{chart}");
    }
    for name in [
        "data/three-costs.csv",
        "data/run-of-alpha.json",
        "report.html",
    ] {
        assert!(lab.join(name).is_file(), "{name}");
    }
    // The runs are all that it takes to judge again.
    let kept = lab.join("data/run-of-beta.json").display().to_string();
    let again = format!("study report {kept} three-costs");
    program.run(&again).succeeded();
}

#[test]
fn a_run_writes_a_document_to_a_file_and_a_report_into_a_folder() {
    let program = Program::new();
    let of_mine = "id = \"mine\"\ntitle = \"Mine\"\nsource = \"A note\"\nabout = \"A loop.\"\n\
                   question = [\"What is it?\"]\n\n[[quantity]]\nid = \"null\"\ntitle = \"getppid\"\n\
                   table = \"System calls\"\nunit = \"ns\"\nprocedure = \"A loop.\"\n\
                   ours = \"syscall.null{call=getppid}\"\n";
    let study = program.put("mine.toml", of_mine);
    let run = |to: &str| {
        let path = program.folder().join(to).display().to_string();
        let run = format!("study run {study} --profile quick -o {path}");
        program.run(&run).ran();
    };
    run("run.json");
    assert!(program.folder().join("run.json").is_file());
    fs::create_dir(program.folder().join("there")).expect("a folder");
    for to in ["there", "new/folder/"] {
        run(to);
        let report = fs::read_to_string(program.folder().join(to).join("report.md"));
        let report = report.expect("the report");
        assert!(report.contains("1. What is it?"), "{report}");
    }
}

#[test]
fn the_programs_of_a_study_are_printed_with_the_command_that_compiles_them() {
    let program = Program::new();
    let show = |words: &str| program.run(&format!("study three-costs {words}"));
    let all = show("--source").succeeded().out;
    for part in [
        "cc -O0 ",
        "-static -pthread",
        "clock_read.c",
        "switch.c",
        "tasks.h",
        "int main(",
    ] {
        assert!(all.contains(part), "{part}");
    }
    let one = show("--source clock_read.c").out;
    assert!(one.contains("rdtsc") && one.len() < all.len(), "{one}");
    let header = show("--source result.h").out;
    assert!(
        !header.is_empty() && !header.contains("int main("),
        "{header}"
    );
    show("--source clock_raed").says(2, "did you mean `clock_read`?");
    let plain = show("").out;
    assert!(
        plain.contains("syscost study three-costs --source"),
        "{plain}"
    );
}

#[test]
fn all_studies_are_shown_and_a_misspelt_one_is_recognised() {
    let program = Program::new();
    let all = program.run("study all").out;
    assert!(
        all.contains("call-and-switch: ") && all.contains("whole-system: "),
        "{all}"
    );
    program
        .run("study thre-costs")
        .says(2, "did you mean `three-costs`?");
}
