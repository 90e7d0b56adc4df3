//! Rows computed at the end of a run from what it measured.

use syscost_results::estimate::KeptRuns;
use syscost_results::estimate::selection::Conversion;
use syscost_results::estimate::sharing::OwnCores;
use syscost_results::measurement::{Cause, Disturbance};
use syscost_results::{Evidence, Measurement, RoundSamples, Status, Verdict};
use syscost_stats::order::median;

use super::frequencies::Frequencies;
use super::row::RowState;
use crate::bencher::{Detail, Findings, Over};
use crate::catalogue::Row;
use crate::computed::{Computation, Series, Source};
use crate::failure::Failure;
use crate::pass::Pass;
use crate::testbed::Testbed;

/// Computes a computed row from the measured rows of its run, which hold their samples.
///
/// Rows that this machine cannot measure are left out. If another source lacks its number, there is
/// none here either: a result of the remaining rows would be a different one under the same name.
pub fn computed<'a>(
    row: &Row,
    measured: impl Iterator<Item = (&'a Row, &'a Measurement)>,
    target_half_width: f64,
    kept: Option<&KeptRuns>,
    here: &Testbed,
) -> Measurement {
    let mut state = RowState::new(row.clone(), 0, target_half_width);
    if let Some(how) = &row.benchmark.computation {
        let sources: Vec<_> = measured
            .filter(|(source, _)| row.is_computed_from(source))
            .collect();
        match without_number(&sources) {
            None => match none_here(&sources) {
                Some(reason) => {
                    let refusal = Failure::Unsupported(reason);
                    state.take(Pass::Evidence, Err(refusal));
                }
                None if let Some(series) = how.series => take_series(&mut state, series, &sources),
                None => compute(&mut state, how, &sources, here),
            },
            // If it is unsupported here, that is the reason, not the lack of other rows.
            Some(reason) => match (row.benchmark.support)(&row.case, here) {
                Err(refusal) => state.take(Pass::Evidence, Err(refusal.into())),
                Ok(()) => state.skipped = Some(reason),
            },
        }
    }
    state.measurement(
        true,
        "it is computed from rows that have no round in common",
        // Its sources are at their frequency already.
        &Frequencies::default(),
        &OwnCores::new(),
        kept,
    )
}

/// Why nothing can be computed from these rows; `None` if something can.
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

/// Why none of these rows can be measured here; `None` if one can.
fn none_here(sources: &[(&Row, &Measurement)]) -> Option<String> {
    let is_there = |(_, row): &&(&Row, &Measurement)| row.status != Status::Unsupported;
    match sources.iter().find(is_there) {
        Some(_) => None,
        None => sources.iter().find_map(|(_, row)| row.reason.clone()),
    }
}

/// The tag of a round's only sample that it was taken on a shared core.
const SHARED: Disturbance = Disturbance {
    sample: 0,
    cause: Cause::SharedCore,
};

fn compute(
    state: &mut RowState,
    how: &Computation,
    sources: &[(&Row, &Measurement)],
    here: &Testbed,
) {
    let sources: Vec<_> = sources
        .iter()
        .filter(|(_, measurement)| measurement.status == Status::Ok)
        .collect();
    let case = state.row.case.clone();
    // Each source with its median, in their order.
    let with = |medians: &mut dyn Iterator<Item = Option<f64>>| -> Option<Vec<Source<'_>>> {
        let rows = sources.iter().map(|(row, _)| row);
        rows.zip(medians)
            .map(|(row, median)| {
                Some(Source {
                    id: row.benchmark.id,
                    case: &row.case,
                    median: median?,
                })
            })
            .collect()
    };
    let mut of_run = sources.iter().map(|(_, source)| source.estimate.median);
    let whole = with(&mut of_run).unwrap_or_default();
    let mut rounds = Vec::new();
    for together in together(&sources) {
        let (Some(round), Some(medians)) = (
            together.first().copied(),
            with(
                &mut together
                    .iter()
                    .zip(&sources)
                    .map(|(round, (_, source))| median(&round.best(Conversion::of(source)))),
            ),
        ) else {
            continue;
        };
        let is_disturbed = !is_undisturbed(&together);
        let value = (how.compute)(&case, &medians, here).and_then(|computed| {
            if !computed.value.is_finite() {
                let what = format!("computes {}, which is no number", computed.value);
                return Err(Failure::Broken(what));
            }
            let samples = RoundSamples {
                round: round.round,
                cpu: round.cpu,
                iterations: 1,
                values: vec![computed.value],
                alone_percent: round.alone_percent,
                // A value computed from a disturbed sample is disturbed.
                disturbed: is_disturbed.then_some(SHARED).into_iter().collect(),
                ..RoundSamples::default()
            };
            let median = |value| Detail {
                value,
                over: Over::Median,
            };
            let details = computed.details.into_iter();
            Ok(Findings {
                samples,
                observed: true,
                details: details.map(|(name, value)| (name, median(value))).collect(),
                ..Findings::default()
            })
        });
        rounds.push(value);
    }
    let has_number = |value: &Result<_, _>| !matches!(value, Err(Failure::Unsupported(_)));
    let having = rounds.iter().filter(|value| has_number(value)).count();
    let proof = (how.compute)(&case, &whole, here).and_then(|computed| {
        if let Some(misfit) = computed.misfit {
            return Err(Failure::Unsupported(misfit));
        }
        let mut evidence = computed.evidence;
        // A row without claims of its own is a defect, which the row will report.
        if !evidence.is_empty() {
            evidence.insert(0, proof_of(&sources));
            evidence.push(proof_of_rounds(having, rounds.len())?);
        }
        Ok(Findings {
            evidence,
            limits: computed.limits,
            observed: true,
            ..Findings::default()
        })
    });
    let is_proved = proof.is_ok();
    state.take(Pass::Evidence, proof);
    for value in rounds {
        if is_proved && has_number(&value) {
            state.take(Pass::Timed, value);
        }
    }
}

/// Takes another series of the rounds of the only source for the row's own.
fn take_series(state: &mut RowState, series: Series, sources: &[(&Row, &Measurement)]) {
    let sources: Vec<_> = sources.iter().collect();
    state.take(
        Pass::Evidence,
        Ok(Findings {
            evidence: vec![proof_of(&sources)],
            observed: true,
            ..Findings::default()
        }),
    );
    let rounds = sources
        .iter()
        .flat_map(|(_, source)| source.samples.iter().flatten());
    for round in rounds {
        let samples = series(round);
        state.take(
            Pass::Timed,
            Ok(Findings {
                samples,
                observed: true,
                ..Findings::default()
            }),
        );
    }
}

/// Minimum number of undisturbed rounds to use them alone.
const MIN_UNDISTURBED: usize = 2;

/// The inputs of each value: a round of every source, in the sources' order. These are the rounds
/// that all have in common, unless combining the undisturbed rounds of each source in sequence
/// gives more values: forty sizes of memory hardly ever find the core undisturbed in the same
/// process.
fn together<'m>(sources: &[&(&Row, &'m Measurement)]) -> Vec<Vec<&'m RoundSamples>> {
    let samples: Vec<&[RoundSamples]> = sources
        .iter()
        .map(|(_, source)| source.samples.as_deref().unwrap_or_default())
        .collect();
    let Some(first) = samples.first() else {
        return Vec::new();
    };
    // Rows settle at different times: a round that only some of them have is not used.
    let in_common = |round: &RoundSamples| -> Option<Vec<_>> {
        let same = |rounds: &&'m [RoundSamples]| rounds.iter().find(|one| one.round == round.round);
        samples.iter().map(same).collect()
    };
    let common: Vec<_> = first.iter().filter_map(in_common).collect();
    let undisturbed: Vec<Vec<&RoundSamples>> = samples
        .iter()
        .map(|rounds| rounds.iter().filter(|one| one.is_undisturbed()).collect())
        .collect();
    let count = undisturbed.iter().map(Vec::len).min().unwrap_or(0);
    let in_one_process = common
        .iter()
        .filter(|rounds| is_undisturbed(rounds))
        .count();
    if common.is_empty() || count < MIN_UNDISTURBED || count <= in_one_process {
        return common;
    }
    let numbered = |number| undisturbed.iter().map(|rounds| rounds[number]).collect();
    (0..count).map(numbered).collect()
}

fn is_undisturbed(rounds: &[&RoundSamples]) -> bool {
    rounds.iter().all(|round| round.is_undisturbed())
}

/// A result seen in only some rounds, such as a step in a curve, is uncertain; one seen in fewer
/// than half of them does not exist.
fn proof_of_rounds(having: usize, all: usize) -> Result<Evidence, Failure> {
    if 2 * having < all {
        return Err(Failure::Unsupported(format!(
            "it is seen in {having} of {all} rounds only"
        )));
    }
    let claim = "rounds that it is seen in";
    let evidence = Evidence::new(claim, all, having, "this run", Verdict::Confirmed);
    Ok(evidence.unless((having < all).then_some("others show none")))
}

/// A result is proved no better than its sources.
fn proof_of(sources: &[&(&Row, &Measurement)]) -> Evidence {
    let unproved = sources
        .iter()
        .find(|(_, row)| row.evidence.iter().any(|e| e.verdict != Verdict::Confirmed));
    let (claim, all) = ("evidence of the rows it is computed from", "confirmed");
    match unproved {
        Some((_, row)) => Evidence::unobserved(claim, all, "this run")
            .because(format!("that of {} is not complete", row.name)),
        None => Evidence::new(claim, all, all, "this run", Verdict::Confirmed),
    }
}

#[cfg(test)]
mod tests;
