//! What a run warns of cores that do other work as well.

use syscost_results::run::{Noise, Warning};
use syscost_sys::cpu;

use super::warning;

/// The code of the warning that the measuring core is mostly shared.
pub const SHARED_CORE: &str = "shared_core";

/// Minimum share of time in which a core should be ours, in percent: below it, a run is slow and
/// some of its rows imprecise.
const MIN_ALONE_PERCENT: f64 = 20.0;

/// CPUs of which the same is said, each with a share.
pub(super) struct Shares {
    pub(super) is_of_one: bool,
    /// `CPU 1`, `CPUs 8-15`.
    pub(super) cpus: String,
    /// `6.1 %`, `6.1 to 10.4 %`.
    pub(super) percent: String,
}

impl Shares {
    /// `None` of none.
    pub(super) fn of(each: impl Iterator<Item = (u32, f64)>) -> Option<Self> {
        let (cpus, shares): (Vec<u32>, Vec<f64>) = each.unzip();
        let least = shares.iter().copied().reduce(f64::min)?;
        let most = shares.iter().copied().fold(least, f64::max);
        let [least, most] = [least, most].map(|share| format!("{share:.1}"));
        let is_of_one = cpus.len() == 1;
        let word = if is_of_one { "CPU" } else { "CPUs" };
        Some(Self {
            is_of_one,
            cpus: format!("{word} {}", cpu::format_list(&cpus)),
            percent: match least == most {
                true => format!("{least} %"),
                false => format!("{least} to {most} %"),
            },
        })
    }
}

/// The warning about measuring cores that are hardly ever ours alone.
pub(super) fn shared(noise: &[Noise]) -> Option<Warning> {
    let is_rare = |alone: &f64| *alone < MIN_ALONE_PERCENT;
    let used = noise.iter().filter(|probe| probe.used);
    let rare = used.filter_map(|one| Some((one.cpu, one.ours_percent().filter(is_rare)?)));
    let Shares {
        is_of_one,
        cpus,
        percent,
    } = Shares::of(rare)?;
    let cores = match is_of_one {
        true => format!("the core of {cpus} was"),
        false => format!("the cores of {cpus} were"),
    };
    Some(warning(
        SHARED_CORE,
        format!(
            "{cores} ours only {percent} of the time: another program, or another guest on the same core, was running"
        ),
        "undisturbed moments are rare: expect the run to take its whole budget, and some rows to stay imprecise or to be flagged \
         `shared`. A larger --budget helps; a quieter hour helps more",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_warned_of_a_core_that_is_hardly_ever_ours() {
        let noise = |cpu, used, alone| Noise {
            cpu,
            used,
            alone_percent: Some(alone),
            ..Noise::default()
        };
        let warned = |noise: &[Noise]| {
            let message = shared(noise).map(|one| one.message)?;
            Some(message.split(':').next()?.to_owned())
        };
        let rare = noise(1, true, 19.0);
        let one = "the core of CPU 1 was ours only 19.0 % of the time";
        assert_eq!(warned(&[noise(0, false, 2.0), rare]).as_deref(), Some(one));
        let rare = [8, 9, 10, 14].map(|cpu| noise(cpu, true, f64::from(cpu)));
        let several = "the cores of CPUs 8-10,14 were ours only 8.0 to 14.0 % of the time";
        assert_eq!(warned(&rare).as_deref(), Some(several));
        assert_eq!(warned(&[noise(0, false, 2.0), noise(1, true, 62.0)]), None);
    }
}
