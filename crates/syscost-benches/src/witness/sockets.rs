//! What the kernel and the far end say of sockets.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd;

use rustix::io::Errno;
use rustix::net::getsockname;
use syscost_harness::prelude::*;

use crate::net::far_end::{Family, Path};

static FAMILY: Witness = Witness::of("family of its addresses", "getsockname");

static FAR_END: Witness = Witness::of("what answers at the far end", "who gives its account");

/// Third argument but one of the calls that receive.
const FLAGS: Argument = Argument::at(3, "flags");

pub(crate) fn family(family: Family) -> Proof {
    FAMILY.expects(family.name())
}

pub(crate) fn see_family<S: AsFd>(b: &mut Bencher, sockets: impl IntoIterator<Item = S>) {
    match families(sockets) {
        Ok(all) => b.observe(&FAMILY, all),
        Err(cause) => b.unobserved(&FAMILY, cause),
    }
}

fn families<S: AsFd>(sockets: impl IntoIterator<Item = S>) -> Result<String, Errno> {
    let own = |socket: S| SocketAddr::try_from(getsockname(socket)?);
    let all: Result<BTreeSet<&str>, Errno> = sockets
        .into_iter()
        .map(|socket| own(socket).map(|own| Family::of_address(own.ip()).name()))
        .collect();
    Ok(Vec::from_iter(all?).join(" "))
}

pub(crate) fn path(path: Path) -> Proof {
    FAR_END.expects(far_end(path == Path::Loopback))
}

fn far_end(is_partner: bool) -> &'static str {
    match is_partner {
        true => "a task of this run",
        false => "syscost serve",
    }
}

/// Reports who gave the far end's account: a task that this program started, or a server.
pub(crate) fn see_far_end(b: &mut Bencher, is_partner: bool) {
    b.observe(&FAR_END, far_end(is_partner));
}

/// Reports who answers where there is no account: the kernel at this address.
pub(crate) fn see_far_kernel(b: &mut Bencher, address: Option<IpAddr>) {
    let Some(address) = address else {
        return b.unobserved(&FAR_END, "the kernel does not say where requests go");
    };
    let given = b.targets().peer().ok().map(|peer| peer.address.ip());
    match (given == Some(address), address.is_loopback()) {
        (true, true) => b.unobserved(&FAR_END, "the peer is this machine"),
        (false, false) => b.observe(&FAR_END, "another machine"),
        (_, is_loopback) => b.observe(&FAR_END, far_end(is_loopback)),
    }
}

/// Proof that every call that receives is given these flags.
pub(crate) fn receives_with(flags: u32) -> Proof {
    Proof::argument(Sysno::RECVFROM, FLAGS, ArgumentValue::Always(flags.into()))
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use super::*;

    #[test]
    fn sockets_of_another_family_and_another_far_end_are_seen() {
        let v4 = UdpSocket::bind("127.0.0.1:0").unwrap();
        assert_eq!(families([&v4, &v4]), Ok("ipv4".to_owned()));
        match UdpSocket::bind("[::1]:0") {
            Ok(v6) => assert_eq!(families([&v4, &v6]), Ok("ipv4 ipv6".to_owned())),
            Err(reason) => println!("skipped: {reason}"),
        }
        assert_ne!(far_end(true), far_end(false));
    }
}
