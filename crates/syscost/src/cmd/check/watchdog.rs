//! Ends the program before its time is up, whatever it hangs in: a file on a server that is gone,
//! a disk that does not answer.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

/// When it bites: early enough that the program has ended within 20 s.
const BITES: Duration = Duration::from_secs(19);

/// How long an answer may take to be written.
const WRITING: Duration = Duration::from_millis(500);

/// A thread that answers if nobody else does.
pub(super) struct Watchdog {
    is_answered: Arc<AtomicBool>,
}

impl Watchdog {
    /// Starts it; `answer` makes what it prints and the exit code of a reason.
    pub(super) fn start(
        begun: Instant,
        answer: impl FnOnce(String) -> (String, u8) + Send + 'static,
    ) -> Self {
        let is_answered = Arc::new(AtomicBool::new(false));
        let answered = Arc::clone(&is_answered);
        let watch = move || {
            thread::sleep(BITES.saturating_sub(begun.elapsed()));
            let (text, code) = answer(format!("no answer within {} s", BITES.as_secs()));
            if !answered.swap(true, Ordering::SeqCst) {
                let (is_written, written) = mpsc::channel();
                thread::spawn(move || {
                    let _ = std::io::stdout().write_all(text.as_bytes());
                    let _ = is_written.send(());
                });
                // A pipe that nobody reads must not hold it.
                let _ = written.recv_timeout(WRITING);
            }
            std::process::exit(i32::from(code));
        };
        // Without a thread there is no watchdog; what is measured has a deadline of its own.
        let _ = thread::Builder::new().spawn(watch);
        Self { is_answered }
    }

    /// Whether it has begun to answer; if not, it leaves that to the caller.
    pub(super) fn is_too_late(&self) -> bool {
        self.is_answered.swap(true, Ordering::SeqCst)
    }
}
