//! Crews and followers: what they return, and how they end.

use std::io::{PipeReader, PipeWriter, Read, Write, pipe};
use std::sync::Arc;
use syscost_sys::or_skip;

use syscost_sys::cpu;

use super::*;
use crate::bencher::Responder;

/// Runs the test with threads and with processes, on the available CPUs.
fn each(test: impl Fn(Between, &[u32])) {
    let cpus = or_skip!(cpu::allowed(), "no affinity here");
    for between in Between::ALL {
        test(between, &cpus);
    }
}

fn until_stopped(stop: &Stop) {
    while !stop.is_set() {
        std::thread::yield_now();
    }
}

#[test]
fn what_workers_come_to_is_there_in_their_order() {
    each(|between, cpus| {
        let mut workers = TaskGroup::new(between).unwrap();
        for number in 0..3_u64 {
            let work = |number: &mut u64, stop: &Stop| {
                until_stopped(stop);
                Ok::<_, Failure>([*number, 7])
            };
            workers.add(cpus, move || Ok(number), work).unwrap();
        }
        assert_eq!(workers.tasks().count(), 3);
        assert_eq!(workers.dismiss().unwrap(), [[0, 7], [1, 7], [2, 7]]);
    });
}

#[test]
fn a_worker_that_fails_stops_all_and_its_error_is_reported() {
    each(|between, cpus| {
        let mut workers = TaskGroup::new(between).unwrap();
        let well = |(): &mut (), stop: &Stop| {
            until_stopped(stop);
            Ok(())
        };
        let ill = |(): &mut (), _: &Stop| Err(Failure::Refuted("no luck".into()));
        workers.add(cpus, || Ok::<_, Failure>(()), well).unwrap();
        workers.add(cpus, || Ok(()), ill).unwrap();
        let stop = workers.stop();
        let iterations = move |_| {
            until_stopped(&stop);
            stop.check()
        };
        let failure = workers.driven_by(iterations).perform([1]).map(drop);
        let words = "a partner failed: no luck".to_owned();
        assert_eq!(failure, Err(Failure::Refuted(words)), "{between:?}");
    });
}

#[test]
fn a_worker_that_cannot_begin_says_why() {
    each(|between, cpus| {
        let mut workers = TaskGroup::new(between).unwrap();
        let prepare = || Err::<(), _>(Failure::Unsupported("no memory".into()));
        let added = workers.add(cpus, prepare, |(), _| Ok(()));
        let words = "a partner could not begin: no memory".to_owned();
        assert_eq!(added, Err(Failure::Unsupported(words)), "{between:?}");
    });
}

#[test]
fn a_task_group_that_is_dropped_lets_its_threads_end() {
    let cpus = or_skip!(cpu::allowed(), "no affinity here");
    let mut workers = TaskGroup::new(Between::Threads).unwrap();
    let held = Arc::new(());
    let theirs = Arc::clone(&held);
    let work = |_: &mut Arc<()>, stop: &Stop| {
        until_stopped(stop);
        Ok::<(), Failure>(())
    };
    workers.add(&cpus, move || Ok(theirs), work).unwrap();
    drop(workers);
    // The thread's own hold on it ends with the thread.
    while Arc::strong_count(&held) > 1 {
        std::thread::yield_now();
    }
}

/// A pipe of questions and one of answers, as the responder uses them.
type End = (PipeReader, PipeWriter);

/// Both ends. The responder's end also stays open here, so its closing is not noticed.
fn ends() -> (End, End, End) {
    let ((question, ask), (answer, reply)) = (pipe().unwrap(), pipe().unwrap());
    let kept = (question.try_clone().unwrap(), reply.try_clone().unwrap());
    ((answer, ask), (question, reply), kept)
}

/// Follows up to this many iterations, then fails.
fn follow(limit: u64) -> impl FnOnce(&mut End, &Stop) -> Result<u64, Failure> + Send {
    move |(question, reply), stop| {
        let failed = |error| Failure::of("answer", error);
        let mut answered = 0;
        loop {
            question.read_exact(&mut [0]).map_err(failed)?;
            if stop.is_set() {
                return Ok(answered);
            }
            if answered == limit {
                return Err(Failure::Failed("no more".into()));
            }
            reply.write_all(b".").map_err(failed)?;
            answered += 1;
        }
    }
}

struct Asking {
    end: End,
    stop: Shared<Stop>,
    asked: u64,
    _kept: End,
}

impl Driver for Asking {
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        let failed = |error| Failure::of("ask", error);
        for _ in 0..iterations {
            self.end.1.write_all(b"?").map_err(failed)?;
            self.end.0.read_exact(&mut [0]).map_err(failed)?;
            self.stop.check()?;
            self.asked += 1;
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), Failure> {
        let woken = self.end.1.write_all(b"!");
        woken.map_err(|error| Failure::of("wake", error))
    }
}

/// Ten iterations with a responder that fails after `limit`.
fn ten_iterations(between: Between, cpus: &[u32], limit: u64) -> Result<(u64, u64), Failure> {
    let (end, theirs, kept) = ends();
    let wake_waiters = |(_, reply): &mut End| drop(reply.write(b"!"));
    let prepare = move || Ok(theirs);
    let responder = Responder::start(between, cpus, prepare, follow(limit), wake_waiters)?;
    let stop = responder.stop();
    let driver = Asking {
        end,
        stop,
        asked: 0,
        _kept: kept,
    };
    let (driver, answered) = responder.driven_by(driver).perform([4, 6])?;
    Ok((driver.asked, answered))
}

#[test]
fn a_responder_answers_every_iteration_and_counts_them() {
    each(|between, cpus| assert_eq!(ten_iterations(between, cpus, 99), Ok((10, 10))));
}

#[test]
fn a_responder_that_fails_does_not_leave_the_other_asleep() {
    each(|between, cpus| {
        let words = "a partner failed: no more".to_owned();
        assert_eq!(
            ten_iterations(between, cpus, 3),
            Err(Failure::Failed(words))
        );
    });
}

#[test]
fn a_responder_that_panics_wakes_the_other_too() {
    each(|between, cpus| {
        let (answer, theirs) = pipe().unwrap();
        let serve = |_: &mut PipeWriter, _: &Stop| -> Result<(), Failure> { panic!("no luck") };
        let wake_waiters = |reply: &mut PipeWriter| drop(reply.write(b"!"));
        let prepare = {
            let theirs = theirs.try_clone().unwrap();
            move || Ok(theirs)
        };
        let responder = Responder::start(between, cpus, prepare, serve, wake_waiters).unwrap();
        let (stop, mut answer) = (responder.stop(), answer);
        let iterations = move |_| {
            answer.read_exact(&mut [0]).expect("it is woken");
            stop.check()
        };
        let failure = responder.driven_by(iterations).perform([1]).map(drop);
        let words = "a partner failed: it panicked".to_owned();
        assert_eq!(failure, Err(Failure::Failed(words)), "{between:?}");
        drop(theirs);
    });
}
