//! Renders the live display of shared cores as text.

use std::fmt::Write;

use syscost_results::run::Noise;

use crate::terminal::{DIM, GREEN, RED, RESET, YELLOW};

/// Width of the text beside a bar, in columns.
const BESIDE: usize = 65;

/// Minimum and maximum width of a bar, in columns.
const MIN_BAR: usize = 10;
const MAX_BAR: usize = 40;

/// A core that is ours for at least `GOOD_PERCENT` of the time is good; one that is ours for less
/// than `BAD_PERCENT`, bad.
const GOOD_PERCENT: f64 = 80.0;
const BAD_PERCENT: f64 = 20.0;

/// Renders a line for each CPU, with a bar for the share of the time in which its core was ours, on
/// a terminal of this many columns and lines.
pub(super) fn frame(noise: &[Noise], columns: usize, lines: usize) -> String {
    let bar = columns.saturating_sub(BESIDE).clamp(MIN_BAR, MAX_BAR);
    let mut out = String::new();
    let shown = match noise.len() > lines.max(2) - 1 {
        true => lines.max(3) - 2,
        false => noise.len(),
    };
    for one in &noise[..shown] {
        let full = one.alone_percent.unwrap_or(0.0) / 100.0 * bar as f64;
        let full = (full.round() as usize).min(bar);
        let style = match one.alone_percent {
            Some(percent) if percent >= GOOD_PERCENT => GREEN,
            Some(percent) if percent >= BAD_PERCENT => YELLOW,
            Some(_) => RED,
            None => DIM,
        };
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "CPU {:<3} {style}{}{RESET}{DIM}{}{RESET} {}",
            one.cpu,
            "█".repeat(full),
            "░".repeat(bar - full),
            figures(one)
        );
    }
    if shown < noise.len() {
        let _ = writeln!(out, "{DIM}and {} more CPUs{RESET}", noise.len() - shown);
    }
    out
}

/// Renders a line for each CPU, for scripts: the seconds since the start, then the figures.
pub(super) fn lines(noise: &[Noise], passed_s: f64) -> String {
    let lines = noise.iter().map(|one| {
        let figures = figures(one);
        format!(
            "{passed_s:8.2} s  CPU {:<3} {}\n",
            one.cpu,
            figures.trim_end()
        )
    });
    lines.collect()
}

/// Share, time lost to other programs, slowdown and frequency, in columns of fixed width.
fn figures(noise: &Noise) -> String {
    let ours = noise
        .alone_percent
        .map_or("not known".to_owned(), |percent| {
            format!("ours {percent:5.1} %")
        });
    let slower = noise
        .shared_slowdown_percent
        .map_or(String::new(), |percent| format!("slower {percent:+4.0} %"));
    // Other programs on this CPU, not on its core's other thread.
    let lost = format!("lost {:4.1} %", noise.lost_percent);
    let ghz = noise
        .core_ghz
        .map_or(String::new(), |ghz| format!("{ghz:.2} GHz"));
    format!("{ours:<12}  {lost:<13}{slower:<14}{ghz:>8}")
}

/// The shares of each CPU over the whole time.
#[derive(Debug, Default)]
pub(super) struct Summary {
    /// CPU number, and the share of each interval in which its core was ours, in percent.
    shares: Vec<(u32, Vec<f64>)>,
}

impl Summary {
    pub(super) fn add(&mut self, noise: &[Noise]) {
        for one in noise {
            let Some(percent) = one.alone_percent else {
                continue;
            };
            match self.shares.iter_mut().find(|(cpu, _)| *cpu == one.cpu) {
                Some((_, shares)) => shares.push(percent),
                None => self.shares.push((one.cpu, vec![percent])),
            }
        }
    }

    /// A line for each CPU.
    pub(super) fn text(&self) -> String {
        let lines = self.shares.iter().map(|(cpu, shares)| {
            let mean = shares.iter().sum::<f64>() / shares.len() as f64;
            let min = shares.iter().copied().fold(f64::INFINITY, f64::min);
            let max = shares.iter().copied().fold(0.0, f64::max);
            format!(
                "CPU {cpu}: core ours {mean:.1} % of the time, between {min:.1} and {max:.1} % in {} intervals\n",
                shares.len()
            )
        });
        lines.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(cpu: u32, alone_percent: Option<f64>) -> Noise {
        Noise {
            cpu,
            alone_percent,
            shared_slowdown_percent: alone_percent.filter(|ours| *ours < 100.0).map(|_| 43.2),
            core_ghz: Some(3.693),
            lost_percent: 2.5,
            ..Noise::default()
        }
    }

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    #[test]
    fn a_bar_is_as_long_as_the_core_was_ours() {
        let all = [noise(0, Some(100.0)), noise(1, Some(52.0)), noise(12, None)];
        assert_eq!(
            plain(&frame(&all, 62, 24)),
            "CPU 0   ██████████ ours 100.0 %  lost  2.5 %                3.69 GHz\n\
             CPU 1   █████░░░░░ ours  52.0 %  lost  2.5 %  slower  +43 % 3.69 GHz\n\
             CPU 12  ░░░░░░░░░░ not known     lost  2.5 %                3.69 GHz\n"
        );
    }

    #[test]
    fn a_frame_fits_the_terminal() {
        let all: Vec<Noise> = (0..64).map(|cpu| noise(cpu, Some(3.0))).collect();
        for (columns, rows) in [(80, 24), (200, 3), (56, 1)] {
            let text = plain(&frame(&all, columns, rows));
            assert!(text.lines().count() < rows.max(3), "{text}");
            let widest = text.lines().map(|line| line.chars().count()).max();
            assert!(widest <= Some(columns.max(75)), "{text}");
        }
    }

    #[test]
    fn a_script_gets_lines() {
        assert_eq!(
            lines(&[noise(0, Some(52.04))], 1.25),
            "    1.25 s  CPU 0   ours  52.0 %  lost  2.5 %  slower  +43 % 3.69 GHz\n"
        );
    }

    #[test]
    fn the_whole_time_is_summarised() {
        let mut summary = Summary::default();
        summary.add(&[noise(0, Some(20.0)), noise(1, None)]);
        summary.add(&[noise(0, Some(60.0))]);
        assert_eq!(
            summary.text(),
            "CPU 0: core ours 40.0 % of the time, between 20.0 and 60.0 % in 2 intervals\n"
        );
    }
}
