//! The self-test's negative controls: benchmarks that lie, each in its own way. `syscost selftest`
//! must catch every one of them. The group's and the rows' names, `liar.`, are identities and stay.

mod memory;
mod messages;
mod tasks;
mod work;

use syscost_harness::prelude::*;
use syscost_results::Status;

/// A benchmark that lies.
pub struct NegativeControl {
    /// Its id, which is the name of its row.
    pub id: &'static str,
    /// The status that it must get.
    pub expected: Status,
    /// What it needs; where this is missing, it may say so.
    pub needs: &'static [Need],
}

/// What not every machine has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Two CPUs.
    TwoCpus,
    /// Room for a file of [`FILE_BYTES`].
    File,
}

/// Size of the file that some write, in bytes.
pub const FILE_BYTES: u64 = 256 << 10;

/// The group and its controls. Each has a name, the status that it must get, what it needs, what it
/// does, and what must become of it; its source, if there is more to say of it than that it is made up.
macro_rules! controls {
    ($($name:literal = $family:ident::$lie:ident, $status:ident $(needs $need:ident)?:
       $does:literal, $must:literal $(, $source:literal)?;)+) => {
        pub(crate) const GROUP: Group = Group {
            name: "liar",
            title: "benchmarks that lie",
            source: doc!("mod.rs"),
            benchmarks: &[$($family::$lie.named(
                concat!("liar.", $name),
                concat!(
                    "//! ", $does,
                    "\n//!\n//! ## Measures\n//! Whether the harness believes it.",
                    "\n//! ## Does not measure\n//! What it claims.",
                    "\n//! ## Interpretation\n//! ", $must,
                    "\n//! ## Source\n//! None: it is made up", controls!(@rest $($source)?),
                ),
            )),+],
            hidden: true,
        };

        /// Each negative control, in the order of the group.
        pub const NEGATIVE_CONTROLS: &[NegativeControl] = &[$(NegativeControl {
            id: concat!("liar.", $name),
            expected: Status::$status,
            needs: &[$(Need::$need)?],
        }),+];
    };
    (@rest) => { "." };
    (@rest $source:literal) => { $source };
}

controls! {
    "nothing" = work::NOTHING, Withheld:
        "Claims getppid and calls nothing.",
        "It must be withheld: the audit counts no call.";
    "vdso" = work::VDSO, Withheld:
        "Presents a clock reading through the vDSO as a system call.",
        "It must be withheld: the audit counts no call.";
    "fails_later" = work::FAILS_LATER, Failed:
        "Succeeds once and fails, quickly, from then on.",
        "It must fail: a failing operation does not count as a fast one.";
    "folded" = work::FOLDED, Withheld:
        "Sums in a loop that the compiler has replaced by a formula.",
        "It must be withheld: its time does not grow with its work.";
    "sleeps" = work::SLEEPS, Withheld:
        "Claims to compute and sleeps.",
        "It must be withheld: it gives up its CPU.";
    "faults" = memory::FAULTS, Withheld:
        "Claims plain stores to memory that it touches for the first time.",
        "It must be withheld: page faults are counted.";
    "not_huge" = memory::NOT_HUGE, Withheld:
        "Claims huge pages, and has small ones.",
        "It must be withheld: there is one fault for each length of a huge page, as there should \
         be, but the kernel shows no huge pages.",
        ".\n//!\n//! Except for its memory it is `memory.page_fault{kind=huge}`.";
    "warm_file" = memory::WARM_FILE, Withheld needs File:
        "Claims faults that read from a device, for a file that is in the page cache.",
        "It must be withheld: no fault waits for a device.",
        ".\n//!\n//! Except for the page cache, which keeps the file, it is \
         `memory.page_fault{kind=file_cold}`.";
    "buffered_file" = memory::BUFFERED_FILE, Withheld needs File:
        "Claims direct reads of a file that is open without O_DIRECT.",
        "It must be withheld: the reads go through the page cache.",
        ".\n//!\n//! Except for how the file is opened it is `fs.read{cache=direct}`, in a file of \
         the folder for temporary files.";
    "wrong_sum" = work::WRONG_SUM, Withheld:
        "An assembly kernel whose checksum does not fit the operations it claims.",
        "It must be withheld: the checksum reveals it.";
    "spins" = tasks::SPINS, Withheld needs TwoCpus:
        "Claims to switch and spins.",
        "It must be withheld: two tasks on two CPUs pass a word back and forth without ever \
         sleeping, and nothing is switched.";
    "elsewhere" = tasks::ELSEWHERE, Withheld needs TwoCpus:
        "Claims that both tasks share a CPU, and lets one go elsewhere.",
        "It must be withheld: calls and switches are as claimed, but the partner is seen on \
         another CPU.";
    "yields_alone" = tasks::YIELDS_ALONE, Withheld:
        "Claims to switch by yielding, without another task to yield to.",
        "It must be withheld: sched_yield is called as often as claimed, but the two switches, to \
         a partner and back, do not happen. Even if another program is switched to, only this \
         task's own switches are counted: one at most.",
        ", as many old measurements of switches were.";
    "yields_often" = tasks::YIELDS_OFTEN, Withheld:
        "Claims one switch for eight yields.",
        "It must be withheld: a yield is an involuntary switch like a preemption by another \
         program, but no other program preempts as often.",
        ".\n//!\n//! Except for what it calls an operation it is `switch.yield`.";
    "drops" = messages::DROPS, Failed:
        "A queue that loses every hundredth message, and claims the bandwidth of all.",
        "It must fail: the partner finds that a message is missing.";
    "discards" = messages::DISCARDS, Withheld:
        "A receiver that discards what arrives, uncopied, and claims to have received it.",
        "It must be refuted: the bytes are as many as were sent, but the receiver does not know \
         their content.",
        ". recv(2) with MSG_TRUNC discards a stream's bytes.";
    "empty_echo" = messages::EMPTY_ECHO, Withheld:
        "An echo that answers with as many bytes as it received, but not with those bytes.",
        "It must be refuted: what comes back lacks the nonce of the message.";
    "full_backlog" = messages::FULL_BACKLOG, Withheld:
        "Connections to a listener that accepts none of them, and whose backlog overflows.",
        "It must be refuted: the far end has accepted none, and the kernel has counted the \
         overflows.";
    "skips_lines" = memory::SKIPS_LINES, Withheld:
        "A pointer chase whose cycle leaves out half of the memory that it claims to go through.",
        "It must be withheld: a walk around the cycle finds too few lines.";
    "untouched" = memory::UNTOUCHED, Withheld:
        "Memory that was never written, presented as resident: every read finds the kernel's zero \
         page.",
        "It must be withheld: the kernel says that nothing of it is resident.";
    "crash" = work::CRASH, Failed:
        "Kills its own process.",
        "It must fail, and cost no other row.";
    "hang" = work::HANG, Failed:
        "Never returns.",
        "It must fail when its time is up.";
    "fork_fails" = tasks::FORK_FAILS, Failed:
        "Forks with flags that the kernel refuses.",
        "It must fail: no child was made, however fast that went.",
        ".\n//!\n//! Except for its flags it is the call by which `task.posix_spawn` makes a process.";
    "exec_missing" = tasks::EXEC_MISSING, Failed:
        "Executes a program that does not exist, and calls it a success.",
        "It must fail: processes were made, ended well and had ids of their own, but the \
         program's marker was never left.",
        ".\n//!\n//! Except for the program's name and its child's status it is `task.exec`.";
}
