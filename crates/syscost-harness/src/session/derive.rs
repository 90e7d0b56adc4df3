//! What is computed at the end of a run from what it measured.

use syscost_results::measurement::{Cause, Disturbance};
use syscost_results::stats::order::median;
use syscost_results::{Evidence, Measurement, RoundSamples, Status, Verdict};

use super::rows::RowState;
use crate::bencher::{Findings, Pass};
use crate::catalogue::Row;
use crate::derive::{Derive, Source};
use crate::failure::Failure;

/// Computes a derived row from the measured rows of its run, which hold their samples.
///
/// Rows that this machine cannot measure take no part. Should another one lack its number, there is none here either: a
/// result of the remaining rows would be another one under the same name.
pub fn derived<'a>(
    row: &Row,
    measured: impl Iterator<Item = (&'a Row, &'a Measurement)>,
    target_half_width: f64,
) -> Measurement {
    let mut state = RowState::new(row.clone(), target_half_width);
    if let Some(how) = &row.benchmark.derive {
        let sources: Vec<_> = measured
            .filter(|(source, _)| row.is_computed_from(source))
            .collect();
        match without_number(&sources) {
            Some(reason) => state.skipped = Some(reason),
            None => compute(&mut state, how, &sources),
        }
    }
    state.measurement(
        true,
        "it is computed from rows that have no round in common",
        None,
    )
}

/// Why these rows give nothing to compute with, if so.
fn without_number(sources: &[(&Row, &Measurement)]) -> Option<String> {
    if sources.is_empty() {
        return Some("it is computed from rows that this run does not have".to_owned());
    }
    let (_, missing) = sources
        .iter()
        .find(|(_, row)| !matches!(row.status, Status::Ok | Status::Unsupported))?;
    Some(format!(
        "it is computed from {}, which has no number",
        missing.name
    ))
}

/// The only sample of a round is of a shared core.
const SHARED: Disturbance = Disturbance {
    sample: 0,
    cause: Cause::SharedCore,
};

fn compute(state: &mut RowState, how: &Derive, sources: &[(&Row, &Measurement)]) {
    let sources: Vec<_> = sources
        .iter()
        .filter(|(_, measurement)| measurement.status == Status::Ok)
        .collect();
    let case = state.row.case.clone();
    let of = |median_of: &dyn Fn(&Measurement) -> Option<f64>| -> Option<Vec<Source<'_>>> {
        sources
            .iter()
            .map(|(row, measurement)| {
                Some(Source {
                    id: row.benchmark.id,
                    case: &row.case,
                    median: median_of(measurement)?,
                })
            })
            .collect()
    };
    let whole = of(&|measurement| measurement.estimate.median).unwrap_or_default();
    let mut rounds = Vec::new();
    for Together { round, rounds_of } in together(&sources) {
        let is_disturbed = rounds_of.iter().any(|round| !round.is_undisturbed());
        let mut each = rounds_of.iter();
        let sources = sources.iter().map(|(row, _)| {
            Some(Source {
                id: row.benchmark.id,
                case: &row.case,
                median: median(&each.next()?.best())?,
            })
        });
        let Some(medians) = sources.collect::<Option<Vec<_>>>() else {
            continue;
        };
        let value = (how.compute)(&case, &medians).and_then(|derived| {
            if !derived.value.is_finite() {
                let what = format!("computes {}, which is no number", derived.value);
                return Err(Failure::Broken(what));
            }
            Ok(Findings {
                iterations: 1,
                values: vec![derived.value],
                observed: true,
                alone_percent: round.alone_percent,
                // A value that comes from some disturbed sample is one.
                disturbed: is_disturbed.then_some(SHARED).into_iter().collect(),
                details: derived.details,
                ..Findings::default()
            })
        });
        rounds.push((round, value));
    }
    let has_number = |value: &Result<_, _>| !matches!(value, Err(Failure::Unsupported(_)));
    let having = rounds.iter().filter(|(_, value)| has_number(value)).count();
    let proof = (how.compute)(&case, &whole).and_then(|derived| {
        let mut evidence = derived.evidence;
        // What claims nothing of its own is a defect, which its row will say.
        if !evidence.is_empty() {
            evidence.insert(0, proof_of(&sources));
            evidence.push(proof_of_rounds(having, rounds.len())?);
        }
        Ok(Findings {
            evidence,
            limits: derived.limits,
            observed: true,
            ..Findings::default()
        })
    });
    let is_proved = proof.is_ok();
    state.take(Pass::Evidence, 0, 0, None, proof);
    for (round, value) in rounds {
        if is_proved && has_number(&value) {
            state.take(Pass::Timed, round.round, round.cpu, None, value);
        }
    }
}

/// Rounds of all sources that a value is computed from.
struct Together<'m> {
    /// That of the first source.
    round: &'m RoundSamples,
    /// Of each source, in their order.
    rounds_of: Vec<&'m RoundSamples>,
}

/// Fewer undisturbed rounds than this tell less than all.
const MIN_UNDISTURBED: usize = 2;

/// The rounds that all sources have in common. If more values can be had from the undisturbed rounds of each
/// source, in their order, those: forty sizes of memory hardly ever find the core ours in one and the same
/// process.
fn together<'m>(sources: &[&(&Row, &'m Measurement)]) -> Vec<Together<'m>> {
    let samples = |source: &&(&Row, &'m Measurement)| source.1.samples.as_deref().unwrap_or(&[]);
    let Some(first) = sources.first().map(samples) else {
        return Vec::new();
    };
    let common = first.iter().filter_map(|round| {
        // Rows settle at different times: what only some of them have is no round of all.
        let same = |source| {
            let mut rounds = samples(source).iter();
            rounds.find(|other| other.round == round.round)
        };
        let rounds_of = sources.iter().map(same).collect::<Option<_>>()?;
        Some(Together { round, rounds_of })
    });
    let common: Vec<_> = common.collect();
    let is_undisturbed = |together: &&Together<'_>| {
        let mut rounds = together.rounds_of.iter();
        rounds.all(|round| round.is_undisturbed())
    };
    let undisturbed: Vec<Vec<&RoundSamples>> = sources
        .iter()
        .map(|source| {
            let rounds = samples(source).iter();
            rounds.filter(|round| round.is_undisturbed()).collect()
        })
        .collect();
    let most = undisturbed.iter().map(Vec::len).min().unwrap_or(0);
    let has_more = most > common.iter().filter(is_undisturbed).count();
    if common.is_empty() || most < MIN_UNDISTURBED || !has_more {
        return common;
    }
    let numbered = (0..most).map(|number| Together {
        round: undisturbed[0][number],
        rounds_of: undisturbed.iter().map(|rounds| rounds[number]).collect(),
    });
    numbered.collect()
}

/// What a result shows in some rounds only, as a step in a curve, is uncertain; what it shows in fewer than half of them is not there.
fn proof_of_rounds(having: usize, all: usize) -> Result<Evidence, Failure> {
    if 2 * having < all {
        return Err(Failure::Unsupported(format!(
            "it is seen in {having} of {all} rounds only"
        )));
    }
    let is_all = having == all;
    Ok(Evidence {
        claim: "rounds that it is seen in".to_owned(),
        expected: (all as f64).into(),
        observed: Some((having as f64).into()),
        source: "this run".to_owned(),
        verdict: match is_all {
            true => Verdict::Confirmed,
            false => Verdict::Unverified,
        },
        reason: (!is_all).then(|| "others show none".to_owned()),
    })
}

/// A result is proved no better than what it is computed from.
fn proof_of(sources: &[&(&Row, &Measurement)]) -> Evidence {
    let unproved = sources
        .iter()
        .find(|(_, row)| row.evidence.iter().any(|e| e.verdict != Verdict::Confirmed));
    Evidence {
        claim: "evidence of the rows it is computed from".to_owned(),
        expected: "confirmed".into(),
        observed: unproved.is_none().then(|| "confirmed".into()),
        source: "this run".to_owned(),
        verdict: match unproved {
            None => Verdict::Confirmed,
            Some(_) => Verdict::Unverified,
        },
        reason: unproved.map(|(_, row)| format!("that of {} is not complete", row.name)),
    }
}

#[cfg(test)]
mod tests;
