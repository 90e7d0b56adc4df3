//! Published experiments and studies of the user, through the program.

use std::fs;

use crate::common::{Ending, Json, Program, RUN, or_skip};
use crate::company::Load;
use crate::readers::installed;
use syscost_benches::STUDIES;

const MINE: &str = r#"
id = "mine"
title = "The null system call"
source = "A note"
about = "A loop."

[[machine]]
id = "old"
name = "An old machine"
clock_ghz = 2.0

[[quantity]]
id = "null"
title = "getppid"
table = "System calls"
unit = "ns"
procedure = "A loop."
ours = "syscall.null{call=getppid}"
published = [{ machine = "old", cycles = 250.0, place = "page 3" }]
"#;

/// A user's study in the program's directory.
fn with_study(text: &str) -> (Program, String) {
    let program = Program::new();
    let path = program.folder().join("mine.toml");
    fs::write(&path, text).expect("a file");
    (program, path.display().to_string())
}

#[test]
fn every_published_study_is_shown_with_its_figures_on_80_columns() {
    let program = Program::new();
    let printed = |words: &str| {
        let text = program.command(words).env("COLUMNS", "80").ended().out;
        let too_long = text.lines().find(|line| line.chars().count() > 80);
        assert_eq!(too_long, None, "{words}");
        text
    };
    let list = printed("study");
    for study in STUDIES {
        let study = syscost_studies::parse(study).expect("a study");
        assert!(list.contains(&study.id), "{list}");
        let shown = printed(&format!("study {}", study.id));
        for machine in &study.machines {
            assert!(shown.contains(&machine.id), "{}: {}", study.id, machine.id);
        }
        for one in &study.quantities {
            assert!(shown.contains(&one.title), "{}: {}", study.id, one.id);
        }
    }
}

#[test]
fn a_study_of_our_own_stands_beside_rows_of_the_catalogue_and_is_printed_again() {
    let (program, path) = with_study(MINE);
    let run = format!("study run {path} --profile quick");
    let printed = program.run(&run).out;
    for part in ["250 cycles", "125 ns", "syscost's row"] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
    let judged = program.json(&format!("study report latest {path} --format json"));
    let quantity = &judged[0]["judged"][0];
    assert_eq!(quantity["published"][0]["converted"], "value");
    // Whether others let it be measured does not matter.
    let ours = &quantity["ours"];
    assert!(ours.is_null() || ours["value"].number() > 0.0, "{judged}");
}

#[test]
fn a_bad_study_is_refused_with_its_line_and_field() {
    let missing = Program::new().run("study run /no/such.toml");
    assert_eq!(missing.code, Some(2), "{}", missing.err);
    for (right, wrong, at) in [
        ("clock_ghz", "clock_mhz", ".toml:10: "),
        ("machine = \"old\"", "machine = \"new\"", ".toml:19: "),
        ("unit = \"ns\"", "unit = \"hours\"", ".toml:16: "),
    ] {
        let (program, path) = with_study(&MINE.replace(right, wrong));
        let output = program.run(&format!("study run {path}"));
        let said = output.err;
        assert_eq!(output.code, Some(2), "{said}");
        let field = wrong.split_whitespace().next().expect("a field");
        assert!(said.contains(at) && said.contains(field), "{said}");
    }
    let (program, _) = with_study("");
    program
        .run("study run no-such-study")
        .says(2, "call-and-switch");
}

/// A claim about the only quantity of [`MINE`], from line 21 on.
fn with_claim(counted: &str) -> String {
    format!(
        "{MINE}\n[[quantity.claim]]\ncounted = \"{counted}\"\nat_least = 1.0\nbroken = \"None.\"\n"
    )
}

#[test]
fn what_a_study_names_must_exist_wherever_it_is_read() {
    let rows_missing = MINE.replace("ours = \"syscall.null{call=getppid}\"\n", "");
    // What rows count is known of a run, and of the machine when it is to be measured.
    let (in_all, where_counted): (&[&str], &[&str]) = (&["", "run", "report"], &["run", "report"]);
    for (study, verbs, at, said) in [
        (with_claim("zebra"), where_counted, 22, "field `counted`"),
        (
            with_claim("getppid system call per operation"),
            where_counted,
            22,
            "`getppid system calls per operation`",
        ),
        (
            MINE.replace("id = \"mine\"", "id = \"three-costs\""),
            in_all,
            2,
            "is a published study",
        ),
        (
            MINE.replace("call=getppid", "call=getppidd"),
            in_all,
            18,
            "syscall.null has no call=getppidd",
        ),
        (
            MINE.replace("syscall.null{", "syscal.null{"),
            in_all,
            18,
            "`syscall.null{call=getppid}`",
        ),
        (rows_missing, &["run"], 12, "field `ours`: missing"),
    ] {
        let (program, path) = with_study(&study);
        for verb in verbs {
            let command = match *verb {
                "report" => format!("study report {RUN} {path}"),
                verb => format!("study {verb} {path}"),
            };
            let place = format!("mine.toml:{at}: ");
            program.run(&command).says(2, &place).says(2, said);
        }
    }
}

#[test]
fn showing_a_study_tries_no_row() {
    // Only a trial of the row would find out that it counts no such thing.
    let (program, path) = with_study(&with_claim("zebra"));
    let shown = program.run(&format!("study {path}")).succeeded();
    shown.prints("getppid");
}

#[test]
#[ignore = "machine suite"]
fn every_count_that_a_published_study_names_is_one_of_its_row() {
    for published in STUDIES {
        let study = syscost_studies::parse(published).expect("a study");
        let own = published.replace(
            &format!("id = \"{}\"", study.id),
            &format!("id = \"our-{}\"", study.id),
        );
        let (program, path) = with_study(&own);
        // It is read, and its rows are tried, before the run finds that it could not be written.
        let ends = program.run(&format!("study run {path} -o /proc/none/run.json"));
        let said = ends.err;
        assert!(said.contains("/proc/none/run.json"), "{said}");
        assert!(!said.contains("field `counted`"), "{said}");
    }
}

#[test]
#[ignore = "machine suite"]
fn a_repeated_study_is_judged_printed_again_and_in_the_page() {
    let program = Program::new();
    let output = program.run("study run call-and-switch --profile quick");
    // 5 where the machine is too busy for all of its published figures.
    let code = output.code;
    assert!(matches!(code, Some(0 | 5)), "{code:?}: {}", output.err);
    let judged = program.json("study report --format json");
    let quantities = judged[0]["judged"].list();
    let getpid = quantities
        .iter()
        .find(|one| one["id"] == "getpid")
        .expect("getpid");
    let verdict = getpid["verdict"]["text"].text();
    // Counted, or the reason why it was not.
    assert!(
        verdict.contains("entered the kernel")
            || verdict.contains("Not counted")
            || verdict.contains("No figure"),
        "{verdict}"
    );
    let again = program.run("study report");
    again.prints("as published, here");
    let page = program.folder().join("page.html").display().to_string();
    program.run(&format!("report latest -o {page}")).succeeded();
    let page = fs::read_to_string(page).expect("the page");
    assert!(page.contains("id=\"study-call-and-switch\""));
}

#[test]
#[ignore = "machine suite"]
fn a_study_without_time_for_its_published_figures_is_incomplete_and_says_once_which() {
    let program = Program::new();
    let output = program.run("study run whole-system --budget 4");
    let said = output.err;
    let of_study: Vec<&str> = said
        .lines()
        .filter(|line| line.contains("whole-system is incomplete"))
        .collect();
    assert_eq!(of_study.len(), 1, "{said}");
    assert!(of_study[0].contains("--thorough"), "{said}");
    // 4 where there was no time for anything.
    let code = output.code;
    assert!(matches!(code, Some(4 | 5)), "{code:?}: {said}");
}

#[test]
#[ignore = "machine suite"]
fn a_users_own_procedures_are_compiled_run_and_kept_with_the_run() {
    let with = "procedure = \"A loop.\"\nprogram = \"loop.c\"\nprints = \"us\"";
    let (program, path) = with_study(&MINE.replace("procedure = \"A loop.\"", with));
    let run = || program.run(&format!("study run {path} --profile quick --budget 8"));
    run().says(2, "quantity `null`: field `program`: there is no file");
    or_skip!(installed("cc"));
    let file = program.folder().join("loop.c");
    fs::write(&file, "int main(void) { return x; }").expect("a file");
    let said = run().err;
    assert!(
        said.contains("does not compile") && said.contains("loop.c:1"),
        "{said}"
    );
    // Of what it does no calls could be counted.
    let without_marks = "#include \"result.h\"\nint main(void) { result(1, \"us\"); return 0; }";
    fs::write(&file, without_marks).expect("a file");
    let kept = run().out;
    assert!(kept.contains("begin() was called 0 times"), "{kept}");
    fs::write(
        &file,
        "#include <stdio.h>\nint main(void) { puts(\"0.25\"); return 0; }",
    )
    .expect("a file");
    // A compiler may come with arguments.
    let mut done = program.command(&format!("study run {path} --profile quick --budget 8"));
    done.env("CC", "env cc").ended().succeeded();
    // The file of the study is not needed again: the run has it.
    fs::remove_file(&path).expect("it was there");
    let judged = program.json("study report --format json");
    assert_eq!(judged[0]["id"], "mine");
    let text_of_report = program.run("study report").out;
    assert!(text_of_report.contains("250 ns"), "{text_of_report}");
    let page = program.folder().join("page.html");
    let report = format!("report latest -o {}", page.display());
    program.run(&report).succeeded();
    let page = fs::read_to_string(page).expect("a page");
    assert!(page.contains("The null system call"));
}

/// A study of one program, which makes `calls` of getppid, that it is to make once per operation,
/// and then computes for many time slices.
fn with_program(calls: &str) -> Result<(Program, String), String> {
    let with = "procedure = \"A loop.\"\nprogram = \"loop.c\"";
    let claim = "at_least = 0.99\nat_most = 1.01\nholds = \"Each is {} getppid.\"\nbroken = \"Each is {} getppid, not one.\"";
    let study = with_claim("getppid system calls per operation");
    let study = study.replace("procedure = \"A loop.\"", with);
    let study = study.replace("at_least = 1.0\nbroken = \"None.\"", claim);
    let (program, path) = with_study(&study);
    let source = format!(
        "#include \"result.h\"\n#include <sys/syscall.h>\n#include <unistd.h>\n\
         int main(void) {{ long n = operations(1000), i; volatile long k; begin();\n\
         for (i = 0; i < {calls}; i++) syscall(SYS_getppid);\n\
         for (k = 0; k < 50000000; k++);\n\
         end(); result(n, \"us\"); return 0; }}"
    );
    fs::write(program.folder().join("loop.c"), source).expect("a file");
    installed("cc").map(|()| (program, path))
}

#[test]
#[ignore = "machine suite"]
fn the_calls_of_a_users_own_program_are_counted_between_its_marks() {
    for (calls, kind, said) in [
        ("n", None, "Each is 1 getppid."),
        (
            "1",
            Some("not_what_it_says"),
            "Each is almost no getppid, not one.",
        ),
        ("0", Some("not_what_it_says"), "Each is 0 getppid, not one."),
    ] {
        let (program, path) = or_skip!(with_program(calls));
        program.run(&format!("study run {path} --profile quick --budget 8"));
        let report = program.json(&format!("study report {path} --format json"));
        let judged = &report[0]["judged"][0];
        let verdict = &judged["verdict"];
        assert!(verdict["text"].text().starts_with(said), "{judged:#}");
        assert!(kind.is_none_or(|kind| verdict["kind"] == kind), "{verdict}");
        // What its kernel file is called, and what else was counted.
        let evidence = judged["evidence"].list();
        for (source, observed) in [("/proc/PID/exe", "mine"), ("getrusage", "")] {
            let is_it = |one: &&serde_json::Value| one["source"] == source;
            let one = evidence.iter().find(is_it).expect(source);
            assert!(observed.is_empty() || one["observed"] == observed, "{one}");
        }
    }
}

#[test]
#[ignore = "machine suite"]
fn a_program_beside_busy_loops_is_preempted_and_said_to_be() {
    let (program, path) = or_skip!(with_program("n"));
    let load = Load::new();
    let ends = program.run(&format!("study run {path} --profile quick --budget 12"));
    drop(load);
    let said = "every result was disturbed (preemption ";
    // It stands in lines.
    let printed: Vec<&str> = ends.out.split_whitespace().collect();
    assert!(printed.join(" ").contains(said), "{}", ends.out);
}
