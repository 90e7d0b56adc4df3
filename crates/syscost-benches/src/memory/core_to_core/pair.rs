//! Two threads that pass a line to and fro.

use std::sync::atomic::{
    AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};
use std::sync::{Arc, OnceLock};

use syscost_harness::prelude::*;
use syscost_sys::cpu;
use syscost_sys::partner::{Between, Partner};
use syscost_sys::perf::{Uses, Watch};

use crate::memory::page::Page;

/// How a line goes to and fro.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    /// Both sides compare and exchange one word.
    Exchange,
    /// Each side writes a line of its own and reads the other's.
    Message,
}

impl Method {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Method::Exchange => "exchange",
            Method::Message => "message",
        }
    }

    pub(super) fn of(case: &Case) -> Self {
        match case.get("method") == Method::Message.name() {
            true => Method::Message,
            false => Method::Exchange,
        }
    }
}

/// What each side counted, what the lines hold in the end, and where both sides were then.
#[derive(Debug, Default)]
pub(super) struct Tally {
    asked: AtomicU64,
    answered: AtomicU64,
    told: AtomicU64,
    cpus: [AtomicU64; 2],
    /// Stores of the other side to the line that carries its answers, as the processor counts them, where it is asked and may tell.
    stored: OnceLock<Result<u64, String>>,
}

impl Tally {
    /// Claims that both sides took part in every round trip, on the CPUs that the case names.
    pub(super) fn judge(&self, b: &mut Bencher) {
        let named = ["from", "to"].map(|key| b.case().number(key));
        let seen = [0, 1].map(|side: usize| self.cpus[side].load(Relaxed));
        let told = |[from, to]: [u64; 2]| format!("{from} and {to}");
        b.claim_equal("CPUs of both sides", told(named), told(seen), "getcpu");
        let asked = self.asked.load(Relaxed);
        let mut claim = |what: &str, seen: &AtomicU64| {
            let seen = seen.load(Relaxed);
            b.claim(what, asked, seen, "benchmark", seen == asked && asked > 0);
        };
        claim("round trips that the other side answered", &self.answered);
        claim("round trips by what the lines hold", &self.told);
        if let Some(stored) = self.stored.get() {
            let claim = "stores of the other side to the line of its answers";
            let (least, source) = (Bound::AtLeast(asked as f64), "debug register");
            match stored {
                Ok(stored) => b.claim_within(claim, least, *stored as f64, source),
                Err(reason) => b.claim_unverified(claim, asked as f64, "", source, reason),
            }
        }
    }
}

/// Notes the CPU of the calling thread as that of this side.
fn note_cpu(tally: &Tally, side: usize) {
    // Nobody has this number, should the system not tell.
    tally.cpus[side].store(cpu::current().map_or(u64::MAX, u64::from), Relaxed);
}

/// Round trips in a turn: a batch of a few is no single one, whatever happens to it.
pub(super) const PER_TURN: u64 = 16;

/// Where the lines are: each alone on its pair of lines, which processors fetch together.
const QUESTION: usize = 1024;
const ANSWER: usize = 2048;

/// No number of a round trip: there will be no more.
const OVER: u64 = u64::MAX;

/// The two lines.
struct Lines {
    page: Page,
    method: Method,
}

impl Lines {
    fn question(&self) -> &AtomicU64 {
        self.page.word(QUESTION)
    }

    fn answer(&self) -> &AtomicU64 {
        self.page.word(ANSWER)
    }

    /// Makes this many round trips after `done` ones. Neither side pauses, which would lengthen them.
    fn ask(&self, done: u64, trips: u64) {
        let (question, answer) = (self.question(), self.answer());
        match self.method {
            Method::Exchange => {
                let mut turn = 2 * done;
                for _ in 0..trips {
                    while question
                        .compare_exchange(turn, turn + 1, AcqRel, Relaxed)
                        .is_err()
                    {}
                    turn += 2;
                }
                while question.load(Acquire) != turn {}
            }
            Method::Message => {
                for number in done + 1..=done + trips {
                    question.store(number, Release);
                    while answer.load(Acquire) != number {}
                }
            }
        }
    }

    /// Takes part until it is over: how many round trips that were.
    fn reply(&self) -> u64 {
        let (question, answer) = (self.question(), self.answer());
        let mut answered = 0;
        match self.method {
            Method::Exchange => loop {
                let turn = 2 * answered + 1;
                match question.compare_exchange(turn, turn + 1, AcqRel, Relaxed) {
                    Ok(_) => answered += 1,
                    Err(OVER) => return answered,
                    Err(_) => {}
                }
            },
            Method::Message => loop {
                match question.load(Acquire) {
                    number if number == answered + 1 => {
                        answered = number;
                        answer.store(answered, Release);
                    }
                    OVER => return answered,
                    _ => {}
                }
            },
        }
    }

    /// How many round trips they were by what the lines hold.
    fn told(&self) -> u64 {
        match self.method {
            Method::Exchange => self.question().load(Acquire) / 2,
            Method::Message => self.answer().load(Acquire),
        }
    }
}

/// Tells the partner to end, also when the measurement failed: it spins.
struct Over {
    lines: Arc<Lines>,
    tally: Arc<Tally>,
}

impl Drop for Over {
    fn drop(&mut self) {
        self.tally.told.store(self.lines.told(), Relaxed);
        self.lines.question().store(OVER, Release);
    }
}

/// The calling thread and one on another CPU.
pub(super) fn team<'t>(
    method: Method,
    cpus: &[u32],
    watches: bool,
    tally: Arc<Tally>,
) -> Result<Team<'t>, Failure> {
    let lines = Arc::new(Lines {
        page: Page::touched_here()?,
        method,
    });
    let over = Over {
        lines: Arc::clone(&lines),
        tally: Arc::clone(&tally),
    };
    let (theirs, their_tally) = (Arc::clone(&lines), Arc::clone(&tally));
    let partner = Partner::start(Between::Threads, cpus, move || -> Result<(), String> {
        their_tally.answered.store(theirs.reply(), Relaxed);
        note_cpu(&their_tally, 1);
        Ok(())
    })?;
    let answers = match method {
        Method::Exchange => lines.question(),
        Method::Message => lines.answer(),
    };
    let watch = match watches {
        true => Some(Watch::of(partner.task(), answers.as_ptr(), Uses::Stores)),
        false => None,
    };
    let mut done = 0;
    let own_tally = Arc::clone(&tally);
    let ask = move |turns| {
        let trips = turns * PER_TURN;
        lines.ask(done, trips);
        done += trips;
        own_tally.asked.store(done, Relaxed);
        Ok(())
    };
    let end = move || {
        note_cpu(&tally, 0);
        let stored = watch.map(|watch| match watch {
            Ok(watch) => watch.count().map_err(|error| error.to_string()),
            Err(reason) => Err(reason.to_string()),
        });
        if let Some(stored) = stored {
            let _ = tally.stored.set(stored);
        }
        drop(over);
        Ok(())
    };
    Ok(Team::new(vec![partner], ask, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_see_every_round_trip_of_either_method() {
        for method in [Method::Exchange, Method::Message] {
            let page = match Page::touched_here() {
                Ok(page) => page,
                Err(reason) => return println!("skipped: {reason}"),
            };
            let lines = Arc::new(Lines { page, method });
            let theirs = Arc::clone(&lines);
            let replying = std::thread::spawn(move || theirs.reply());
            // Few: two threads may have to share one processor.
            lines.ask(0, 3);
            lines.ask(3, 2);
            assert_eq!(lines.told(), 5, "{method:?}");
            lines.question().store(OVER, Release);
            assert_eq!(replying.join().unwrap(), 5, "{method:?}");
        }
    }
}
