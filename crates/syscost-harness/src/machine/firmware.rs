//! What the firmware tells of the machine: its product, its own version, the memory modules.

use std::collections::BTreeMap;

use syscost_results::Machine;
use syscost_results::machine::MemoryModule;

use super::tree::Tree;

/// Where udev keeps what its program `dmi_memory_id` (systemd 248 and later) read from the firmware's tables, which
/// only root may read: a line `E:NAME=value` for each property.
const UDEV: &str = "run/udev/data/+dmi:id";

/// Values by which firmware says that nobody filled in the field.
const BLANK: [&str; 6] = [
    "to be filled by o.e.m.",
    "system manufacturer",
    "system product name",
    "default string",
    "not specified",
    "none",
];

impl Tree<'_> {
    /// Enters product, firmware and memory modules.
    pub(super) fn describe_firmware(&self, machine: &mut Machine) {
        machine.product = self.of_firmware(&["sys_vendor", "product_name"]);
        machine.firmware = self.of_firmware(&["bios_vendor", "bios_version", "bios_date"]);
        machine.memory_modules = self.text(UDEV).map_or_else(Vec::new, |text| modules(&text));
    }

    /// The fields that are filled in, one after the other.
    fn of_firmware(&self, fields: &[&str]) -> Option<String> {
        let texts = fields
            .iter()
            .filter_map(|field| self.text(&format!("sys/class/dmi/id/{field}")))
            .filter(|text| !BLANK.contains(&&*text.to_lowercase()));
        let text = texts.collect::<Vec<String>>().join(" ");
        Some(text).filter(|text| !text.is_empty())
    }
}

/// The modules in udev's properties, by the number of their slot. An empty slot has no size.
fn modules(text: &str) -> Vec<MemoryModule> {
    let mut slots: BTreeMap<u32, BTreeMap<&str, &str>> = BTreeMap::new();
    for line in text.lines() {
        let property = line
            .strip_prefix("E:MEMORY_DEVICE_")
            .and_then(|rest| rest.split_once('_'))
            .and_then(|(slot, rest)| Some((slot.parse().ok()?, rest.split_once('=')?)));
        if let Some((slot, (name, value))) = property {
            slots.entry(slot).or_default().insert(name, value.trim());
        }
    }
    let plugged = slots.into_iter().filter_map(|(slot, properties)| {
        let number = |name: &str| properties.get(name)?.parse::<u64>().ok();
        let size = number("SIZE").filter(|bytes| *bytes > 0)?;
        let rate = number("CONFIGURED_SPEED_MTS").or_else(|| number("SPEED_MTS"));
        let text = |name: &str| properties.get(name).map(|text| (*text).to_owned());
        Some(MemoryModule {
            slot: text("LOCATOR").unwrap_or_else(|| slot.to_string()),
            kind: text("TYPE"),
            size_bytes: Some(size),
            transfers_m_per_s: rate.and_then(|rate| u32::try_from(rate).ok()),
        })
    });
    plugged.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_those_of_slots_that_are_filled() {
        let text = "I:1234\n\
                    E:MEMORY_DEVICE_0_LOCATOR=DIMM_A1\n\
                    E:MEMORY_DEVICE_0_TYPE=DDR4\n\
                    E:MEMORY_DEVICE_0_SIZE=34359738368\n\
                    E:MEMORY_DEVICE_0_SPEED_MTS=3200\n\
                    E:MEMORY_DEVICE_0_CONFIGURED_SPEED_MTS=2666\n\
                    E:MEMORY_DEVICE_1_LOCATOR=DIMM_A2\n\
                    E:MEMORY_DEVICE_1_PRESENT=0\n\
                    E:MEMORY_DEVICE_10_SIZE=17179869184\n\
                    E:MEMORY_DEVICE_10_SPEED_MTS=3200\n\
                    E:MEMORY_ARRAY_NUM_DEVICES=16\n";
        let module = |slot: &str, kind: Option<&str>, gib: u64, rate| MemoryModule {
            slot: slot.to_owned(),
            kind: kind.map(str::to_owned),
            size_bytes: Some(gib << 30),
            transfers_m_per_s: Some(rate),
        };
        assert_eq!(
            modules(text),
            [
                module("DIMM_A1", Some("DDR4"), 32, 2666),
                module("10", None, 16, 3200)
            ]
        );
    }

    #[test]
    fn fields_that_nobody_filled_in_tell_nothing() {
        let root = tempfile::tempdir().expect("a temporary folder");
        let folder = root.path().join("sys/class/dmi/id");
        std::fs::create_dir_all(&folder).expect("make the folder");
        let write = |name: &str, text: &str| {
            std::fs::write(folder.join(name), text).expect("write the file");
        };
        write("sys_vendor", "Amazon EC2\n");
        write("product_name", "m5.large\n");
        write("bios_version", "To Be Filled By O.E.M.\n");
        let mut machine = Machine::default();
        Tree::new(root.path()).describe_firmware(&mut machine);
        assert_eq!(machine.product.as_deref(), Some("Amazon EC2 m5.large"));
        assert_eq!(machine.firmware, None);
        assert!(machine.memory_modules.is_empty());
    }
}
