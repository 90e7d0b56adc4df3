//! Two datagram sockets, each with a path until they are connected to each other.

use std::os::fd::OwnedFd;

use rustix::net::{SocketType, connect};
use syscost_harness::prelude::*;

use super::by_packet::{PLAIN, Packets};
use super::mechanism::{LARGE, LINE, Mechanism, Rows};
use super::unix_stream::bound;

const SIZES: &[Bytes] = &[LINE, Bytes::kib(4), LARGE];

pub(super) const MECHANISM: Mechanism = Mechanism {
    descriptors: "unix datagram socket with a path",
    round_trips: Rows {
        same: SIZES,
        other: &[LINE],
        ..Rows::ROUND_TRIPS
    },
    bandwidths: Rows {
        same: SIZES,
        ..Rows::BANDWIDTHS
    },
    ..PLAIN
};

pub(super) struct UnixDatagram;

impl Packets for UnixDatagram {
    fn open() -> Result<(OwnedFd, OwnedFd), Failure> {
        let failed = |error| Failure::of("connect unix datagram sockets", error);
        let (own, own_file, own_address) = bound(SocketType::DGRAM)?;
        let (partner, partner_file, partner_address) = bound(SocketType::DGRAM)?;
        connect(&own, &partner_address).map_err(failed)?;
        connect(&partner, &own_address).map_err(failed)?;
        drop((own_file, partner_file));
        Ok((own, partner))
    }
}
