//! `syscost doctor --watch`: shows live how much of the time each core is ours alone.

use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use syscost_harness::clock::RunClock;
use syscost_harness::{machine, noise};
use syscost_results::run::Noise;
use syscost_sys::cpu;
use syscost_sys::process::pause;

use super::meter::{Summary, frame, lines};
use crate::cmd::print;
use crate::error::exit;
use crate::terminal::{DIM, RESET};
use crate::{interrupt, terminal};

/// Duration of the probe that finds what each core shows while it is ours.
const CALIBRATION: Duration = Duration::from_secs(1);

/// Duration of the probe for each frame, and of the pause after it: the display should not keep all
/// CPUs busy.
const LISTEN: Duration = Duration::from_millis(100);
const REST: Duration = Duration::from_millis(150);

/// Watches the cores for `time`, or until Ctrl-C.
pub(super) fn run(time: Option<Duration>) -> Result<u8> {
    let interrupted = interrupt::catch()?;
    let is_terminal = io::stdout().is_terminal();
    if is_terminal {
        print(&format!(
            "{DIM}probing the cores for moments when they are ours alone{RESET}\n"
        ))?;
    }
    let cpus = cpu::allowed()?;
    let mut clock = RunClock::choose(&cpus);
    let rough = clock.calibrate();
    let (cores, _) = crate::cmd::serve::hear(&cpus, &machine::capture(), &rough, CALIBRATION);
    let begun = Instant::now();
    let mut summary = Summary::default();
    let mut drawn = 0;
    if is_terminal {
        let until = if time.is_some() {
            ""
        } else {
            "; Ctrl-C ends it"
        };
        print(&format!(
            "{DIM}how much of the time each core is ours alone{until}{RESET}\n"
        ))?;
    }
    while !is_over(begun, time, &interrupted) {
        let mut heard = noise::probe(&cpus, &rough, cores.shape(), LISTEN);
        heard.iter_mut().for_each(|one| cores.annotate(one));
        let noise: Vec<Noise> = heard
            .into_iter()
            .map(|one| Noise {
                alone_percent: one.noise.ours_percent(),
                ..one.noise
            })
            .collect();
        summary.add(&noise);
        let text = match is_terminal {
            true => {
                let text = frame(&noise, terminal::width(), height());
                let over = above(drawn);
                drawn = text.lines().count();
                over + &text
            }
            false => lines(&noise, begun.elapsed().as_secs_f64()),
        };
        print(&text)?;
        if !is_over(begun, time, &interrupted) {
            pause(REST);
        }
    }
    print(&format!("\n{}", summary.text()))?;
    // Without a time limit, Ctrl-C is the normal end.
    let is_cut_short = interrupted.load(Ordering::Relaxed) && time.is_some();
    Ok(if is_cut_short {
        exit::INTERRUPTED
    } else {
        exit::DONE
    })
}

fn is_over(begun: Instant, time: Option<Duration>, interrupted: &AtomicBool) -> bool {
    interrupted.load(Ordering::Relaxed) || time.is_some_and(|time| begun.elapsed() >= time)
}

/// The escape sequence that clears the last frame and moves to its beginning.
fn above(lines: usize) -> String {
    match lines {
        0 => String::new(),
        lines => format!("\x1b[{lines}A\x1b[J"),
    }
}

/// Height of the terminal, in lines.
fn height() -> usize {
    /// Lines of a terminal that does not tell how many it has.
    const COMMON: usize = 24;
    terminal_size::terminal_size().map_or(COMMON, |(_, height)| usize::from(height.0))
}
