//! What the parent and the container leave to this program must not decide what it measures.

use crate::common::{Json, Program, or_skip, row, rows};
use serde_json::{Value, json};

/// A run of these rows, started from a shell script in which it is `$run`.
fn run(script: &str, selectors: &str) -> Result<Value, String> {
    let program = Program::new();
    let run = "\"$syscost\" run --profile quick --no-save --format json";
    let budget = if script.contains("--budget") {
        ""
    } else {
        " --budget 20"
    };
    let script = script.replace("$run", &format!("{run}{budget} {selectors}"));
    let output = program.script(&["bash"], &script)?;
    if output.out.is_empty() && output.err.contains("skip") {
        return Err(output.err);
    }
    Ok(output.ran().json())
}

fn all_have_numbers(run: &Value) {
    for row in rows(run) {
        let status = row["status"].as_str().unwrap_or_default();
        assert!(!matches!(status, "failed" | "withheld"), "{row}");
    }
}

#[test]
#[ignore = "machine suite"]
fn a_parent_that_ignores_the_end_of_children_changes_nothing() {
    let run = or_skip!(run("trap '' CHLD; exec $run", "syscall.umask task.vfork"));
    all_have_numbers(&run);
}

#[test]
#[ignore = "machine suite"]
fn signals_that_the_parent_blocks_are_not_blocked_here() {
    let script =
        "env --block-signal true 2>/dev/null || { echo skip: no env --block-signal >&2; exit; }
                  exec env --block-signal $run";
    let run = or_skip!(run(
        script,
        "signal.catch signal.mask signal.protection_fault"
    ));
    all_have_numbers(&run);
}

#[test]
fn a_niced_run_says_so() {
    // A little: at the end of the scale it would wait for everything else on the machine.
    let run = or_skip!(run("exec nice -n 5 $run", "syscall.umask"));
    let seen = run["machine"]["scheduling"].text();
    let nice = seen
        .rsplit("nice ")
        .next()
        .and_then(|nice| nice.parse().ok());
    assert!(nice.is_some_and(|nice: i32| nice != 0), "{seen}");
    let warnings = run["warnings"].list();
    assert!(
        warnings.iter().any(|one| one["code"] == "scheduling"),
        "{warnings:?}"
    );
}

#[test]
#[ignore = "machine suite"]
fn a_parents_timer_slack_is_not_that_of_programs() {
    let script = "echo 20000000 2>/dev/null >/proc/$$/timerslack_ns ||
            { echo skip: no timerslack_ns >&2; exit; }
        exec $run";
    let row_name = "timing.sleep{via=clock_nanosleep,delay=50us,slack=default}";
    let run = or_skip!(run(script, &format!("'{row_name}'")));
    let row = row(&run, row_name);
    assert_eq!(row["details"]["timer_slack_ns"], 50_000.0, "{row}");
    let claims = row["evidence"].list();
    let slack = claims
        .iter()
        .find(|one| one["claim"] == "timer slack in ns");
    assert_eq!(slack.expect("it is claimed")["verdict"], "Confirmed");
}

/// Attaches to a run that has begun to measure.
const LATE_TRACER: &str = "strace -o /dev/null true 2>/dev/null ||
        { echo skip: no strace, or not allowed >&2; exit; }
    $run & child=$!
    until [ \"$(cat syscost/journals/*.journal 2>/dev/null | wc -l)\" -ge 2 ] ||
        ! kill -0 $child 2>/dev/null; do sleep 0.05; done
    strace -f -e trace=none -o /dev/null -p $child 2>/dev/null & wait $child";

#[test]
#[ignore = "machine suite"]
fn what_a_tracer_saw_is_not_confirmed() {
    let run = or_skip!(run(LATE_TRACER, "syscall.null syscall.umask"));
    let warnings = run["warnings"].list();
    assert!(warnings.iter().any(|one| one["code"] == "tracer"));
    let traced = |row: &&Value| {
        let mut evidence = row["evidence"].as_array().into_iter().flatten();
        evidence.any(|one| one["claim"] == "tracers of the process")
    };
    assert!(rows(&run).iter().filter(traced).count() > 0);
}

#[test]
#[ignore = "machine suite"]
fn the_stops_of_a_tracer_refute_no_row() {
    let script = "strace -o /dev/null true 2>/dev/null ||
            { echo skip: no strace, or not allowed >&2; exit; }
        exec strace -f -e trace=wait4 -o /dev/null $run --budget 3";
    let run = or_skip!(run(script, "task.fork switch.pipe signal.catch"));
    for row in rows(&run) {
        assert_ne!(row["status"], "withheld", "{row}");
    }
}

#[test]
#[ignore = "machine suite"]
fn counters_that_a_parent_holds_are_warned_of() {
    let script = "perf stat -o /dev/null true 2>/dev/null ||
            { echo skip: no perf, or not allowed >&2; exit; }
        exec perf stat -o /dev/null -- $run";
    let run = or_skip!(run(script, "syscall.umask"));
    let warnings = run["warnings"].list();
    let found = warnings.iter().find(|one| one["code"] == "perf_events");
    let message = &found.expect("a warning")["message"];
    assert_eq!(
        message,
        "perf, which started this, holds performance counters"
    );
}

/// Loads a library first whose malloc calls the C library's.
const OTHER_MALLOC: &str = "code='void *__libc_malloc(unsigned long); void __libc_free(void *);
        void *malloc(unsigned long n) { return __libc_malloc(n); }
        void free(void *p) { __libc_free(p); }'
    echo \"$code\" | cc -shared -fPIC -xc - -o other.so 2>/dev/null &&
        LD_PRELOAD=$PWD/other.so true 2>/dev/null ||
        { echo skip: no C compiler, or another C library >&2; exit; }
    LD_PRELOAD=$PWD/other.so exec $run";

#[test]
#[ignore = "machine suite"]
fn a_function_that_was_loaded_first_leaves_no_number_a_check_mark() {
    let name = "memory.malloc{size=64,from=heap,touched=no}";
    let run = or_skip!(run(OTHER_MALLOC, &format!("'{name}'")));
    let warnings = run["warnings"].list();
    assert!(warnings.iter().any(|one| one["code"] == "environment"));
    let row = row(&run, name);
    let claim = "functions of the C library that another file replaces";
    let mut evidence = row["evidence"].list().iter();
    // A program that is linked statically loads nothing.
    if let Some(replaced) = evidence.find(|one| one["claim"] == claim) {
        assert_eq!(
            (&row["status"], &replaced["verdict"]),
            (&json!("ok"), &json!("Unverified"))
        );
        let reason = replaced["reason"].text();
        assert!(
            reason.contains("other.so replaces ") && reason.contains("malloc"),
            "{reason}"
        );
    }
}

/// Mounts a /proc that shows processes only, as systemd's ProcSubset=pid does.
const PROCESSES_ONLY: &str =
    "script='mount --make-rprivate / && mount -t proc -o subset=pid proc /proc'
    unshare --mount --pid --fork bash -c \"$script\" 2>/dev/null ||
        { echo skip: no namespaces, or an old kernel >&2; exit; }
    exec unshare --mount --pid --fork bash -c \"$script\"' && exec \"$@\"' inner $run";

#[test]
#[ignore = "machine suite"]
fn a_proc_that_shows_processes_only_costs_no_scratch_files() {
    let rows_of_files = "'fs.read{cache=warm,size=4K}' 'memory.page_fault{kind=file_warm}'";
    let run = or_skip!(run(PROCESSES_ONLY, rows_of_files));
    for row in rows(&run) {
        assert_eq!(row["status"], "ok", "{row}");
    }
    // Runs of one kernel are told from those of another by it.
    let kernel = run["machine"]["kernel"].text();
    assert!(kernel.len() > "Linux ".len(), "{kernel}");
}

#[test]
#[ignore = "machine suite"]
fn without_a_loopback_interface_connections_are_unsupported() {
    let script = "unshare --net true 2>/dev/null || { echo skip: no namespaces >&2; exit; }
                  exec unshare --net $run";
    let selectors = "'syscall.poll{fds=10}' 'net.tcp.round_trip{cpus=same,size=64}'";
    let run = or_skip!(run(script, selectors));
    all_have_numbers(&run);
    let down = row(&run, "syscall.poll{of=tcp,ready=first,fds=10}");
    assert_eq!(down["status"], "unsupported", "{down}");
}

/// Hides this process's own /proc: it is that of the namespace outside.
const FOREIGN_PROC: &str = "unshare --pid --fork true 2>/dev/null ||
        { echo skip: no namespaces >&2; exit; }
    exec unshare --pid --fork $run";

#[test]
#[ignore = "machine suite"]
fn another_namespaces_proc_is_no_evidence() {
    // Numbers of processes are those of others there: their switches, namespaces and CPUs.
    let selectors = "switch.futex 'task.namespace{op=setns,kind=uts}' memory.page_fault";
    let run = or_skip!(run(FOREIGN_PROC, selectors));
    all_have_numbers(&run);
    for row in rows(&run) {
        if row["status"] == "unsupported" {
            let reason = row["reason"].text();
            assert!(!reason.contains("open /proc/"), "{row}");
        }
    }
}

/// Shows another list of CPUs than the ones that may be used, as lxcfs does.
const ANOTHERS_CPUS: &str = "last=$(taskset -cp $$ | sed 's/.*[-,: ]//')
    [ \"$last\" != 0 ] && echo 0 >online && unshare --mount true 2>/dev/null ||
        { echo skip: one CPU, or no namespaces >&2; exit; }
    export last; exec unshare --mount bash -c '
        mount --make-rprivate / && mount --bind online /sys/devices/system/cpu/online &&
        exec taskset -c $last \"$@\"' inner";

#[test]
#[ignore = "machine suite"]
fn a_cpu_that_the_list_of_those_online_lacks_is_still_ones_own() {
    let script = format!("{ANOTHERS_CPUS} $run");
    let run = or_skip!(run(
        &script,
        "syscall.umask 'ipc.round_trip{via=pipe,size=1}'"
    ));
    all_have_numbers(&run);
    assert_eq!(run["machine"]["cpus_allowed"], 1);
    let program = Program::new();
    for command in ["list", "explain ipc.round_trip", "doctor"] {
        let script = format!("{ANOTHERS_CPUS} \"$syscost\" {command}");
        let output = program.script(&["bash"], &script).expect("it ran before");
        output.succeeded();
    }
}

#[test]
#[ignore = "machine suite"]
fn a_cpu_outside_of_the_first_set_is_measured_when_it_is_named() {
    let script = "last=$(taskset -cp $$ | sed 's/.*[-,: ]//')
                  [ \"$last\" != 0 ] || { echo skip: one CPU >&2; exit; }
                  exec taskset -c 0 $run --cpus $last";
    let run = or_skip!(run(script, "syscall.umask"));
    assert_ne!(run["config"]["cpus"], serde_json::json!([0]));
    all_have_numbers(&run);
}

/// Takes the last CPU away from the run while it measures.
const SHRINKING: &str = "last=$(taskset -cp $$ | sed 's/.*[-,: ]//'); [ \"$last\" != 0 ] ||
        { echo skip: one CPU >&2; exit; }
    group=$(mktemp -d /sys/fs/cgroup/cpuset/syscost-test-XXXXXX 2>/dev/null ||
            mktemp -d /sys/fs/cgroup/syscost-test-XXXXXX 2>/dev/null) ||
        { echo skip: no control groups >&2; exit; }
    trap 'rmdir $group' EXIT
    [ -e $group/cpuset.mems ] && cat ${group%/*}/cpuset.mems >$group/cpuset.mems 2>/dev/null
    echo 0-$last 2>/dev/null >$group/cpuset.cpus || { echo skip: no sets of CPUs >&2; exit; }
    (echo $BASHPID >$group/cgroup.procs; exec $run) & child=$!
    until [ \"$(cat syscost/journals/*.journal 2>/dev/null | wc -l)\" -ge 6 ] ||
        ! kill -0 $child 2>/dev/null; do sleep 0.1; done
    echo 0 >$group/cpuset.cpus
    wait $child; code=$?; exit $code";

#[test]
#[ignore = "machine suite"]
fn a_set_of_cpus_that_shrinks_in_mid_run_costs_no_rows() {
    let run = or_skip!(run(SHRINKING, "syscall.null syscall.stat syscall.select"));
    let warnings = run["warnings"].list();
    assert!(
        warnings.iter().any(|one| one["code"] == "cpus"),
        "{warnings:?}"
    );
    let measured = row(&run, "syscall.null{call=getppid}");
    assert_eq!(measured["status"], "ok", "{measured}");
}

#[test]
#[ignore = "machine suite"]
fn a_crash_on_purpose_leaves_no_core_file() {
    let program = Program::new();
    let pattern = std::fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap_or_default();
    if pattern.contains(['/', '|']) {
        return println!("skipped: core files go elsewhere: {pattern}");
    }
    let script = "ulimit -c unlimited; \"$syscost\" selftest >out 2>&1; ls";
    let output = or_skip!(program.script(&["bash"], script));
    assert!(!output.out.contains("core"), "{}", output.out);
}

#[test]
fn too_little_address_space_is_said_and_no_abort() {
    let program = Program::new();
    let script = "ulimit -v 90000; exec \"$syscost\" list";
    let output = or_skip!(program.script(&["bash"], script));
    output.says(1, "limited to 87 MiB (ulimit -v)");
}
