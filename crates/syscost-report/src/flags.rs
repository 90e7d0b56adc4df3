//! The signs after a row's numbers: its flags, and the grade of its precision.

use std::collections::BTreeSet;

use syscost_results::precision::Grade;
use syscost_results::{Estimate, Flag};

/// What a flag is called, and what it means.
pub(crate) struct Words {
    /// Its name in a table.
    pub(crate) name: &'static str,
    /// Its meaning in two or three words, for a legend of one line.
    pub(crate) brief: &'static str,
    pub(crate) meaning: &'static str,
}

/// The words of a flag.
pub(crate) fn words(flag: Flag) -> Words {
    let (name, brief, meaning) = match flag {
        Flag::TooFewRounds => (
            "few",
            "fewer than six processes",
            "fewer than six processes count: the interval, if any, is not exact",
        ),
        Flag::NotConverged => (
            "wide",
            "interval wider than asked",
            "the interval is wider than asked",
        ),
        Flag::NotSteady => (
            "drift",
            "samples change within a process",
            "samples drift from the start of a process to its end",
        ),
        Flag::TwoModes => (
            "modes",
            "two levels",
            "the samples have two modes, and the median describes one or neither",
        ),
        Flag::Autocorrelated => (
            "serial",
            "neighbouring samples alike",
            "neighbouring samples resemble each other",
        ),
        Flag::Noisy => (
            "noisy",
            "disturbed samples count",
            "more than a tenth of the samples were disturbed, and all of them count",
        ),
        Flag::LowTrust => (
            "overhead",
            "over half of the value",
            "overhead is more than half of the raw value",
        ),
        Flag::FrequencyUnsteady => (
            "freq",
            "unsteady frequency",
            "the core's frequency was not steady, so there are no core cycles (older runs only)",
        ),
        Flag::Disturbed => (
            "shared",
            "price in company",
            "the price in company: no own core, or hardly any, was seen meanwhile",
        ),
        Flag::PartlyUnverified => (
            "partly",
            "some evidence missing",
            "some evidence could not be had here",
        ),
    };
    Words {
        name,
        brief,
        meaning,
    }
}

/// A flag's name and what it means: `few: fewer than six processes count`.
pub(crate) fn explained(flag: Flag) -> String {
    let Words { name, meaning, .. } = words(flag);
    format!("{name}: {meaning}")
}

/// Whether the table shows the flag: partial evidence is shown by the row's mark, and a wide
/// interval by its grade.
pub(crate) fn is_shown(flag: Flag) -> bool {
    !matches!(flag, Flag::PartlyUnverified | Flag::NotConverged)
}

/// The signs after a row's numbers: that it is no own price, the grade of its precision, its flags.
pub(crate) fn signs(estimate: &Estimate, flags: &[Flag]) -> Vec<&'static str> {
    let grade = Grade::of(estimate).map(Grade::sign);
    let grade = grade.filter(|sign| !sign.is_empty());
    let mut flags = short_flags(flags);
    let after = flags.partition_point(|sign| *sign == words(Flag::Disturbed).name);
    flags.splice(after..after, grade);
    flags
}

/// What the grades' signs of these estimates mean, in one line; `None` if all are fine.
pub(crate) fn grades<'a>(estimates: impl Iterator<Item = &'a Estimate>) -> Option<String> {
    let found: BTreeSet<Grade> = estimates.filter_map(Grade::of).collect();
    let signed = found.into_iter().filter(|grade| !grade.sign().is_empty());
    let words: Vec<String> = signed
        .map(|grade| format!("{} {}", grade.sign(), grade.meaning()))
        .collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// The flags that are shown, the most important first in case not all fit.
pub(crate) fn shown_flags(flags: &[Flag]) -> Vec<Flag> {
    let shown = flags.iter().copied().filter(|flag| is_shown(*flag));
    let mut shown: Vec<Flag> = shown.collect();
    shown.sort_by_key(|flag| *flag != Flag::Disturbed);
    shown
}

pub(crate) fn short_flags(flags: &[Flag]) -> Vec<&'static str> {
    let shown = shown_flags(flags).into_iter();
    shown.map(|flag| words(flag).name).collect()
}

/// What the flags that are shown mean, each once: `few: fewer than six processes count`.
pub(crate) fn meanings<'a>(flags: impl Iterator<Item = &'a Flag>) -> impl Iterator<Item = String> {
    let flags: BTreeSet<Flag> = flags.copied().filter(|flag| is_shown(*flag)).collect();
    flags.into_iter().map(explained)
}

/// The same in few words, in one line; `None` if no flag is shown.
pub(crate) fn short_meanings<'a>(flags: impl Iterator<Item = &'a Flag>) -> Option<String> {
    let flags: BTreeSet<Flag> = flags.copied().filter(|flag| is_shown(*flag)).collect();
    let meanings: Vec<String> = flags
        .into_iter()
        .map(words)
        .map(|Words { name, brief, .. }| format!("{name}: {brief}"))
        .collect();
    (!meanings.is_empty()).then(|| meanings.join(", "))
}
