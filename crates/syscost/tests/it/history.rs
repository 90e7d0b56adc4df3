//! The stored runs as people use them: listed, followed, tagged, pruned.

use std::fs;
use std::process::Stdio;

use crate::common::{Ending, Json, Program, stamped};
use serde_json::Value;

/// A program that has stored this many runs, a day apart; from the 21st on `a.b` costs a fifth
/// more.
fn with_runs(count: u32) -> Program {
    let program = Program::new();
    for day in 0..count {
        let median = f64::from(day % 3) + if day < 20 { 100.0 } else { 120.0 };
        program.keep(&stamped(day, median).1);
    }
    program
}

fn files(program: &Program) -> usize {
    fs::read_dir(program.folder().join("syscost/runs")).map_or(0, Iterator::count)
}

#[test]
fn the_latest_run_that_has_a_row_is_shown_where_a_later_one_lacks_it() {
    let program = with_runs(3);
    let (id, document) = stamped(3, 7.0);
    let other = document.to_string().replace("a.b", "e.f");
    program.put(&format!("syscost/runs/{id}.json"), other);
    let shown = program.run("show latest a.b").says(0, "20260103");
    let shown = shown.says(0, "has no row called a.b").out;
    assert!(shown.contains("a.b") || shown.contains("{c=d}"), "{shown}");
    // For what the very latest run has, or for a whole run, `latest` is the very latest.
    for command in ["show latest e.f", "show"] {
        assert_eq!(program.run(command).err, "", "{command}");
    }
    program
        .run("show latest g.h")
        .says(2, "no row is called `g.h`");
}

#[test]
fn a_metric_of_all_machines_has_a_line_for_each() {
    let program = with_runs(3);
    let (_, mut document) = stamped(3, 250.0);
    document["machine"]["hostname"] = "node07".into();
    program.keep(&document);
    let shown = program.run("history a.b --machine all").succeeded();
    shown.prints("2 machines, the middle one 176 ns");
    let lines = shown
        .out
        .lines()
        .filter(|line| line.contains(" ns"))
        .count();
    assert_eq!(lines, 3, "{}", shown.out);
    shown.prints("node07");
    let all = program.json("history a.b --machine all --format json");
    assert_eq!(all.list().len(), 2);
    program
        .run("history g.h --machine all")
        .says(2, "no row is called `g.h`");
}

#[test]
fn files_that_are_no_stored_run_do_not_hide_the_latest() {
    let program = with_runs(3);
    let (newest, document) = stamped(2, 7.0);
    let write = |name: &str, content: &str| {
        program.put(&format!("syscost/runs/{name}"), content);
    };
    let whole = document.to_string();
    let page = program.folder().join("page.html").display().to_string();
    write(
        "fio-result.json",
        r#"{"fio version": "fio-3.36", "jobs": []}"#,
    );
    write("20990101T000000Z-0.json", &whole[..whole.len() / 2]);
    write(&format!("{newest}-conflicted-copy.json"), &whole);
    for arguments in [
        "show",
        "show latest",
        "show --summary",
        "compare latest~1 latest",
        &format!("report latest -o {page}"),
    ] {
        let mut output = program.run(arguments);
        for part in ["fio-result", "20990101T", "conflicted-copy", "skipped"] {
            output = output.says(0, part);
        }
    }
    program.run("history tag latest mine").succeeded();
    // A file that cannot be read is said again.
    let list = program.json("history --format json");
    assert_eq!(ids(&list)[0], newest);
    assert_eq!(list["runs"][0]["tags"], serde_json::json!(["mine"]));
    // Where none can be read, the reason is the newest one's.
    let only = Program::new();
    only.put("syscost/runs/1.json", "{");
    only.run("show").says(1, "1.json");
}

/// Five runs, of which the first two are tagged `before`, and the last `after`.
fn with_tagged_runs() -> Program {
    let program = with_runs(5);
    program
        .run("history tag latest~4 latest~3 before")
        .succeeded();
    program.run("history tag latest after").succeeded();
    program
}

#[test]
fn a_tag_of_several_runs_means_all_where_several_are_taken_and_the_newest_elsewhere() {
    let program = with_tagged_runs();
    program.run("history tag latest~1 after").succeeded();
    let id = |day| stamped(day, 0.0).0;
    let shown = program
        .run("show before")
        .says(0, "2 runs are tagged before");
    assert!(
        shown
            .err
            .contains(&format!("this is the newest, {}", id(1)))
    );
    let compared = program.json("compare before after --format json");
    assert_eq!(compared["base"]["runs"], serde_json::json!([id(0), id(1)]));
    assert_eq!(compared["new"]["runs"], serde_json::json!([id(3), id(4)]));
    let compared = program.json("compare latest~2 after --format json");
    assert_eq!(compared["new"]["runs"].as_array().map(Vec::len), Some(2));
    program
        .run("compare before after --base latest~3")
        .says(2, "is given twice");
    let page = program.folder().join("page.html").display().to_string();
    program
        .run(&format!("report before after -o {page}"))
        .succeeded();
    let page = fs::read_to_string(page).expect("written");
    assert!(page.contains(&id(0)) && page.contains(&id(4)));
    // The sides are called as they were given.
    assert!(page.contains("after / before"), "{page}");
    assert!(!page.contains("new / base"), "{page}");
    let exported = program.run("export --format csv before").succeeded().out;
    assert_eq!(exported.lines().count(), 3, "{exported}");
    let plotted = program.run("plot before after a.b").succeeded().out;
    for tag in ["before (2 runs)", "after (2 runs)"] {
        assert!(plotted.contains(tag), "{plotted}");
    }
    let untagged = program.run("history tag --delete before before");
    for run in [id(0), id(1)] {
        let said = format!("{run} is no longer tagged before\n");
        untagged.prints(&said);
    }
    program
        .run("show --summary before")
        .says(2, "no kept run called `before`");
}

#[test]
fn a_file_that_holds_no_run_hides_no_kept_run_and_no_rows() {
    let program = with_tagged_runs();
    program.put("before", "a program's output\n");
    // A folder, of the name of a group too.
    program.put("after/notes", "");
    program.put("latest", "");
    program.put("a/notes", "");
    let here = |words: &str| {
        let mut command = program.command(words);
        command.current_dir(program.folder()).ended()
    };
    let id = |day| stamped(day, 0.0).0;
    let compared = here("compare before after --format json");
    let compared = compared.says(0, "`before` is taken for the kept run: before: ");
    assert_eq!(
        compared.json()["base"]["runs"],
        serde_json::json!([id(0), id(1)])
    );
    assert_eq!(compared.json()["new"]["runs"], serde_json::json!([id(4)]));
    for words in [
        "show before",
        "show latest",
        "report before after",
        "plot before after a.b",
        "export --format csv after",
        "history tag after again",
    ] {
        here(words).says(0, "is taken for the kept run: ");
    }
    for (words, said) in [
        ("show notes", "no kept run"),
        ("show ./before", "./before: this is"),
    ] {
        let refused = here(words);
        assert!(refused.err.contains(said), "{words}: {}", refused.err);
    }
    // A document goes first, whatever it is called.
    let (_, run) = stamped(2, 7.0);
    program.put("before", run.to_string());
    assert_eq!(
        here("show before --format json").json()["id"],
        id(2).as_str()
    );
    assert!(!here("show before").err.contains("is taken for"));
    // Nothing else has this name.
    program.put("zebra", "stripes");
    assert!(
        here("show zebra")
            .err
            .contains("zebra: this is text, but no run document")
    );
    program.put("syscall/notes", "");
    here("show syscall").says(2, "no row is called `syscall` in run");
}

#[test]
fn whole_runs_are_repeated_tagged_and_written() {
    let program = Program::new();
    let output = program.folder().join("run.json").display().to_string();
    let run = "run call.integer{arguments=0} --profile quick --repeat 2 --tag before";
    let ended = program.run(&format!("{run} -o {output}")).ran();
    assert!(
        ended.err.contains("run 2 of 2: measuring 1 row"),
        "{ended:?}"
    );
    let list = program.json("history --format json");
    assert_eq!(ids(&list).len(), 2);
    for (run, number) in list["runs"].as_array().expect("runs").iter().zip([2, 1]) {
        assert_eq!(run["tags"], serde_json::json!(["before"]));
        let written = program.folder().join(format!("run.{number}.json"));
        let written: Value =
            serde_json::from_slice(&fs::read(written).expect("written")).expect("JSON");
        assert_eq!(written["id"], run["id"]);
    }
    // A later run of other rows does not hide what the tag's others have.
    let (id, other) = (ids(&list)[0], "20991231T000000.000Z-000000");
    let text = program
        .json(&format!("show {id} --format json"))
        .to_string();
    let text = text
        .replace(id, other)
        .replace("call.integer", "call.other");
    program.put(&format!("syscost/runs/{other}.json"), text);
    let tag = format!("history tag {other} before");
    program.run(&tag).succeeded();
    let again = "run call.integer{arguments=0} --profile quick --repeat 2 --tag before";
    program
        .run(again)
        .ran()
        .says(0, "3 runs have the tag before already");
    for (refused, why) in [
        ("--tag before --no-save", "cannot be used with"),
        ("--repeat 2 -o -", "standard output holds one document"),
        ("--repeat 0", "0 is not in 1.."),
        ("--tag latest", "cannot be a tag"),
        ("--tag 20991231", "cannot be a tag"),
    ] {
        program.run(&format!("run call {refused}")).says(2, why);
    }
}

#[test]
fn a_tag_that_begins_a_runs_id_is_refused() {
    let program = with_runs(2);
    let (first, _) = stamped(0, 1.0);
    let (second, _) = stamped(1, 1.0);
    let output = program.run(&format!("history tag {first} {}", &second[..8]));
    let messages = output.err;
    assert!(output.code != Some(0), "{messages}");
    let sentence: Vec<&str> = messages.split_whitespace().collect();
    assert!(
        sentence.join(" ").contains("beginning of a run's id"),
        "{messages}"
    );
}

fn ids(list: &Value) -> Vec<&str> {
    let runs = list["runs"].list();
    runs.iter().map(|run| run["id"].text()).collect()
}

#[test]
fn without_runs_the_list_says_what_to_do_and_makes_no_folder() {
    let program = Program::new();
    let output = program.run("history").succeeded();
    assert_eq!(
        output.out,
        "no run is kept yet; measure first: syscost run\n"
    );
    assert!(!program.folder().join("syscost").exists());
}

#[test]
fn the_newest_run_comes_first_and_a_damaged_file_is_said_once() {
    let program = with_runs(3);
    program.put("syscost/runs/broken.json", "{\"schema_version\": 1,");
    let output = program.run("history --format json");
    let list = output.json();
    assert_eq!(
        ids(&list),
        [stamped(2, 0.0).0, stamped(1, 0.0).0, stamped(0, 0.0).0]
    );
    assert_eq!(output.err.lines().count(), 1, "{}", output.err);
    assert!(
        output
            .err
            .contains("broken.json:1:21: the document ends too early")
    );
    let again = program.run("history");
    assert_eq!(again.err, "");
    again.prints("skipped, because they are not readable runs: \"broken.json\"");
    assert_eq!(files(&program), 4);
}

#[test]
fn a_step_is_shown_with_its_date() {
    let program = with_runs(40);
    let mut show = program.command("history a.b");
    let shown = show.env("TZ", "UTC").ended().out;
    assert!(
        shown.contains("worse: 101 ns → 121 ns, +20 %, 2026-01-21"),
        "{shown}"
    );
    let changes = program.run("history --changes").out;
    assert!(
        changes.contains("1 of 1 metrics changed over 40 runs"),
        "{changes}"
    );
    let since = program.json("history a --since 2026-02-02 --format json");
    let series = &since["series"][0];
    assert_eq!(series["changes"].as_array().map(Vec::len), Some(0));
    assert!(
        since["runs"]
            .as_u64()
            .is_some_and(|runs| (8..12).contains(&runs)),
        "{since}"
    );
    program
        .run("history no.such")
        .says(2, "no row is called `no.such` in 40 runs");
    let near = program.run("history syscall.nul");
    assert!(near.err.contains("did you mean `syscall.null`"));
}

#[test]
fn a_tagged_run_is_found_and_not_pruned() {
    let program = with_runs(6);
    program.run("history tag latest~5 baseline").succeeded();
    let list = program.json("history --format json");
    assert_eq!(list["runs"][5]["tags"][0], "baseline");
    let mut unasked = program.command("history prune --keep 2");
    let unasked = unasked.stdin(Stdio::null()).ended();
    let unasked = unasked.says(2, "no terminal to ask on; add --yes").out;
    assert!(
        unasked.contains("3 runs, ") && unasked.contains("1 run with a tag stay"),
        "{unasked}"
    );
    for unlimited in ["--yes", ""] {
        let prune = format!("history prune {unlimited}");
        program.run(&prune).says(2, "--keep");
    }
    assert_eq!(files(&program), 6);
    for day in [1, 5] {
        let journal = format!("syscost/journals/{}.journal", stamped(day, 0.0).0);
        program.put(&journal, "");
    }
    program.run("history prune --keep 2 --yes").succeeded();
    let [journal] = &program.journals()[..] else {
        panic!(
            "the journal of a run that is gone is gone: {:?}",
            program.journals()
        );
    };
    assert!(journal.to_string_lossy().contains(&stamped(5, 0.0).0));
    let list = program.json("history --format json");
    assert_eq!(
        ids(&list),
        [stamped(5, 0.0).0, stamped(4, 0.0).0, stamped(0, 0.0).0]
    );
    let untag = "history tag -d baseline baseline";
    program.run(untag).succeeded();
    program
        .run("history prune --older-than 1h --yes")
        .succeeded();
    assert_eq!(files(&program), 0);
}
