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

mod hockney;

use std::collections::BTreeMap;

use syscost_harness::prelude::*;
use syscost_net::Wait;

use super::far_end::{Destination, Family, Networked, OverNetwork, Path};
use super::round_trip::NetRoundTrip as RoundTrip;
use super::tcp::bandwidth;
use crate::ipc::traffic::same_and_nearest;

use hockney::{MIN_POINTS, Model};

/// Maximum relative error of a model that fits its rows.
const MAX_ERROR: f64 = 0.25;

/// A model whose bandwidth is higher than a stream's by more than this factor is not confirmed:
/// something holds the stream back.
const MAX_ABOVE_STREAM: f64 = 1.5;

/// Over loopback a stream that is faster than the model by more than this factor refutes it: sending
/// and receiving overlap at most twofold, and both may be off by as much.
const MAX_BELOW_STREAM: f64 = 4.0;

const ROUND_TRIP: &str = id!(net::tcp::round_trip);

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Network path model: latency and bandwidth",
    tags: "hockney model, alpha-beta model, postal model, loggp, startup cost",
    quantity: Quantity::Level,
    ..Benchmark::computed::<NetModel>()
};

/// Which term of the model it is.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Term {
    /// The time of an empty message.
    Latency,
    /// The time of each byte.
    Byte,
}

#[derive(Params, Clone)]
struct NetModel {
    path: Path,
    family: Family,
    cpus: Option<Placement>,
    wait: Wait,
    term: Term,
}

impl NetModel {
    fn destination(&self) -> Destination {
        Destination::new(self.path, self.family, self.cpus)
    }
}

impl Computed for NetModel {
    const FROM: &'static [&'static str] = &[ROUND_TRIP, id!(net::tcp::bandwidth)];
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        // The placements and ways to wait for which round trips of many sizes are measured.
        rows!(NetModel {
            path: Path::each(here),
            family: path.families(here).into_iter().take(1),
            cpus: path.cpus(&same_and_nearest(here)),
            wait: match cpus {
                None | Some(Placement::SAME) => [Wait::Block],
                Some(_) => [Wait::Spin],
            },
            term: Term::ALL
        })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match self.path {
            Path::Loopback => Profile::Full,
            Path::Remote => Profile::Standard,
        }
    }

    fn support(&self, here: &Testbed) -> Result<(), Unsupported> {
        self.destination().support(here)
    }

    /// Its path's round trips of all sizes, and its plain stream.
    fn takes(&self, other: &syscost_harness::Row) -> bool {
        let to = self.destination();
        let trip = other.case.row::<OverNetwork<RoundTrip>>();
        let stream = other.case.row::<OverNetwork<bandwidth::TcpBandwidth>>();
        trip.is_some_and(|OverNetwork(trip)| trip.destination() == to && trip.wait == self.wait)
            || stream
                .is_some_and(|OverNetwork(stream)| stream.destination() == to && stream.is_plain())
    }

    fn compute(&self, sources: &[Source<'_>], _: &Testbed) -> Result<ComputedValue, Failure> {
        let (round_trips, streams): (Vec<&Source>, Vec<&Source>) =
            sources.iter().partition(|source| source.id == ROUND_TRIP);
        let point = |source: &&Source| {
            let OverNetwork(row) = source.row::<OverNetwork<RoundTrip>>()?;
            Ok((row.size.0 as f64, source.median))
        };
        let points: Result<Vec<_>, Failure> = round_trips.iter().map(point).collect();
        modelled(self, &points?, streams.first().map(|stream| stream.median))
    }
}

/// The model of this row, of round trips of these bytes and times in ns, beside the bandwidth of
/// a stream.
fn modelled(
    row: &NetModel,
    points: &[(f64, f64)],
    stream: Option<f64>,
) -> Result<ComputedValue, Failure> {
    if points.len() < MIN_POINTS {
        return Err(Failure::Unsupported(format!(
            "no model can be fitted to {} sizes of messages; at least {MIN_POINTS} are needed",
            points.len()
        )));
    }
    let model = hockney::fit(points)
        .ok_or_else(|| Failure::Failed("no model can be fitted to these times".to_owned()))?;
    // There and back.
    let bandwidth = 2e9 / model.per_byte;
    let value = match row.term {
        Term::Latency => model.latency,
        Term::Byte => model.per_byte,
    };
    let misfit = (model.relative_error > MAX_ERROR).then(|| {
        let percent = 100.0 * model.relative_error;
        format!(
            "the times of messages are not a fixed time plus a time per byte: the nearest are \
             {percent:.0} % off"
        )
    });
    let mut evidence = vec![fits(&model)];
    evidence.extend(stream.map(|stream| beside_stream(bandwidth, stream, row.path)));
    let mut details = BTreeMap::from([(
        "relative_error_percent".to_owned(),
        100.0 * model.relative_error,
    )]);
    if bandwidth.is_finite() {
        details.insert("bandwidth_bytes_per_s".to_owned(), bandwidth);
        let half = model.latency / model.per_byte;
        details.insert("half_bandwidth_bytes".to_owned(), half);
    }
    Ok(ComputedValue {
        misfit,
        value,
        evidence,
        details,
        ..ComputedValue::default()
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
fn beside_stream(bandwidth: f64, stream: f64, path: Path) -> Evidence {
    let factor = bandwidth / stream;
    let (verdict, reason) = if factor > MAX_ABOVE_STREAM {
        let reason = "something holds streams back that single messages do not meet: bytes that \
                      queue up leave the caches, the congestion control, a window smaller than the \
                      bandwidth-delay product, or a shaper";
        (Verdict::Unverified, Some(reason))
    } else if factor >= 1.0 / MAX_BELOW_STREAM {
        (Verdict::Confirmed, None)
    } else if path == Path::Loopback {
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
            id!(net::tcp::bandwidth),
            verdict,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The row of a model on this machine.
    fn of_model(term: Term) -> NetModel {
        NetModel {
            path: Path::Loopback,
            family: Family::Ipv4,
            cpus: Some(Placement::SAME),
            wait: Wait::Block,
            term,
        }
    }

    /// The model of round trips with these times, and of a stream with this bandwidth.
    fn computed(
        term: Term,
        time: impl Fn(f64) -> f64,
        stream: f64,
    ) -> Result<ComputedValue, Failure> {
        let sizes = [1.0, 64.0, 1024.0, 4096.0, 16_384.0, 65_536.0];
        let points = sizes.map(|bytes| (bytes, time(bytes)));
        modelled(&of_model(term), &points, Some(stream))
    }

    fn verdicts(computed: &ComputedValue) -> Vec<Verdict> {
        computed.evidence.iter().map(|one| one.verdict).collect()
    }

    #[test]
    fn the_terms_of_a_path_are_found() {
        // 20 us, and 1 GB/s each way.
        let time = |bytes: f64| 20_000.0 + 2.0 * bytes;
        let latency = computed(Term::Latency, time, 1.2e9).unwrap();
        let byte = computed(Term::Byte, time, 1.2e9).unwrap();
        assert!((latency.value - 20_000.0).abs() < 1.0, "{latency:?}");
        assert!((byte.value - 2.0).abs() < 1e-6, "{byte:?}");
        for computed in [latency, byte] {
            assert!((computed.details["bandwidth_bytes_per_s"] / 1e9 - 1.0).abs() < 1e-6);
            assert!((computed.details["half_bandwidth_bytes"] - 10_000.0).abs() < 1.0);
            assert_eq!(verdicts(&computed), [Verdict::Confirmed; 2]);
        }
    }

    #[test]
    fn a_slower_stream_is_held_back_and_one_many_times_as_fast_refutes_the_model() {
        let time = |bytes: f64| 20_000.0 + 2.0 * bytes;
        for (stream, expected) in [
            (0.1e9, Verdict::Unverified),
            (0.5e9, Verdict::Unverified),
            (0.8e9, Verdict::Confirmed),
            (3.5e9, Verdict::Confirmed),
            // Bits for bytes.
            (8e9, Verdict::Refuted),
        ] {
            let computed = computed(Term::Latency, time, stream).unwrap();
            assert_eq!(
                verdicts(&computed),
                [Verdict::Confirmed, expected],
                "{stream}"
            );
        }
        assert_eq!(
            beside_stream(1e9, 8e9, Path::Remote).verdict,
            Verdict::Unverified
        );
    }

    #[test]
    fn what_is_no_line_has_no_model() {
        let step = |bytes: f64| if bytes < 2000.0 { 20_000.0 } else { 90_000.0 };
        let misfit = computed(Term::Latency, step, 1e9).unwrap().misfit;
        assert!(misfit.is_some_and(|misfit| misfit.starts_with("the times of messages are not")));
        let line = computed(Term::Latency, |bytes| 20_000.0 + bytes, 1e9).unwrap();
        assert_eq!(line.misfit, None);
    }

    #[test]
    fn a_few_sizes_have_no_model() {
        let few = modelled(&of_model(Term::Latency), &[], None);
        assert!(matches!(few, Err(Failure::Unsupported(_))));
    }
}
