//! What the kernel and the far end say of sockets.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd;

use rustix::net::getsockname;
use syscost_harness::prelude::*;

use crate::net::far_end::{Family, Path};

static FAMILY: Witness = Witness::of("family of its addresses", "getsockname");

static FAR_END: Witness = Witness::of("what answers at the far end", "who gives its account");

/// Third argument but one of the calls that receive.
const FLAGS: Argument = Argument {
    position: 3,
    name: "flags",
};

/// Proof that the addresses are of this family.
pub(crate) fn family(family: Family) -> Proof {
    FAMILY.sees(family.name())
}

/// Reports the families of these sockets' own addresses.
pub(crate) fn see_family<S: AsFd>(b: &mut Bencher, sockets: impl IntoIterator<Item = S>) {
    let own = |socket: S| SocketAddr::try_from(getsockname(socket)?);
    let all: Result<BTreeSet<&str>, _> = sockets
        .into_iter()
        .map(|socket| own(socket).map(|own| Family::of_address(own.ip()).name()))
        .collect();
    match all {
        Ok(all) => b.saw(&FAMILY, Vec::from_iter(all).join(" ")),
        Err(cause) => b.unseen(&FAMILY, cause),
    }
}

/// Proof that the far end is on this path.
pub(crate) fn path(path: Path) -> Proof {
    FAR_END.sees(far_end(path == Path::Loopback))
}

fn far_end(is_partner: bool) -> &'static str {
    match is_partner {
        true => "a task of this run",
        false => "syscost serve",
    }
}

/// Reports who gave the far end's account: a task that this program started, or a server.
pub(crate) fn see_far_end(b: &mut Bencher, is_partner: bool) {
    b.saw(&FAR_END, far_end(is_partner));
}

/// Reports who answers where there is no account: the kernel at this address.
pub(crate) fn see_far_kernel(b: &mut Bencher, address: Option<IpAddr>) {
    let Some(address) = address else {
        return b.unseen(&FAR_END, "the kernel does not say where requests go");
    };
    let given = b.targets().peer().ok().map(|peer| peer.address.ip());
    match given == Some(address) {
        true if address.is_loopback() => b.unseen(&FAR_END, "the peer is this machine"),
        is_peer => b.saw(&FAR_END, far_end(!is_peer && address.is_loopback())),
    }
}

/// Proof that every call that receives is given these flags.
pub(crate) fn receives_with(flags: u32) -> Proof {
    Proof::argument(Sysno::RECVFROM, FLAGS, ArgumentValue::Always(flags.into()))
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use syscost_harness::bencher::Pass;
    use syscost_results::Verdict;

    use super::*;
    use crate::testing::{claims, findings_by};

    #[derive(Params, Clone)]
    struct Row {
        family: Family,
        path: Path,
    }

    impl Measured for Row {
        fn rows(_: &Here) -> Vec<Case<Self>> {
            rows!(Row {
                family: [Family::Ipv4],
                path: Path::ALL
            })
        }

        fn proofs(&self) -> RowProofs<Proof> {
            RowProofs {
                family: family(self.family),
                path: path(self.path),
            }
        }

        fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
            plan.measure(Loop::infallible(|| 1))
        }
    }

    /// The claims refuted of a row on this path, with such a socket and far end.
    fn refuted(on: Path, address: &str, is_partner: bool) -> Option<usize> {
        let socket = UdpSocket::bind(address).ok()?;
        let cases = (Benchmark::of::<Row>().cases)(&Here::plain());
        let case = cases
            .iter()
            .find(|case| case.find("path") == Some(on.name()));
        let found = findings_by(case?, Pass::Timed, &[], |plan| {
            let mut outcome = plan.measure(Loop::infallible(|| 1))?;
            see_family(&mut outcome, [&socket]);
            see_far_end(&mut outcome, is_partner);
            Ok(outcome)
        });
        let found = found.expect("measured");
        let all = claims(&found, Verdict::Refuted).into_iter();
        Some(all.filter(|claim| !claim.contains("operation")).count())
    }

    #[test]
    fn another_family_or_far_end_than_named_is_refuted() {
        let v4 = "127.0.0.1:0";
        assert_eq!(refuted(Path::Loopback, v4, true), Some(0));
        assert_eq!(refuted(Path::Remote, v4, false), Some(0));
        assert_eq!(refuted(Path::Loopback, v4, false), Some(1));
        assert_eq!(refuted(Path::Remote, v4, true), Some(1));
        match refuted(Path::Loopback, "[::1]:0", true) {
            Some(refuted) => assert_eq!(refuted, 1),
            None => println!("skipped: no IPv6 here"),
        }
    }
}
