//! What an interface does in place of the CPU, or once for many packets.

use std::fmt;

use crate::{SystemError, os};

/// The settings of an interface that decide how many packets the kernel's stack handles, and who
/// computes checksums, as `ethtool -k` shows them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Offloads {
    /// TCP segmentation offload: the interface cuts what is sent into segments.
    pub tso: bool,
    /// Generic segmentation offload: the kernel cuts it, right before the interface.
    pub gso: bool,
    /// Generic receive offload: the kernel joins what is received, right after the interface.
    pub gro: bool,
    /// Large receive offload: the interface joins what is received.
    pub lro: bool,
    /// The interface computes the checksums of what is sent.
    pub tx_checksum: bool,
    /// The interface verifies the checksums of what is received.
    pub rx_checksum: bool,
}

impl Offloads {
    /// The settings of an interface of this task's network namespace, by SIOCETHTOOL, which needs no
    /// privilege.
    ///
    /// # Errors
    /// When there is no such interface, or its kernel does not report them.
    pub fn of(interface: &str) -> Result<Offloads, SystemError> {
        os::offloads(interface)
            .map_err(|cause| SystemError::new("ioctl SIOCETHTOOL", interface, cause))
    }
}

impl fmt::Display for Offloads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = [
            ("tso", self.tso),
            ("gso", self.gso),
            ("gro", self.gro),
            ("lro", self.lro),
            ("tx-checksum", self.tx_checksum),
            ("rx-checksum", self.rx_checksum),
        ];
        for (index, (name, is_on)) in all.into_iter().enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            let state = if is_on { "on" } else { "off" };
            write!(f, "{comma}{name} {state}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_leaves_checksums_and_segments_alone() {
        match Offloads::of("lo") {
            // Every kernel creates `lo` like this; its transmit checksum cannot be turned off.
            Ok(offloads) => assert!(offloads.tx_checksum, "{offloads}"),
            Err(reason) => println!("skipped: {reason}"),
        }
    }

    #[test]
    fn an_interface_that_is_none_has_none() {
        for name in ["nonesuch0", "a-name-that-is-longer-than-any", "", "l\0o"] {
            let error = Offloads::of(name).unwrap_err().to_string();
            assert!(error.contains("SIOCETHTOOL"), "{error}");
        }
    }

    #[test]
    fn each_is_named_with_its_state() {
        let offloads = Offloads {
            tso: true,
            rx_checksum: true,
            ..Offloads::default()
        };
        let text = "tso on, gso off, gro off, lro off, tx-checksum off, rx-checksum on";
        assert_eq!(offloads.to_string(), text);
    }
}
