//! Names of ARM processors, which tell only their numbers: of the implementer and of the part, from
//! the main ID register (Arm Architecture Reference Manual, MIDR_EL1; the parts of each from their
//! technical reference manuals and Linux's `arch/arm64/include/asm/cputype.h`).

/// Who designed it.
pub(super) fn maker(implementer: u32) -> Option<&'static str> {
    Some(match implementer {
        0x41 => "ARM",
        0x42 => "Broadcom",
        0x43 => "Cavium",
        0x46 => "Fujitsu",
        0x48 => "HiSilicon",
        0x4e => "NVIDIA",
        0x50 => "APM",
        0x51 => "Qualcomm",
        0x53 => "Samsung",
        0x61 => "Apple",
        0x6d => "Microsoft",
        0xc0 => "Ampere",
        _ => return None,
    })
}

/// The name of a part of this implementer.
pub(super) fn model(implementer: u32, part: u32) -> Option<&'static str> {
    let parts: &[(u32, &str)] = match implementer {
        0x41 => &ARM,
        0x61 => &APPLE,
        0x43 => &[(0x0a1, "ThunderX"), (0x0af, "ThunderX2")],
        0x46 => &[(0x001, "A64FX")],
        0x48 => &[(0xd01, "TaiShan-v110")],
        0x4e => &[(0x004, "Carmel")],
        0x50 => &[(0x000, "X-Gene")],
        0x51 => &[(0x001, "Oryon"), (0xc00, "Falkor")],
        0x6d => &[(0xd49, "Azure-Cobalt-100")],
        0xc0 => &[(0xac3, "Ampere-1"), (0xac4, "Ampere-1a")],
        _ => &[],
    };
    let named = parts.iter().find(|(number, _)| *number == part);
    named.map(|(_, name)| *name)
}

/// Numbers of parts by Arm Ltd.
const ARM: [(u32, &str); 46] = [
    (0xb76, "ARM1176"),
    (0xc05, "Cortex-A5"),
    (0xc07, "Cortex-A7"),
    (0xc08, "Cortex-A8"),
    (0xc09, "Cortex-A9"),
    (0xc0e, "Cortex-A17"),
    (0xc0f, "Cortex-A15"),
    (0xd01, "Cortex-A32"),
    (0xd02, "Cortex-A34"),
    (0xd03, "Cortex-A53"),
    (0xd04, "Cortex-A35"),
    (0xd05, "Cortex-A55"),
    (0xd06, "Cortex-A65"),
    (0xd07, "Cortex-A57"),
    (0xd08, "Cortex-A72"),
    (0xd09, "Cortex-A73"),
    (0xd0a, "Cortex-A75"),
    (0xd0b, "Cortex-A76"),
    (0xd0c, "Neoverse-N1"),
    (0xd0d, "Cortex-A77"),
    (0xd0e, "Cortex-A76AE"),
    (0xd40, "Neoverse-V1"),
    (0xd41, "Cortex-A78"),
    (0xd42, "Cortex-A78AE"),
    (0xd44, "Cortex-X1"),
    (0xd46, "Cortex-A510"),
    (0xd47, "Cortex-A710"),
    (0xd48, "Cortex-X2"),
    (0xd49, "Neoverse-N2"),
    (0xd4a, "Neoverse-E1"),
    (0xd4b, "Cortex-A78C"),
    (0xd4c, "Cortex-X1C"),
    (0xd4d, "Cortex-A715"),
    (0xd4e, "Cortex-X3"),
    (0xd4f, "Neoverse-V2"),
    (0xd80, "Cortex-A520"),
    (0xd81, "Cortex-A720"),
    (0xd82, "Cortex-X4"),
    (0xd83, "Neoverse-V3AE"),
    (0xd84, "Neoverse-V3"),
    (0xd85, "Cortex-X925"),
    (0xd87, "Cortex-A725"),
    (0xd88, "Cortex-A520AE"),
    (0xd89, "Cortex-A720AE"),
    (0xd8e, "Neoverse-N3"),
    (0xd8f, "Cortex-A320"),
];

/// Numbers of parts by Apple.
const APPLE: [(u32, &str); 4] = [
    (0x022, "Icestorm-M1"),
    (0x023, "Firestorm-M1"),
    (0x032, "Blizzard-M2"),
    (0x033, "Avalanche-M2"),
];
