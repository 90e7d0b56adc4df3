//! `syscost fleet template`: files that work as they are, in the programs they are for or, where
//! these are daemons, with what they call.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{CORES, Ended, Ending, Json, Program, or_skip};
use crate::readers::installed;
use serde_json::Value;

/// A program, and a folder with the files of a template.
fn template(name: &str) -> (Program, PathBuf) {
    let program = Program::new();
    let folder = program.folder().join(name);
    let mut command = program.command(&format!("--quiet fleet template {name} -o"));
    command.arg(&folder).ended().succeeded();
    (program, folder)
}

/// Writes a program of the shell.
fn write_program(path: &Path, lines: &str) {
    fs::write(path, format!("#!/bin/sh\n{lines}\n")).expect("written");
    fs::set_permissions(path, Permissions::from_mode(0o755)).expect("ours");
}

/// The PATH with this folder first.
fn path_with(folder: &Path) -> std::ffi::OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut all = vec![folder.to_owned()];
    all.extend(std::env::split_paths(&path));
    std::env::join_paths(all).expect("no colons")
}

#[test]
fn files_are_written_once_and_one_alone_is_printed() {
    let (program, folder) = template("slurm-healthcheck");
    let mode = |name: &str| {
        let facts = fs::metadata(folder.join(name)).expect("written");
        facts.permissions().mode() & 0o111
    };
    assert_ne!(mode("syscost-healthcheck"), 0, "a program");
    assert_eq!(mode("syscost.nhc"), 0, "no program");
    // What is there may have been adapted.
    let mut again = program.command("fleet template slurm-healthcheck -o");
    again.arg(&folder).ended().says(2, "is there already");
    program
        .run("fleet template slurm-healthcheck")
        .says(2, "name a folder for them: -o DIR");
    let printed = program.run("fleet template npd").succeeded();
    assert_eq!(printed.json()["plugin"], "custom");
    program
        .run("fleet template nonsense")
        .says(2, "possible values: ");
}

/// What Slurm is told by its health check, if the node has this reason and the check says this.
fn told_slurm(reason: &str, line: &str, code: i32) -> String {
    told_slurm_of([0, 0], reason, line, code)
}

/// The same, if so many CPUs are allocated before and after the check.
fn told_slurm_of(allocated: [u32; 2], reason: &str, line: &str, code: i32) -> String {
    let (program, folder) = template("slurm-healthcheck");
    let place = program.folder();
    write_program(
        &place.join("scontrol"),
        &format!(
            "test ! -e hangs || exec sleep 1000\ncase $1 in\nshow) printf '%s\\n' 'NodeName=n1 Arch=x86_64' \"   CPUAlloc=$(cat allocated) CPUTot=2\" '{reason}' ;;\n\
             *) echo \"$@\" >> told ;;\nesac"
        ),
    );
    let [before, after] = allocated;
    fs::write(place.join("allocated"), before.to_string()).expect("written");
    if code == 0 {
        fs::write(place.join("drained"), "syscost: not as it should be: x\n").expect("written");
    }
    write_program(
        &place.join("check"),
        &format!(
            "touch checked; echo {after} > allocated; echo '{line}'
            case '{line}' in *hang*) touch hangs ;; esac; exit {code}"
        ),
    );
    let ended = Command::new(folder.join("syscost-healthcheck"))
        .current_dir(place)
        .env("PATH", path_with(place))
        .env("SYSCOST", place.join("check"))
        .env("SLURMD_NODENAME", "n1")
        .env("DRAINED", place.join("drained"))
        .ended();
    assert!(ended.err.is_empty(), "{ended:?}");
    ended.succeeded();
    assert_eq!(place.join("checked").exists(), before == 0);
    let told = fs::read_to_string(place.join("told")).unwrap_or_default();
    if let Some((_, reason)) = told.split_once("State=DRAIN Reason=") {
        let kept = fs::read_to_string(place.join("drained")).expect("it is kept");
        assert_eq!(kept, reason, "what it resumes later");
    }
    told
}

#[test]
fn slurm_drains_what_is_not_as_it_should_be_and_resumes_only_what_this_drained() {
    let ours = "   Reason=syscost: not as it should be: x [root@2026-11-27T12:00:00]";
    let another = "   Reason=bad disk [root@2026-11-27T12:00:00]";
    let like_ours = "   Reason=syscost: ask Eve first [root@2026-11-27T12:00:00]";
    let bad = "not as it should be: x";
    let drained = "update NodeName=n1 State=DRAIN Reason=syscost: not as it should be: x\n";
    assert_eq!(told_slurm("", bad, 1), drained);
    for reason in [ours, another] {
        assert_eq!(told_slurm(reason, bad, 1), "", "it is drained already");
    }
    let resumed = "update NodeName=n1 State=RESUME\n";
    assert_eq!(told_slurm(ours, "as it should be", 0), resumed);
    for reason in ["", another, like_ours] {
        assert_eq!(told_slurm(reason, "as it should be", 0), "");
    }
    for allocated in [[2, 2], [2, 0], [0, 2]] {
        assert_eq!(told_slurm_of(allocated, "", bad, 1), "", "a job is there");
    }
    assert_eq!(told_slurm("", "the controller hangs now", 1), "");
    for code in [2, 3, 127] {
        for reason in ["", ours, another] {
            assert_eq!(told_slurm(reason, "cannot tell: x", code), "", "{code}");
        }
    }
}

#[test]
fn node_health_check_fails_only_what_is_not_as_it_should_be() {
    or_skip!(installed("bash"));
    let (program, folder) = template("slurm-healthcheck");
    let place = program.folder();
    let said = |code: i32| -> Ended {
        write_program(
            &place.join("check"),
            &format!("echo \"line $4\"; exit {code}"),
        );
        // As NHC defines it: what is wrong, for the mark on the node.
        let script = "function die() { shift; echo \"died: $*\"; }; . ./syscost.nhc; check_syscost base; echo $?";
        Command::new("bash")
            .args(["-c", script])
            .current_dir(&folder)
            .env("SYSCOST", place.join("check"))
            .ended()
    };
    assert_eq!(said(1).out, "died: check_syscost:  line base\n1\n");
    for code in [0, 2, 3] {
        assert_eq!(said(code).out, "0\n", "{code}");
    }
}

#[test]
fn node_problem_detector_calls_what_there_is_and_keeps_all_that_is_said() {
    let (program, folder) = template("npd");
    let text = fs::read(folder.join("syscost-check.json")).expect("written");
    let config: Value = serde_json::from_slice(&text).expect("JSON");
    let (rule, settings) = (&config["rules"][0], &config["pluginConfig"]);
    assert_eq!(rule["condition"], config["conditions"][0]["type"]);
    let seconds = |value: &Value| -> u32 {
        let text = value.as_str().and_then(|text| text.strip_suffix('s'));
        text.expect("seconds").parse().expect("a number")
    };
    // It refuses a rule that may take longer than all of them; the check takes up to 20 s.
    assert!(seconds(&rule["timeout"]) <= seconds(&settings["timeout"]));
    assert!(seconds(&rule["timeout"]) > 20);
    let mut command = program.command("");
    for argument in rule["args"].list() {
        let argument = argument.text();
        // There is no baseline where it is expected on a node.
        let is_file = argument.starts_with('/');
        command.arg(if is_file { "/no/baseline" } else { argument });
    }
    let ended = command.ended();
    assert_eq!(ended.code, Some(2), "unknown to it: {ended:?}");
    let most = settings["max_output_length"].as_u64().expect("a number");
    assert!(ended.out.trim_end().len() as u64 <= most, "{ended:?}");
    assert!(ended.out.starts_with("could not measure: "), "{ended:?}");
}

#[test]
fn kubernetes_accepts_its_objects() {
    or_skip!(installed("kubernetes-validate"));
    let (_program, folder) = template("kubernetes");
    let validate = |path: &Path| {
        let mut command = Command::new("kubernetes-validate");
        command.args(["--strict", "--quiet"]).arg(path).ended()
    };
    let path = folder.join("syscost-daemonset.yaml");
    validate(&path).succeeded();
    // It would notice.
    let text = fs::read_to_string(&path).expect("written");
    fs::write(&path, text.replace("drop: [ALL]", "dorp: [ALL]")).expect("written");
    assert_ne!(validate(&path).code, Some(0));
}

#[test]
#[ignore = "machine suite"]
fn reframe_runs_its_tests() {
    or_skip!(installed("reframe"));
    let (program, folder) = template("reframe");
    let binary = Path::new(env!("CARGO_BIN_EXE_syscost"));
    let ended = Command::new("reframe")
        .args(["--nocolor", "--run", "--performance-report", "--checkpath"])
        .arg(folder.join("syscost_reframe.py"))
        .current_dir(program.folder())
        .env("PATH", path_with(binary.parent().expect("a folder")))
        .env("TMPDIR", program.temporary())
        .env("HOME", program.folder())
        // Whatever the hour: what was measured on shared cores is no performance variable.
        .env(CORES, "own")
        .ended()
        .succeeded();
    ended.prints("syscall.null{call=getppid}");
    let skipped = "1 skipped";
    assert!(ended.out.contains(skipped), "without a baseline: {ended:?}");
}

#[test]
fn systemd_finds_no_fault_with_its_units() {
    or_skip!(installed("systemd-analyze"));
    let (_program, folder) = template("systemd");
    for unit in [
        "syscost-run.service",
        "syscost-run.timer",
        "syscost-cores.service",
    ] {
        let path = folder.join(unit);
        let text = fs::read_to_string(&path).expect("written");
        let installed = text.replace("/usr/local/bin/syscost", env!("CARGO_BIN_EXE_syscost"));
        fs::write(&path, installed).expect("ours");
    }
    let mut analyze = Command::new("systemd-analyze");
    analyze.arg("verify").current_dir(&folder);
    analyze.args([
        "./syscost-run.service",
        "./syscost-run.timer",
        "./syscost-cores.service",
    ]);
    let ended = analyze.ended().succeeded();
    assert!(!ended.err.contains("syscost-"), "{ended:?}");
}
