//! The queueing disciplines of interfaces, and how often they held a packet back.

use std::io;

use crate::{SystemError, os};

/// The root queueing discipline (qdisc) of an interface, as `tc -s qdisc` shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queue {
    /// Kind of the queue, e.g. `fq_codel`, `tbf`.
    pub kind: String,
    /// How often it held a packet back because its rate was reached, since it was created: only
    /// shapers count this.
    pub overlimits: u32,
}

impl Queue {
    /// The queue of an interface of this task's network namespace, by RTM_GETQDISC, which needs no
    /// privilege. `None` where it has none.
    ///
    /// # Errors
    /// When there is no such interface, or the kernel does not report it.
    pub fn of(interface: &str) -> Result<Option<Queue>, SystemError> {
        let failed = |cause| SystemError::new("RTM_GETQDISC", interface, cause);
        let index = os::interface_index(interface).map_err(failed)?;
        let dump = os::queue_dump().map_err(failed)?;
        root_of(&dump, index).map_err(failed)
    }
}

/// Numbers of linux/rtnetlink.h, linux/pkt_sched.h and linux/gen_stats.h.
const RTM_NEWQDISC: u16 = 36;
const TC_H_ROOT: u32 = u32::MAX;
const TCA_KIND: u16 = 1;
const TCA_STATS2: u16 = 7;
const TCA_STATS_QUEUE: u16 = 3;

/// Set in an attribute's type where it holds nested ones.
const NLA_F_NESTED: u16 = 1 << 15;

/// Bytes of `struct nlmsghdr`, of `struct tcmsg` and of `struct nlattr`.
const HEADER: usize = 16;
const TC_MESSAGE: usize = 20;
const ATTRIBUTE: usize = 4;

/// The root qdisc of the interface of this number, in the kernel's answer to a dump of all.
fn root_of(dump: &[u8], interface: u32) -> io::Result<Option<Queue>> {
    for (kind, message) in parts(dump, HEADER, |head| {
        Some((word(head, 0)? as usize, short(head, 4)?))
    }) {
        let place = (word(message, 4), word(message, 12));
        if kind != RTM_NEWQDISC || place != (Some(interface), Some(TC_H_ROOT)) {
            continue;
        }
        let rest = message.get(TC_MESSAGE..).unwrap_or_default();
        let cut = || io::Error::from(io::ErrorKind::InvalidData);
        let name = find(rest, TCA_KIND).ok_or_else(cut)?;
        let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
        // qlen, backlog, drops, requeues, overlimits.
        let figures = find(rest, TCA_STATS2).and_then(|all| find(all, TCA_STATS_QUEUE));
        return Ok(Some(Queue {
            kind: String::from_utf8_lossy(name).into_owned(),
            overlimits: figures.and_then(|it| word(it, 16)).ok_or_else(cut)?,
        }));
    }
    Ok(None)
}

/// The content of the attribute of this type.
fn find(attributes: &[u8], wanted: u16) -> Option<&[u8]> {
    let mut all = parts(attributes, ATTRIBUTE, |head| {
        Some((
            usize::from(short(head, 0)?),
            short(head, 2)? & !NLA_F_NESTED,
        ))
    });
    all.find(|(kind, _)| *kind == wanted)
        .map(|(_, content)| content)
}

/// Netlink's parts in sequence, each at a multiple of four bytes: a header of this many
/// bytes, which holds the length of the whole and the type, and the content. Ends at the first
/// incomplete part.
fn parts(
    mut bytes: &[u8],
    head: usize,
    read: impl Fn(&[u8]) -> Option<(usize, u16)>,
) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let (length, kind) = read(bytes)?;
        let content = bytes.get(head..length)?;
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((kind, content))
    })
}

fn short(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..at + 2)?;
    Some(u16::from_ne_bytes(bytes.try_into().expect("two bytes")))
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + 4)?;
    Some(u32::from_ne_bytes(bytes.try_into().expect("four bytes")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attribute(kind: u16, content: &[u8]) -> Vec<u8> {
        let length = (ATTRIBUTE + content.len()) as u16;
        let mut bytes = [length.to_ne_bytes(), kind.to_ne_bytes()].concat();
        bytes.extend_from_slice(content);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    fn message(kind: u16, interface: u32, parent: u32, attributes: &[u8]) -> Vec<u8> {
        let length = (HEADER + TC_MESSAGE + attributes.len()) as u32;
        let mut bytes = length.to_ne_bytes().to_vec();
        bytes.extend_from_slice(&kind.to_ne_bytes());
        bytes.resize(HEADER, 0);
        for word in [0, interface, 0x1_0000, parent, 1] {
            bytes.extend_from_slice(&word.to_ne_bytes());
        }
        bytes.extend_from_slice(attributes);
        bytes
    }

    fn queue(kind: &[u8], overlimits: u32) -> Vec<u8> {
        let figures = [9, 8, 7, 6, overlimits].map(u32::to_ne_bytes).concat();
        let basic = attribute(1, &[0; 16]);
        let stats = [basic, attribute(TCA_STATS_QUEUE, &figures)].concat();
        let stats = attribute(TCA_STATS2 | NLA_F_NESTED, &stats);
        [attribute(TCA_KIND, kind), attribute(2, b"odd"), stats].concat()
    }

    #[test]
    fn the_root_of_an_interface_is_found_among_others() {
        let dump = [
            message(RTM_NEWQDISC, 2, TC_H_ROOT, &queue(b"noqueue\0", 0)),
            message(RTM_NEWQDISC, 3, 0x1_0001, &queue(b"pfifo\0", 1)),
            message(RTM_NEWQDISC, 3, TC_H_ROOT, &queue(b"tbf\0", 4711)),
            message(3, 0, 0, &[]),
        ]
        .concat();
        let expected = Queue {
            kind: "tbf".to_owned(),
            overlimits: 4711,
        };
        assert_eq!(root_of(&dump, 3).unwrap(), Some(expected));
        assert_eq!(root_of(&dump, 7).unwrap(), None);
    }

    #[test]
    fn what_is_cut_short_is_no_queue() {
        let whole = message(RTM_NEWQDISC, 3, TC_H_ROOT, &queue(b"tbf\0", 4711));
        for length in 0..whole.len() {
            assert_eq!(root_of(&whole[..length], 3).unwrap(), None, "{length}");
        }
        let bare = message(RTM_NEWQDISC, 3, TC_H_ROOT, &attribute(TCA_KIND, b"tbf\0"));
        assert!(root_of(&bare, 3).is_err());
    }

    #[test]
    fn loopback_holds_nothing_back() {
        println!("{:?}", or_skip!(Queue::of("lo")));
        assert!(Queue::of("nonesuch0").is_err());
    }
}
