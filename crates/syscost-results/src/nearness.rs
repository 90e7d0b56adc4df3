//! How near one machine's processor is to another's.

use std::fmt;

use crate::Machine;

/// How near a processor is to another, from the farthest. What is not known of either is not the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Nearness {
    /// Of another architecture.
    Foreign,
    /// Of the same architecture.
    Architecture,
    /// Of the same vendor.
    Vendor,
    /// Of the same vendor and family, whose cores have the same caches.
    Family,
    /// Besides, of the same name, model and stepping.
    Model,
}

impl Nearness {
    /// How near two machines' processors are. A guest may be told another model than the host's, as
    /// Intel's family 6 has every Xeon: what tells families apart without a table of models is
    /// the sizes of a core's own caches, which differ between designs.
    pub fn of(one: &Machine, other: &Machine) -> Self {
        let is_of_vendor = one.cpu_vendor.is_some() && one.cpu_vendor == other.cpu_vendor;
        let are_alike = own_caches(one).next().is_some() && own_caches(one).eq(own_caches(other));
        let is_of_family = family(one).is_some() && family(one) == family(other);
        let is_model = one.cpu_signature == other.cpu_signature
            && one.cpu_model == other.cpu_model
            && !["", "unknown"].contains(&&*one.cpu_model);
        if one.arch != other.arch {
            Nearness::Foreign
        } else if is_of_vendor && is_model && are_alike {
            Nearness::Model
        } else if !is_of_vendor {
            Nearness::Architecture
        } else if is_of_family && are_alike {
            Nearness::Family
        } else {
            Nearness::Vendor
        }
    }
}

impl fmt::Display for Nearness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Nearness::Foreign => "another architecture",
            Nearness::Architecture => "another processor, same architecture",
            Nearness::Vendor => "another processor, same vendor",
            Nearness::Family => "same family and caches of a core",
            Nearness::Model => "same model",
        })
    }
}

/// The family's number on x86; other architectures have none.
fn family(machine: &Machine) -> Option<&str> {
    let numbers = machine.cpu_signature.as_deref()?.strip_prefix("family ")?;
    numbers.split(' ').next()
}

/// The caches that belong to a core; later ones are cut as the hypervisor likes.
fn own_caches(machine: &Machine) -> impl Iterator<Item = (u32, &str, Option<u64>)> {
    let own = machine.caches.iter().filter(|cache| cache.level <= 2);
    own.map(|cache| (cache.level, &*cache.kind, cache.size_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Cache;

    fn machine(vendor: &str, signature: &str, l2_kib: u64) -> Machine {
        Machine {
            arch: "x86_64".to_owned(),
            cpu_model: "Intel(R) Xeon(R) Processor".to_owned(),
            cpu_vendor: Some(vendor.to_owned()),
            cpu_signature: Some(signature.to_owned()),
            caches: vec![Cache {
                level: 2,
                kind: "unified".to_owned(),
                size_bytes: Some(l2_kib << 10),
                line_bytes: None,
                shared_by: None,
            }],
            ..Machine::default()
        }
    }

    #[test]
    fn a_processor_is_as_near_as_what_is_known_of_both() {
        // Granite Rapids as a guest sees it: by the number of the model a Rocket Lake.
        let guest = machine("GenuineIntel", "family 6 model 167 stepping 1", 2048);
        let host = machine("GenuineIntel", "family 6 model 173 stepping 1", 2048);
        let rocket_lake = machine("GenuineIntel", "family 6 model 167 stepping 1", 512);
        let epyc = machine("AuthenticAMD", "family 26 model 2 stepping 1", 2048);
        let arm = Machine {
            arch: "aarch64".to_owned(),
            ..guest.clone()
        };
        for (other, nearness) in [
            (&guest, Nearness::Model),
            (&host, Nearness::Family),
            (&rocket_lake, Nearness::Vendor),
            (&epyc, Nearness::Architecture),
            (&arm, Nearness::Foreign),
        ] {
            assert_eq!(Nearness::of(&guest, other), nearness);
            assert_eq!(Nearness::of(other, &guest), nearness);
        }
        let unknown = Machine::default();
        assert_eq!(Nearness::of(&unknown, &unknown), Nearness::Architecture);
        let nameless = Machine {
            cpu_model: "unknown".to_owned(),
            caches: Vec::new(),
            ..guest
        };
        assert_eq!(Nearness::of(&nameless, &nameless), Nearness::Vendor);
    }
}
