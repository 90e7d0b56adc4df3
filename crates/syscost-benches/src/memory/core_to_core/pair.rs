//! Two threads that pass a line back and forth.

use std::sync::Arc;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

use syscost_harness::prelude::*;
use syscost_sys::cpu;
use syscost_sys::perf::{Uses, Watch};

use crate::memory::page::{Page, WRITTEN};

/// How a line moves back and forth.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    /// Both sides compare and exchange one word.
    Exchange,
    /// Each side writes its own line and reads the other's.
    Message,
    /// Each side writes its own word of one line and reads the other's.
    MessageOneLine,
}

impl Method {
    /// The words of the page by which it moves a line, or two.
    pub(super) fn words(self) -> String {
        match self {
            Method::Exchange => QUESTION.to_string(),
            Method::Message => format!("{QUESTION} and {ANSWER}"),
            Method::MessageOneLine => format!("{QUESTION} and {ANSWER_BESIDE}"),
        }
    }
}

pub(super) static FROM: Witness = Witness::of("CPU of the side that asks", "getcpu");
pub(super) static TO: Witness = Witness::of("CPU of the side that replies", "getcpu");

/// Round trips per iteration, so that a batch always has several.
pub(super) const PER_TURN: u64 = 16;

/// Offsets of the question and of an answer in a line of its own: each alone on its pair of lines,
/// which processors fetch together.
const QUESTION: usize = 1024;
const ANSWER: usize = 2048;

/// Offset of an answer in the line of the question.
const ANSWER_BESIDE: usize = QUESTION + size_of::<u64>();

/// A value that is not the number of a round trip: the end.
const OVER: u64 = u64::MAX;

/// The words that both sides use, in one line or two.
struct Lines {
    page: Page,
    method: Method,
}

impl Lines {
    fn question(&self) -> &AtomicU64 {
        self.page.word(QUESTION)
    }

    /// Where the other side writes.
    fn answer(&self) -> &AtomicU64 {
        self.page.word(match self.method {
            Method::Exchange => QUESTION,
            Method::Message => ANSWER,
            Method::MessageOneLine => ANSWER_BESIDE,
        })
    }

    /// Makes this many round trips after `done` earlier ones. Neither side pauses, which would lengthen them.
    fn ask(&self, done: u64, trips: u64) {
        let (question, answer) = (self.question(), self.answer());
        match self.method {
            Method::Exchange => {
                let mut iteration = 2 * done;
                for _ in 0..trips {
                    while question
                        .compare_exchange(iteration, iteration + 1, AcqRel, Relaxed)
                        .is_err()
                    {}
                    iteration += 2;
                }
                while question.load(Acquire) != iteration {}
            }
            Method::Message | Method::MessageOneLine => {
                for number in done + 1..=done + trips {
                    question.store(number, Release);
                    while answer.load(Acquire) != number {}
                }
            }
        }
    }

    /// Takes part until the end; returns the number of round trips.
    fn reply(&self) -> u64 {
        let (question, answer) = (self.question(), self.answer());
        let mut answered = 0;
        match self.method {
            Method::Exchange => loop {
                let iteration = 2 * answered + 1;
                match question.compare_exchange(iteration, iteration + 1, AcqRel, Relaxed) {
                    Ok(_) => answered += 1,
                    Err(OVER) => return answered,
                    Err(_) => {}
                }
            },
            Method::Message | Method::MessageOneLine => loop {
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

    fn end(&self) {
        self.question().store(OVER, Release);
    }

    /// The number of round trips according to the lines' content.
    fn counted_by_lines(&self) -> u64 {
        match self.method {
            Method::Exchange => self.question().load(Acquire) / 2,
            Method::Message | Method::MessageOneLine => self.answer().load(Acquire),
        }
    }
}

/// The measuring side, what it counted, and what the lines held in the end.
pub(super) struct Asking {
    lines: Arc<Lines>,
    asked: u64,
    by_lines: u64,
    /// Which words of the page were written, in the end.
    written: String,
    cpu: Option<u32>,
    watch: Option<Result<Watch, Unsupported>>,
    /// Stores of the other side to the line of its answers, counted by the processor, if requested
    /// and permitted.
    stored: Option<Result<u64, String>>,
}

/// What the other side counted, and its CPU in the end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Replying {
    answered: u64,
    cpu: Option<u32>,
}

impl Driver for Asking {
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        let trips = iterations * PER_TURN;
        self.lines.ask(self.asked, trips);
        self.asked += trips;
        Ok(())
    }

    fn end(&mut self) -> Result<(), Failure> {
        self.cpu = Some(cpu::current());
        self.stored = self.watch.take().map(|watch| match watch {
            Ok(watch) => watch.count().map_err(|error| error.to_string()),
            Err(reason) => Err(reason.to_string()),
        });
        self.by_lines = self.lines.counted_by_lines();
        self.written = self.lines.page.written();
        self.lines.end();
        Ok(())
    }
}

impl Drop for Asking {
    /// Ends the other side, which spins, even if the measurement failed.
    fn drop(&mut self) {
        self.lines.end();
    }
}

impl Asking {
    /// Claims that both sides took part in every round trip, and tells on which CPUs and by what
    /// words.
    pub(super) fn judge(&self, outcome: &mut Outcome, other: &Replying) {
        for (witness, cpu) in [(&FROM, self.cpu), (&TO, other.cpu)] {
            match cpu {
                Some(cpu) => outcome.observe(witness, cpu),
                None => outcome.unobserved(witness, "the side did not come to its end"),
            }
        }
        outcome.observe(&WRITTEN, &*self.written);
        let asked = self.asked;
        // The divisor of the time.
        let claim = "round trips that were asked for";
        let operations = outcome.operations();
        outcome.claim_equal(claim, operations, asked, "benchmark");
        let mut claim = |what: &str, seen: u64| {
            outcome.claim(what, asked, seen, "benchmark", seen == asked && asked > 0);
        };
        claim("round trips that the other side answered", other.answered);
        claim("round trips by what the lines hold", self.by_lines);
        if let Some(stored) = &self.stored {
            let claim = "stores of the other side to the line of its answers";
            let (stored, source) = (stored.as_ref().map(|n| *n as f64), "debug register");
            let open = "an exchange that finds another value stores, too";
            outcome.claim_at_least(claim, asked as f64, stored, source, open);
        }
    }
}

/// The team of the calling thread and one on another CPU.
pub(super) fn team<'t>(
    method: Method,
    cpus: &[u32],
    watches: bool,
) -> Result<Team<'t, (Asking, Replying)>, Failure> {
    let page = Page::touched_here()?;
    let lines = Arc::new(Lines { page, method });
    let theirs = Arc::clone(&lines);
    let reply = |lines: &mut Arc<Lines>, _: &Stop| {
        Ok::<_, Failure>(Replying {
            answered: lines.reply(),
            cpu: Some(cpu::current()),
        })
    };
    let responder = Responder::start(Between::Threads, cpus, || Ok(theirs), reply, |_| {})?;
    let answers = lines.answer().as_ptr();
    let watch = watches.then(|| Watch::of(responder.task(), answers, Uses::Stores));
    Ok(responder.driven_by(Asking {
        lines,
        asked: 0,
        by_lines: 0,
        written: String::new(),
        cpu: None,
        watch,
        stored: None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_messages_by_two_lines_use_two() {
        let lines_of = |method| {
            let page = Page::touched_here()?;
            let lines = Lines { page, method };
            let line = |word: &AtomicU64| word.as_ptr().addr() / 64;
            let is_one_word = lines.question().as_ptr() == lines.answer().as_ptr();
            let is_one_line = line(lines.question()) == line(lines.answer());
            Ok::<_, Failure>((is_one_word, is_one_line))
        };
        let words = or_skip!(
            Method::ALL
                .into_iter()
                .map(lines_of)
                .collect::<Result<Vec<_>, _>>()
        );
        assert_eq!(words, [(true, true), (false, false), (false, true)]);
    }

    #[test]
    fn both_sides_see_every_round_trip_of_either_method() {
        for method in Method::ALL {
            let page = or_skip!(Page::touched_here());
            let lines = Arc::new(Lines { page, method });
            let theirs = Arc::clone(&lines);
            let replying = std::thread::spawn(move || theirs.reply());
            // Few, since two threads may have to share one processor.
            lines.ask(0, 3);
            lines.ask(3, 2);
            assert_eq!(lines.counted_by_lines(), 5, "{method:?}");
            lines.end();
            assert_eq!(replying.join().unwrap(), 5, "{method:?}");
        }
    }
}
