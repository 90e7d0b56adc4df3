//! Every kernel of every kind computes what it must, and is missing only for a reason.

use super::*;
use crate::Unsupported;

/// All kernels by name, with the instructions that it stands for, or the reason why one does not
/// exist here.
fn catalogue() -> Vec<(String, Option<String>, Result<Kernel, Unsupported>)> {
    let mut all = Vec::new();
    for shape in Shape::ALL {
        for operation in Operation::ALL {
            for kind in OperandType::ALL {
                let name = format!("{} {} {}", operation.name(), kind.name(), shape.name());
                let meant = operation.instructions(kind, shape);
                all.push((name, Some(meant), arithmetic(operation, kind, shape)));
            }
        }
        for simd in Simd::ALL {
            for operation in VectorOperation::ALL {
                let name = format!("{} {} {}", simd.name(), operation.name(), shape.name());
                let meant = operation.instructions(simd, shape);
                all.push((name, Some(meant), vector(simd, operation, shape)));
            }
        }
    }
    all.extend(Atomic::ALL.map(|operation| {
        let meant = operation.instructions().to_owned();
        (
            format!("atomic {}", operation.name()),
            Some(meant),
            atomic(operation),
        )
    }));
    all.extend(LoopShape::ALL.map(|shape| {
        let meant = shape.instructions().to_owned();
        (
            format!("loop {}", shape.name()),
            Some(meant),
            Ok(empty_loop(shape)),
        )
    }));
    all.extend(
        Forward::ALL.map(|kind| (format!("forward {}", kind.name()), None, Ok(forward(kind)))),
    );
    all.extend([1, 10, 100].map(|adds| (format!("chain {adds}"), None, dependent_adds(adds))));
    let directions = [
        Directions::Taken,
        Directions::NotTaken,
        Directions::Alternating,
        Directions::Random(3),
    ];
    let branches = [Branch::Taken, Branch::NotTaken, Branch::Indirect];
    let targets = [Targets::Same, Targets::Random(5)];
    let branches = branches.into_iter().chain(directions.map(Branch::OnBit));
    let branches = branches.chain(directions.map(Branch::OnLoad));
    let branches = branches.chain(targets.map(Branch::IndirectByTable));
    all.extend(branches.map(|kind| {
        let meant = kind.instructions().to_owned();
        (format!("{kind:?}"), Some(meant), Ok(branch(kind)))
    }));
    let calls = (0..=MAX_ARGUMENTS)
        .map(Call::Integer)
        .chain([1, 8, 64, 256, MAX_DEPTH].map(Call::Recursion));
    let calls = calls.chain(targets.map(Call::PointerByTable)).chain([
        Call::RecursionByChance { depth: 40, seed: 1 },
        Call::Double,
        Call::EightDoubles,
        Call::StructArgument16,
        Call::StructArgument64,
        Call::StructReturn16,
        Call::StructReturn64,
        Call::Pointer,
        Call::LinkageStub,
        Call::Virtual,
    ]);
    all.extend(calls.map(|kind| (format!("{kind:?}"), Some(kind.instructions()), call(kind))));
    all
}

#[test]
fn every_kernel_returns_its_checksum_for_no_one_and_many_iterations() {
    for (name, _, kernel) in catalogue() {
        let Ok(kernel) = kernel else { continue };
        for iterations in [0, 1, 2, 3, 77, 154] {
            let expected = kernel.expected(iterations);
            assert_eq!(
                kernel.run(iterations),
                expected,
                "{name}, {iterations} iterations"
            );
        }
    }
}

#[test]
fn every_kernel_is_made_of_the_instructions_that_its_name_stands_for() {
    let mut others = Vec::new();
    for (name, meant, kernel) in catalogue() {
        let listed = kernel.map(|kernel| kernel.instructions());
        if let (Some(meant), Ok(listed)) = (meant, listed)
            && meant != listed
        {
            others.push((name, meant, listed));
        }
    }
    assert!(others.is_empty(), "{others:#?}");
}

#[test]
fn every_kernel_holds_as_many_operations_as_it_says() {
    for (name, _, kernel) in catalogue() {
        let Ok(kernel) = kernel else { continue };
        let said = kernel.operations_per_iteration;
        assert_eq!(kernel.operations_in_code.unwrap_or(said), said, "{name}");
    }
    let fence = atomic(Atomic::Fence).expect("on both architectures");
    assert_eq!(fence.operations_in_code, Some(64));
}

#[test]
fn a_body_that_says_more_operations_than_it_can_fall_into_is_told() {
    let code = machine::atomic::atomic(Atomic::Fence).expect("on both architectures");
    let twice = Code {
        per_body: 2,
        ..code
    };
    assert_eq!(twice.operations(), 128);
    assert_eq!(twice.operations_in_code(), Some(64));
}

#[test]
fn tables_are_walked_on_and_around_over_several_runs() {
    for kernel in [
        branch(Branch::OnBit(Directions::Random(11))),
        branch(Branch::OnLoad(Directions::Random(14))),
        branch(Branch::IndirectByTable(Targets::Random(12))),
        call(Call::PointerByTable(Targets::Random(13))).expect("written for both architectures"),
    ] {
        let lap = 1 << 15;
        let mut seen = Vec::new();
        for iterations in [lap / 2 - 1, lap, 5, 3 * lap + 1, 1000] {
            let expected = kernel.expected(iterations);
            assert_eq!(
                kernel.run(iterations),
                expected,
                "{}, {iterations} iterations",
                kernel.instructions()
            );
            seen.push(expected / iterations);
        }
        let (first, second) = (kernel.run(100), kernel.run(100));
        assert_ne!(
            first, second,
            "a run must not start at the table's beginning again"
        );
    }
}

#[test]
fn float_counters_that_are_full_stay_full() {
    let Ok(kernel) = arithmetic(Operation::Add, OperandType::F32, Shape::Latency) else {
        return;
    };
    let iterations = (1 << 24) / kernel.operations_per_iteration;
    assert_eq!(
        kernel.run(iterations - 1),
        (1 << 24) - kernel.operations_per_iteration
    );
    assert_eq!(kernel.run(iterations + 100), 1 << 24);
    assert_eq!(kernel.expected(iterations + 100), 1 << 24);
}

#[test]
fn wrapping_counters_and_powers_follow_their_closed_forms() {
    let counters = Closed::Counters {
        chains: 3,
        steps_per_iteration: 1 << 30,
        limit: u64::MAX,
        bits: 32,
    };
    assert_eq!(
        counters.value(5),
        3 << 30,
        "5 * 2^30 wraps to 2^30 in each chain"
    );
    let powers = Closed::Powers {
        chains: 2,
        steps_per_iteration: 7,
        base: 3,
        bits: 64,
    };
    assert_eq!(powers.value(9), 2_u64.wrapping_mul(3_u64.wrapping_pow(63)));
    let narrow = Closed::Powers {
        chains: 1,
        steps_per_iteration: 64,
        base: 3,
        bits: 32,
    };
    assert_eq!(narrow.value(1), u64::from(3_u32.wrapping_pow(64)));
}

#[test]
fn a_chain_of_additions_divides_the_iteration_and_says_so_otherwise() {
    let Ok(ten) = dependent_adds(10) else { return };
    assert_eq!(ten.operations_per_iteration, 20);
    assert_eq!(
        ten.run(7),
        7 * 200,
        "the iteration has 200 additions however they are shared"
    );
    for wrong in [0, 3, 400] {
        let reason = dependent_adds(wrong)
            .expect_err("not a divisor")
            .to_string();
        assert!(reason.contains("divisor of 200"), "{reason}");
    }
}

#[test]
fn calls_past_the_limits_are_refused_with_the_limit() {
    let refusals = [
        (Call::Integer(9), "at most 8"),
        (Call::Recursion(0), "1 to 1024"),
        (Call::Recursion(1025), "1 to 1024"),
        (Call::RecursionByChance { depth: 65, seed: 1 }, "1 to 64"),
    ];
    for (wrong, part) in refusals {
        let reason = call(wrong).expect_err("past the limit").to_string();
        assert!(reason.contains(part), "{reason}");
    }
}

/// A kernel is missing only if the processor lacks the instructions.
#[test]
fn only_operations_without_an_instruction_are_unsupported() {
    let excuses = [
        "no such instruction",
        "library's loop",
        "long form",
        "bitwise",
        "this processor has no",
        "Neon",
        "SSE2",
        "AVX",
        "x86-64",
        "linkage stub",
    ];
    for (name, _, kernel) in catalogue() {
        if let Err(reason) = kernel {
            let reason = reason.to_string();
            assert!(
                excuses.iter().any(|excuse| reason.contains(excuse)),
                "{name}: {reason}"
            );
        }
    }
}
