//! Executable files of our own, as the System V ABI lays them out: little-endian, without sections.

/// A function that gives the instructions of a program of our own, for each architecture: they are
/// constants of this program, between two labels, and are not executed in it.
macro_rules! machine_code {
    (
        $(#[$doc:meta])* $get:ident: $begin:ident to $end:ident in $section:literal,
        x86_64 [$($x86_64:literal,)*], aarch64 [$($aarch64:literal,)*],
        $($operand:ident = const $value:expr,)*
    ) => {
        #[cfg(target_arch = "x86_64")]
        machine_code!(@asm $begin $end $section [$($x86_64,)*] $($operand = const $value,)*);
        #[cfg(target_arch = "aarch64")]
        machine_code!(@asm $begin $end $section [$($aarch64,)*] $($operand = const $value,)*);

        $(#[$doc])*
        pub(super) fn $get() -> &'static [u8] {
            unsafe extern "C" {
                static $begin: u8;
                static $end: u8;
            }
            let (begin, end) = (&raw const $begin, &raw const $end);
            // SAFETY: both labels are in one section of constants, the end after the beginning.
            unsafe { std::slice::from_raw_parts(begin, end.addr() - begin.addr()) }
        }
    };
    (@asm $begin:ident $end:ident $section:literal [$($line:literal,)*] $($operand:tt)*) => {
        std::arch::global_asm!(
            concat!(".pushsection ", $section, ", \"a\", @progbits"),
            ".p2align 2",
            concat!(".hidden ", stringify!($begin), "\n.globl ", stringify!($begin)),
            concat!(stringify!($begin), ":"),
            $($line,)*
            concat!(".hidden ", stringify!($end), "\n.globl ", stringify!($end)),
            concat!(stringify!($end), ":"),
            ".popsection",
            $($operand)*
        );
    };
}
pub(crate) use machine_code;

/// Where a program begins: a multiple of every page size.
pub(crate) const BASE: u64 = 0x40_0000;

/// A multiple of every page size: segments that are this far apart are in different pages.
pub(crate) const ALIGNMENT: u64 = 0x1_0000;

/// Lengths of the file header and of a program header, in bytes.
const FILE_HEADER: u16 = 64;
const PROGRAM_HEADER: u16 = 56;

/// EM_X86_64 or EM_AARCH64.
const MACHINE: u16 = if cfg!(target_arch = "x86_64") {
    62
} else {
    183
};

/// What a program may do with a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read = 4,
    ReadAndExecute = 4 | 1,
    ReadAndWrite = 4 | 2,
}

/// A part of a program: bytes at an address, followed by this many zeros.
pub(crate) struct Segment<'a> {
    pub(crate) access: Access,
    pub(crate) address: u64,
    pub(crate) bytes: &'a [u8],
    pub(crate) zeros: u64,
}

/// The length of the headers of a file with this many segments, in bytes.
pub(crate) const fn headers(segments: u16) -> u64 {
    (FILE_HEADER + segments * PROGRAM_HEADER) as u64
}

/// The file of a program that begins at `entry`. The segments are in the order of their addresses;
/// the file's headers come first, and are in the first page of the first segment.
pub(crate) fn executable(entry: u64, segments: &[Segment<'_>]) -> Vec<u8> {
    /// Type of the file (`ET_EXEC`) and of its segments (`PT_LOAD`).
    const EXECUTABLE: u16 = 2;
    const LOAD: u32 = 1;
    let count = segments.len() as u16;
    let mut file = b"\x7fELF\x02\x01\x01".to_vec();
    file.resize(16, 0);
    for half in [EXECUTABLE, MACHINE] {
        file.extend(half.to_le_bytes());
    }
    file.extend(1_u32.to_le_bytes()); // version
    for long in [entry, u64::from(FILE_HEADER), 0] {
        file.extend(long.to_le_bytes()); // program headers, no sections
    }
    file.extend(0_u32.to_le_bytes()); // flags
    for half in [FILE_HEADER, PROGRAM_HEADER, count, 0, 0, 0] {
        file.extend(half.to_le_bytes());
    }
    let mut content = Vec::new();
    for segment in segments {
        // Offset and address are equal within a page.
        let end = headers(count) + content.len() as u64;
        let ahead = segment.address.wrapping_sub(end) % ALIGNMENT;
        content.resize(content.len() + ahead as usize, 0);
        content.extend(segment.bytes);
        for word in [LOAD, segment.access as u32] {
            file.extend(word.to_le_bytes());
        }
        let (offset, stored) = (end + ahead, segment.bytes.len() as u64);
        let places = [offset, segment.address, segment.address, stored];
        for long in places
            .into_iter()
            .chain([stored + segment.zeros, ALIGNMENT])
        {
            file.extend(long.to_le_bytes());
        }
    }
    file.extend(content);
    file
}
