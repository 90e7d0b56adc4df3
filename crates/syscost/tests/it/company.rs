//! Other programs that compete for the CPUs may cost a row its precision, but not its credibility.

use std::process::{Child, Command, Stdio};
use std::thread;

use syscost_sys::cpu;

use crate::common::{Json, Program, rows};

/// Rows that were once withheld beside busy loops, although all their claims were true.
const WITHHELD_ONCE: &str = "switch.yield{cpus=same} memory.munmap{size=1M} task.fork \
     sync.futex_wake{cpus=same} memory.core_to_core ipc.round_trip{cpus=same_cache}";

/// Processes that keep all CPUs busy until they are dropped, one on each.
pub(crate) struct Load(Vec<Child>);

impl Load {
    pub(crate) fn new() -> Self {
        let on = |cpu| {
            // What a thread starts stays where the thread is.
            let start = move || {
                cpu::pin(cpu).expect("it is allowed");
                Command::new("sh")
                    .args(["-c", "while :; do :; done"])
                    .stdin(Stdio::null())
                    .spawn()
                    .expect("a shell")
            };
            thread::spawn(start).join().expect("no panic")
        };
        let cpus = cpu::allowed().expect("the kernel says which");
        Self(cpus.into_iter().map(on).collect())
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[test]
#[ignore = "machine suite"]
fn busy_loops_refute_no_row() {
    let program = Program::new();
    let load = Load::new();
    let document = program.json(&format!(
        "run --profile quick --no-save --format json -o - {WITHHELD_ONCE}"
    ));
    drop(load);
    let rows = rows(&document);
    assert!(!rows.is_empty());
    for row in rows {
        assert_ne!(row["status"], "withheld", "{row:#}");
    }
}

#[test]
#[ignore = "machine suite"]
fn busy_loops_hide_no_lie() {
    let load = Load::new();
    let report = Program::new().run("selftest --format json");
    drop(load);
    let report = report.json();
    for negative in report["liars"].list() {
        assert_ne!(negative["outcome"], "fail", "{negative}");
    }
}
