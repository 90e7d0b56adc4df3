//! What surrounds the assembly of every kernel. The instructions themselves are in [`machine`](super::machine),
//! the architecture's own module, which says what its registers hold.

/// Defines a kernel's [`Code`](super::Code): saves registers, then `inside`, then returns the checksum;
/// `procedures` follow. The instructions that leave mark the kernel's end for functions that read its code.
macro_rules! function {
    (
        $name:ident: $text:expr, operations $operations:expr, chains $chains:expr,
        $(head [$($head:expr),* $(,)?],)?
        inside [$($inside:expr),* $(,)?],
        procedures [$($procedure:expr),* $(,)?]
        $(, operands { $($operand:tt)* })?
    ) => {
        pub(in $crate::kernel) const $name: $crate::kernel::Code = {
            #[unsafe(naked)]
            unsafe extern "C" fn entry(iterations: u64, data: *mut u64, position: u64) -> u64 {
                core::arch::naked_asm!(
                    $($($head,)*)?
                    $crate::kernel::machine::enter!(),
                    $($inside,)*
                    $crate::kernel::machine::leave!(),
                    $($procedure,)*
                    $($($operand)*)?
                )
            }
            let head: &[&str] = &[$($($head),*)?];
            $crate::kernel::Code {
                entry,
                per_body: $operations,
                is_repeated: !head.is_empty(),
                chains: $chains,
                instructions: $text,
            }
        };
    };
}

/// Defines a kernel, whose [instructions](super::Code::instructions) are the text that the
/// assembler is given for an operation. Its iteration is `begin` once, `body` repeated, then
/// `after` once. How often the body is repeated is said to the assembler alone: the code begins with
/// the sizes of all bodies and of the first one, which it jumps over. Labels 4 to 9 are free for the
/// body and procedures.
macro_rules! kernel {
    (
        $name:ident: $times:literal times $per_body:literal, chains $chains:expr,
        prepare [$($prepare:expr),* $(,)?],
        $(begin [$($begin:expr),* $(,)?],)?
        body [$($body:expr),* $(,)?],
        after [$($after:expr),* $(,)?],
        finish [$($finish:expr),* $(,)?]
        $(, procedures [$($procedure:expr),* $(,)?])?
        $(, operands { $($operand:tt)* })?
    ) => {
        $crate::kernel::shell::function! {
            $name: concat!($($body, "\n",)* $($($procedure, "\n",)*)?),
            operations $per_body, chains $chains,
            head [$crate::kernel::machine::skip_sizes!(), ".balign 8", ".quad 35f - 33f", ".quad 34f - 33f", "32:"],
            inside [
                $($prepare,)*
                $crate::kernel::machine::skip!(),
                ".p2align 6",
                "2:",
                $($($begin,)*)?
                "33:",
                $($body,)*
                "34:",
                concat!(".rept ", $times, " - 1"),
                $($body,)*
                ".endr",
                "35:",
                $($after,)*
                $crate::kernel::machine::again!(),
                "3:",
                $($finish,)*
            ],
            procedures [$($($procedure),*)?]
            $(, operands { $($operand)* })?
        }
    };
}

/// Defines an empty loop: a whole loop between `2:` and `3:`. For 0 iterations it is skipped.
macro_rules! empty_loop {
    ($name:ident: prepare [$($prepare:literal),*], iteration [$($iteration:literal),*],
     finish [$($finish:literal),*]) => {
        $crate::kernel::shell::function! {
            $name: concat!($($iteration, "\n",)*), operations 1, chains 1,
            inside [
                $($prepare,)*
                $crate::kernel::machine::skip!(),
                ".p2align 6",
                "2:",
                $($iteration,)*
                "3:",
                $($finish,)*
            ],
            procedures []
        }
    };
}

/// Defines a kernel of 64 atomic operations per iteration; the cell starts at 0 unless `prepare`
/// changes it.
macro_rules! cell {
    ($name:ident: prepare [$($prepare:literal),*], body [$($body:literal),*],
     after [$($after:literal),*], finish [$($finish:literal),*]) => {
        $crate::kernel::shell::kernel! {
            $name: 64 times 1, chains 1,
            prepare [$($prepare),*], body [$($body),*], after [$($after),*], finish [$($finish),*]
        }
    };
}

/// Defines a kernel with 32 calls per iteration: `arguments`, the call, then `then`: what the
/// caller does with the result.
macro_rules! caller {
    ($name:ident: prepare [$($prepare:literal),*], arguments [$($argument:literal),*],
     call $call:literal, then [$($then:literal),*], procedure [$($procedure:literal),*]
     $(, operands { $($operand:tt)* })?) => {
        $crate::kernel::shell::kernel! {
            $name: 32 times 1, chains 1,
            prepare [$($prepare),*],
            body [$($argument,)* $call, $($then),*],
            after [],
            finish [],
            procedures [".p2align 6", "7:", $($procedure),*]
            $(, operands { $($operand)* })?
        }
    };
}

pub(super) use {caller, cell, empty_loop, function, kernel};
