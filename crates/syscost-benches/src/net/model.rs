//! A path's latency and bandwidth, fitted to round trips of messages of several sizes.
//!
//! ## Measures
//! Nothing by itself: it is computed from the rows of `net.tcp.round_trip` of one path whose ends
//! wait the same way (`wait`). By Hockney's model a round trip takes a fixed time and a time for
//! each byte that goes there and comes back: t(n) = t₀ + 2 n / r. `term=latency` is t₀, the round
//! trip of an empty message; `term=byte` is 2 / r, what each byte adds to a round trip.
//! `bandwidth_bytes_per_s` is r, and messages of `half_bandwidth_bytes` reach half of it.
//! ## Does not measure
//! A stream. A message is received before its answer is sent, so each copy waits for the one
//! before, while a stream overlaps them where the ends have a CPU each; and a message is received
//! while it is still in the core's caches, while a stream's bytes queue up, megabytes of them. On
//! one CPU, where nothing overlaps, a stream of 64K therefore had 7.4 GB/s beside a model of 13, and
//! 5.0 to 5.5 if BBR paced it (Xeon guest, 2026-11-26). A claim compares the two: on a path between
//! machines a window smaller than the bandwidth-delay product or a shaper that lets bursts pass can
//! also hold the stream back. The other way round, no stream over loopback is many times as fast as
//! its messages.
//! ## Interpretation
//! The smaller the half-bandwidth size, the less is gained by combining messages. Loopback beside
//! remote shows how much of a round trip is this machine's own software. The model is fitted anew
//! in every round, by least squares of the relative errors; the interval shows how much rounds
//! differ, and `relative_error_percent` how far the rows of a round typically are from the model.
//! Beyond 25 % the model does not fit, and there is no value.
//! ## Source
//! Hockney, The communication challenge for MPP (1994); the LogP family's per-byte gap G:
//! Alexandrov et al., LogGP (1995).

use std::collections::BTreeMap;

use syscost_harness::Row;
use syscost_harness::prelude::*;
use syscost_net::Wait;
use syscost_results::stats::hockney::{self, MIN_POINTS, Model};
use syscost_results::{Evidence, Verdict};

use super::far_end::{self, Family, Path, remote_family};
use super::setting::{self, SIZE};
use super::tcp::bandwidth::{self, Direction, LARGE, Method, STREAMS};
use super::tcp::round_trip;
use super::waiting;
use crate::ipc::setting::same_and_nearest;

/// Maximum relative error of a model that fits its rows.
const MAX_ERROR: f64 = 0.25;

/// A model whose bandwidth is higher than a stream's by more than this factor is not confirmed:
/// something holds the stream back.
const MAX_ABOVE_STREAM: f64 = 1.5;

/// Over loopback a stream that is faster than the model by more than this factor refutes it: sending
/// and receiving overlap at most twofold, and both may be off by as much.
const MAX_BELOW_STREAM: f64 = 4.0;

const ROUND_TRIP: &str = round_trip::BENCHMARK.id;

/// The key of the parameter that names the model's term.
const TERM: &str = "term";
const LATENCY: &str = "latency";
const BYTE: &str = "byte";

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "net.model",
    title: "Network path model: latency and bandwidth",
    tags: &[
        "hockney model",
        "alpha-beta model",
        "postal model",
        "loggp",
        "startup cost",
    ],
    quantity: Quantity::Level,
    cases: Cases::Here(cases),
    full: setting::is_of_loopback,
    support: far_end::support,
    derive: Some(Derive {
        from: &[ROUND_TRIP, bandwidth::BENCHMARK.id],
        takes,
        compute,
    }),
    source: include_str!("model.rs"),
    ..Benchmark::DEFAULT
};

fn cases(here: &Here) -> Vec<Case> {
    // The placements and ways to wait for which round trips of many sizes are measured.
    let near = same_and_nearest();
    let waits = [Wait::Block, Wait::Spin].into_iter();
    let local = near
        .into_iter()
        .zip(waits)
        .map(|(place, wait)| (Path::LOOPBACK, Family::Ipv4, Some(place), wait));
    let remote = remote_family(here).map(|family| (Path::REMOTE, family, None, Wait::Block));
    let cases = local.chain(remote).flat_map(|(path, family, place, wait)| {
        [LATENCY, BYTE].map(|term| {
            let further = [(waiting::KEY, wait.name()), (TERM, term)];
            let further = further.map(|(key, value)| (key, value.to_owned()));
            setting::case(path, family, place, further)
        })
    });
    cases.collect()
}

/// Whether a row belongs to this case's path: its round trips of all sizes, and its plain stream.
fn takes(case: &Case, row: &Row) -> bool {
    let is_of_path = [Path::KEY, Family::KEY, Placement::KEY]
        .into_iter()
        .all(|key| row.case.find(key) == case.find(key));
    let is = |key, value| row.case.find(key) == Some(value);
    let is_round_trip = row.benchmark.id == ROUND_TRIP && is(waiting::KEY, case.get(waiting::KEY));
    let is_plain_stream = row.benchmark.id == bandwidth::BENCHMARK.id
        && row.case.number(STREAMS) == 1
        && row.case.number(SIZE) == LARGE as u64
        && is(Direction::KEY, Direction::Send.name())
        && is(Method::KEY, Method::Write.name());
    is_of_path && (is_round_trip || is_plain_stream)
}

fn compute(case: &Case, sources: &[Source<'_>], _: &Here) -> Result<Derived, Failure> {
    let (round_trips, streams): (Vec<&Source>, Vec<&Source>) =
        sources.iter().partition(|source| source.id == ROUND_TRIP);
    if round_trips.len() < MIN_POINTS {
        return Err(Failure::Unsupported(format!(
            "no model can be fitted to {} sizes of messages; at least {MIN_POINTS} are needed",
            round_trips.len()
        )));
    }
    let points: Vec<(f64, f64)> = round_trips
        .iter()
        .map(|source| (source.case.number(SIZE) as f64, source.median))
        .collect();
    let model = hockney::fit(&points)
        .ok_or_else(|| Failure::Failed("no model can be fitted to these times".to_owned()))?;
    // There and back.
    let bandwidth = 2e9 / model.per_byte;
    let value = match case.get(TERM) {
        LATENCY => model.latency,
        BYTE => model.per_byte,
        _ => return Err(case.unknown(TERM)),
    };
    let misfit = (model.relative_error > MAX_ERROR).then(|| {
        let percent = 100.0 * model.relative_error;
        format!(
            "the times of messages are not a fixed time plus a time per byte: the nearest are \
             {percent:.0} % off"
        )
    });
    let mut evidence = vec![fits(&model)];
    let is_loopback = case.find(Path::KEY) != Some(Path::REMOTE);
    evidence.extend(
        streams
            .first()
            .map(|stream| beside_stream(bandwidth, stream.median, is_loopback)),
    );
    let mut details = BTreeMap::from([(
        "relative_error_percent".to_owned(),
        100.0 * model.relative_error,
    )]);
    if bandwidth.is_finite() {
        details.insert("bandwidth_bytes_per_s".to_owned(), bandwidth);
        let half = model.latency / model.per_byte;
        details.insert("half_bandwidth_bytes".to_owned(), half);
    }
    Ok(Derived {
        misfit,
        value,
        evidence,
        details,
        ..Derived::default()
    })
}

/// How near the model is to its rows.
fn fits(model: &Model) -> Evidence {
    Evidence::new(
        "relative error of the fitted model",
        format!("at most {MAX_ERROR}"),
        model.relative_error,
        "least squares",
        Verdict::Confirmed,
    )
}

/// Whether single messages are about as fast as a stream on the same path.
fn beside_stream(bandwidth: f64, stream: f64, is_loopback: bool) -> Evidence {
    let factor = bandwidth / stream;
    let (verdict, reason) = if factor > MAX_ABOVE_STREAM {
        let reason = "something holds streams back that single messages do not meet: bytes that \
                      queue up leave the caches, the congestion control, a window smaller than the \
                      bandwidth-delay product, or a shaper";
        (Verdict::Unverified, Some(reason))
    } else if factor >= 1.0 / MAX_BELOW_STREAM {
        (Verdict::Confirmed, None)
    } else if is_loopback {
        let reason = "sending and receiving overlap at most twofold";
        (Verdict::Refuted, Some(reason))
    } else {
        let reason =
            "a message that takes several round trips of the path is slower than its bytes";
        (Verdict::Unverified, Some(reason))
    };
    let least = 1.0 / MAX_BELOW_STREAM;
    Evidence {
        reason: reason.map(str::to_owned),
        ..Evidence::new(
            "bandwidth of the model over that of a stream",
            format!("{least} to {MAX_ABOVE_STREAM}"),
            factor,
            bandwidth::BENCHMARK.id,
            verdict,
        )
    }
}

#[cfg(test)]
mod tests;
