//! Two pinned threads that pass a cache line back and forth.

use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use syscost_harness::prelude::*;
use syscost_sys::{arch, cpu};

/// Number of exchanges.
const EXCHANGES: usize = 1000;

/// Time limit, after which fewer exchanges are accepted.
const PATIENCE: Duration = Duration::from_millis(200);

/// The counter at the question, the other processor's counter at its answer, and the counter when
/// the answer had arrived.
pub(super) type Exchange = [u64; 3];

/// The line that is passed back and forth; alone on its pair of lines, which processors fetch together.
#[derive(Default)]
#[repr(align(128))]
struct Line {
    /// If odd, it is the other side's turn to answer.
    turn: AtomicU64,
    stamp: AtomicU64,
}

/// The exchanges between two threads, and the processors that they were on in the end.
pub(super) fn exchange(from: u32, to: u32) -> Result<(Vec<Exchange>, [u32; 2]), Failure> {
    let line = Line::default();
    let end = Instant::now() + PATIENCE;
    let ready = Barrier::new(2);
    let panicked = |_| Failure::Failed("a thread of the exchange panicked".into());
    // Separate threads, so that the measuring one stays where it is pinned; the first starts the
    // second, so that the measuring one sleeps meanwhile.
    let (asked, answered) = thread::scope(|scope| {
        let asking = scope.spawn(|| {
            let answering = scope.spawn(|| on(to, &ready, || line.answer(end)));
            let asked = on(from, &ready, || line.ask(end));
            line.turn.store(OVER, Ordering::Release);
            (asked, answering.join().map_err(panicked))
        });
        asking.join().map_err(panicked)
    })?;
    let ((exchanges, from_seen), ((), to_seen)) = (asked?, answered??);
    if exchanges.is_empty() {
        let what = format!("processors {from} and {to} did not run at the same time");
        return Err(Failure::Failed(what));
    }
    Ok((exchanges, [from_seen, to_seen]))
}

/// Runs `side` pinned to this processor, when the other side is ready too; also returns the
/// processor that it was on in the end.
fn on<T>(number: u32, ready: &Barrier, side: impl FnOnce() -> T) -> Result<(T, u32), Failure> {
    let pinned = cpu::pin(number);
    // Sleeping, so that a thread that spins does not keep the other from leaving its processor.
    ready.wait();
    pinned.map_err(|error| Failure::Unsupported(error.to_string()))?;
    let result = side();
    let seen = cpu::current();
    Ok((result, seen))
}

/// The turn after the last.
const OVER: u64 = u64::MAX;

impl Line {
    fn ask(&self, end: Instant) -> Vec<Exchange> {
        let mut exchanges = Vec::with_capacity(EXCHANGES);
        for turn in (0..EXCHANGES as u64).map(|number| 2 * number + 1) {
            let sent = arch::cycle_counter_fenced();
            self.turn.store(turn, Ordering::Release);
            if !self.wait_for(turn + 1, end) {
                break;
            }
            let received = arch::cycle_counter_fenced();
            exchanges.push([sent, self.stamp.load(Ordering::Relaxed), received]);
        }
        exchanges
    }

    fn answer(&self, end: Instant) {
        let mut turn = 1;
        while self.wait_for(turn, end) {
            self.stamp
                .store(arch::cycle_counter_fenced(), Ordering::Relaxed);
            self.turn.store(turn + 1, Ordering::Release);
            turn += 2;
        }
    }

    /// Spins, without a pause that would lengthen the round trip; false if there is nothing more to wait for.
    fn wait_for(&self, turn: u64, end: Instant) -> bool {
        let mut spins = 0_u32;
        loop {
            match self.turn.load(Ordering::Acquire) {
                seen if seen == turn => return true,
                OVER => return false,
                _ => spins = spins.wrapping_add(1),
            }
            if spins.is_multiple_of(4096) && Instant::now() > end {
                return false;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_processors_answer_each_other() {
        let [first, .., last] = syscost_harness::Here::plain().allowed[..] else {
            println!("skipped: one processor");
            return;
        };
        match exchange(first, last) {
            Ok((exchanges, seen)) => {
                assert_eq!(seen, [first, last]);
                assert!(exchanges.iter().all(|[sent, _, received]| received >= sent));
            }
            Err(busy) => println!("skipped: {busy}"),
        }
    }
}
