//! `syscost fleet run` on clusters of several hosts on this machine.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::Value;

use crate::common::{Ended, Ending, Json, Program, RUN, or_skip};
use crate::fleet::ansible::Reached;
use crate::fleet::slurm::Cluster;
use crate::fleet::until;

/// What became of nodes, as `fleet.json` has it.
fn states(folder: &Path) -> Vec<(String, String)> {
    let text = fs::read(folder.join("fleet.json")).expect("the journal");
    let journal: Value = serde_json::from_slice(&text).expect("JSON");
    let nodes = journal["nodes"].as_object().expect("nodes");
    let of = |(name, node): (&String, &Value)| (name.clone(), node["state"].text().to_owned());
    nodes.iter().map(of).collect()
}

/// The names of the documents that are kept.
fn documents(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder.join("nodes"))
        .expect("a folder")
        .flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names
        .filter_map(|name| Some(name.strip_suffix(".json.gz")?.to_owned()))
        .collect();
    names.sort();
    names
}

/// Starts a collection whose output is kept.
fn started(mut command: Command) -> Child {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command.spawn().expect("it starts")
}

fn ended(child: Child) -> Ended {
    child.wait_with_output().expect("it ends").into()
}

/// Asserts that nobody else can read what is there.
fn assert_private(path: &Path) {
    let mode = fs::metadata(path).expect("there").permissions().mode() & 0o777;
    let expected = if path.is_dir() { 0o700 } else { 0o600 };
    assert_eq!(mode, expected, "{}", path.display());
    if path.is_dir() {
        for entry in fs::read_dir(path).expect("readable").flatten() {
            assert_private(&entry.path());
        }
    }
}

#[test]
#[ignore = "machine suite"]
fn a_node_that_dies_costs_no_other_and_is_measured_when_resumed() {
    let mut cluster = or_skip!(Cluster::new(8));
    let folder = cluster.shared().join("kept");
    // What a dead node leaves goes with the cluster.
    let scratch = cluster.shared().display().to_string();
    let line = format!("fleet run syscall.null --budget 10 -o kept --scratch {scratch}");
    let child = started(cluster.syscost(&line));
    until("a run on n5", || {
        let running = cluster.hosts.running("n5");
        running.iter().any(|line| line.contains("/syscost run"))
    });
    cluster.hosts.kill("n5");
    let ended = ended(child).says(1, "7 of 8 nodes gave a document");
    assert!(
        ended.err.contains("n5") && ended.err.contains("NODE_FAIL"),
        "{}",
        ended.err
    );
    assert_eq!(
        documents(&folder),
        ["n1", "n2", "n3", "n4", "n6", "n7", "n8"]
    );
    assert_private(&folder);
    // While it is down it is named, and not waited for.
    let ended = cluster
        .syscost("fleet run --nodes n5,x1 syscall.null -o other")
        .ended();
    let ended = ended.says(4, "0 of 2 nodes");
    assert!(
        ended.err.contains("n5: down") && ended.err.contains("x1: Slurm has no such node"),
        "{}",
        ended.err
    );
    cluster.start("n5");
    until("n5 is idle", || {
        cluster
            .ask("sinfo --noheader --nodes=n5 --format=%T")
            .out
            .trim()
            == "idle"
    });
    let before = fs::metadata(folder.join("nodes/n1.json.gz"))
        .expect("there")
        .modified()
        .ok();
    cluster
        .syscost("fleet run --resume kept")
        .ended()
        .says(0, "8 of 8 nodes gave a document");
    assert_eq!(documents(&folder).len(), 8);
    let after = fs::metadata(folder.join("nodes/n1.json.gz"))
        .expect("there")
        .modified()
        .ok();
    assert_eq!(before, after, "n1 is not measured again");
    assert!(states(&folder).iter().all(|(_, state)| state == "done"));
    assert_eq!(
        fs::read_dir(folder.join("arriving"))
            .expect("there")
            .count(),
        0
    );
    // What they hold is of the nodes.
    let program = Program::new();
    let document = program.json(&format!(
        "show {} --format json",
        folder.join("nodes/n3.json.gz").display()
    ));
    assert_eq!(document["machine"]["hostname"], "n3");
    let warnings = document["warnings"].list();
    assert!(
        warnings
            .iter()
            .all(|warning| warning["code"] != "journal_lost"),
        "{warnings:?}"
    );
}

#[test]
#[ignore = "machine suite"]
fn ctrl_c_cancels_what_was_submitted_and_nothing_else() {
    let cluster = or_skip!(Cluster::new(2));
    fs::write(cluster.shared().join("job"), "#!/bin/sh\nsleep 60\n").expect("written");
    let foreign = cluster
        .ask("sbatch --parsable --exclusive --nodelist=n2 job")
        .succeeded();
    let mut command = cluster.syscost("fleet run syscall.null --budget 60 -o kept");
    command.process_group(0);
    let child = started(command);
    until("a run on n1", || {
        let running = cluster.hosts.running("n1");
        running.iter().any(|line| line.contains("/syscost run"))
    });
    // As a terminal does: with all that it has started.
    kill_process_group(Pid::from_child(&child), Signal::INT).expect("it runs");
    ended(child).says(130, "0 of 2 nodes gave a document");
    assert_eq!(
        cluster
            .ask("squeue --noheader --states=pending,running --format=%i")
            .out
            .trim(),
        foreign.out.trim()
    );
    assert!(
        states(&cluster.shared().join("kept"))
            .iter()
            .all(|(_, state)| state == "waiting")
    );
    // A node that stays busy is given up on, if one says so.
    let ended = cluster
        .syscost("fleet run --nodes n2 syscall.null --wait 2 -o other")
        .ended();
    ended.says(4, "did not start in time");
    assert_eq!(
        cluster
            .ask("squeue --noheader --states=pending,running --format=%i")
            .out
            .trim(),
        foreign.out.trim()
    );
}

#[test]
#[ignore = "machine suite"]
fn a_hostile_node_harms_nobody() {
    let cluster = or_skip!(Cluster::new(5));
    let shared = cluster.shared();
    let script = format!(
        r#"#!/bin/sh
for last; do :; done
case $SLURMD_NODENAME in
n1) head -c 300000000 /dev/zero | gzip > "$last" ;;
n2) cp {RUN} "$last" ;;
n3) mkfifo arriving/n3.json.gz ;;
n4) printf 'error: \033[2J<script>alert(1)</script>\n' >&2; exit 3 ;;
n5) ln -s /etc/passwd arriving/n5.json.gz ;;
esac
"#
    );
    let linked = fs::read("/etc/passwd").expect("there");
    let evil = shared.join("evil");
    fs::write(&evil, script).expect("written");
    fs::set_permissions(&evil, fs::Permissions::from_mode(0o700)).expect("ours");
    let ended = cluster
        .syscost("fleet run syscall.null --binary evil -o kept")
        .ended();
    let ended = ended.says(4, "0 of 5 nodes gave a document");
    assert!(!ended.err.contains("\u{1b}[2J"), "{}", ended.err);
    let folder = shared.join("kept");
    assert_eq!(documents(&folder), [""; 0]);
    let text = fs::read(folder.join("fleet.json")).expect("the journal");
    let journal: Value = serde_json::from_slice(&text).expect("JSON");
    for (node, words) in [
        ("n1", "unpack to more than"),
        ("n2", "it is of the machine"),
        ("n3", "not a regular file"),
        ("n4", "exit code 3:0"),
        ("n5", "not a regular file"),
    ] {
        let reason = journal["nodes"][node]["reason"]
            .as_str()
            .unwrap_or_default();
        assert!(reason.contains(words), "{node}: {reason}");
    }
    assert_eq!(fs::read("/etc/passwd").expect("there"), linked);
}

#[test]
#[ignore = "machine suite"]
fn scripts_are_shown_and_nothing_is_done() {
    let cluster = or_skip!(Cluster::new(2));
    let shown = cluster
        .syscost("fleet run syscall.null --dry-run -o kept")
        .ended()
        .succeeded();
    // One script, and who else is given it.
    assert_eq!(shown.out.matches("sbatch ").count(), 1, "{}", shown.out);
    shown.prints("--nodelist=n1");
    shown.prints("# likewise on n2\n");
    shown.prints("--partition=all");
    shown.prints("'syscall.null'");
    assert!(!cluster.shared().join("kept").exists());
    assert_eq!(cluster.ask("squeue --noheader").out, "");
}

#[test]
#[ignore = "machine suite"]
fn ansible_measures_who_is_reached_names_who_is_not_and_cleans_up() {
    let reached = or_skip!(Reached::new(3));
    let folder = reached.hosts.folder().join("kept");
    let ended = reached
        .syscost("fleet run -i inventory syscall.null --budget 3 -o kept")
        .ended();
    let ended = ended.says(1, "3 of 4 nodes gave a document");
    assert!(ended.err.contains("n4: Failed to connect"), "{}", ended.err);
    assert_eq!(documents(&folder), ["n1", "n2", "n3"]);
    assert_private(&folder);
    fs::remove_file(folder.join("nodes/n2.json.gz")).expect("there");
    // Only n2 and n4 are asked again; n2 is broken off.
    let child = started(reached.syscost("fleet run --resume kept"));
    let scratch = scratch_on_n2(&reached);
    kill_process(Pid::from_child(&child), Signal::INT).expect("it runs");
    ended_interrupted(child);
    assert!(!Path::new(&scratch).exists(), "{scratch} is left");
    assert!(
        reached
            .hosts
            .running("n2")
            .iter()
            .all(|line| !line.contains("/syscost run"))
    );
    assert_eq!(documents(&folder), ["n1", "n3"]);
    // What is left when nobody could clean up goes first.
    let child = started(reached.syscost("fleet run --resume kept"));
    let scratch = scratch_on_n2(&reached);
    reached.hosts.kill("hub");
    child.wait_with_output().expect("it ends");
    assert!(Path::new(&scratch).exists());
    let ended = reached.syscost("fleet run --resume kept").ended();
    ended.says(1, "3 of 4 nodes gave a document");
    assert!(!Path::new(&scratch).exists(), "{scratch} is left");
}

#[test]
#[ignore = "machine suite"]
fn each_host_is_brought_the_program_for_its_processor() {
    let reached = or_skip!(Reached::new(2));
    let folder = reached.hosts.folder();
    let script = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).expect("ours");
    };
    fs::create_dir(folder.join("n2")).expect("made");
    script("n2/uname", "echo riscv64");
    script("any", &format!("for last; do :; done; cp {RUN} \"$last\""));
    let own = env!("CARGO_BIN_EXE_syscost");
    let line =
        format!("fleet run -i inventory --nodes n1,n2 syscall.null --budget 3 --binary {own}");
    let ended = reached.syscost(&format!("{line} -o one")).ended();
    let ended = ended.says(1, "1 of 2 nodes gave a document");
    let said = ended.err.split_whitespace().collect::<Vec<_>>().join(" ");
    let reason = format!(
        "no program for riscv64, only for {}",
        std::env::consts::ARCH
    );
    assert!(said.contains(&reason), "{said}");
    reached
        .syscost(&format!("{line} --binary any -o both"))
        .ended()
        .says(0, "2 of 2 nodes gave a document");
    let ended = reached
        .syscost(&format!("{line} --binary {own} -o twice"))
        .ended();
    ended.says(2, "are both for");
}

/// The directory of the run on n2, once it has begun.
fn scratch_on_n2(reached: &Reached) -> String {
    let mut scratch = None;
    until("a run on n2", || {
        let running = reached.hosts.running("n2");
        let run = running.iter().find(|line| line.contains("-n2/syscost run"));
        scratch = run.and_then(|line| {
            let mut words = line.split_whitespace();
            words.find_map(|word| word.strip_suffix("/syscost").map(str::to_owned))
        });
        scratch.is_some()
    });
    let scratch = scratch.expect("it is waited for");
    assert!(Path::new(&scratch).exists());
    scratch
}

fn ended_interrupted(child: Child) {
    ended(child).says(130, "2 of 4 nodes gave a document");
}

#[test]
fn what_is_missing_is_said() {
    let program = Program::new();
    for (arguments, words) in [
        ("fleet run", "apt install slurm-client"),
        ("fleet run -i hosts", "apt install ansible-core"),
    ] {
        let mut command = program.command(arguments);
        command
            .env("PATH", program.folder())
            .current_dir(program.folder());
        command.ended().says(1, words);
    }
    program.run("fleet run no.such_row").says(2, "no.such_row");
    program
        .run("fleet run --resume /no/such/folder")
        .says(1, "/no/such/folder/fleet.json");
}
