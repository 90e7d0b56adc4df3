//! Chases visit what they claim to visit, and every step is made.

use super::*;
use crate::memory::Pages;

const CHAINS: [usize; 15] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 16, 24, 32];

/// A chase along this route.
fn chase(route: Route, chains: usize) -> Result<Chase, Unsupported> {
    let memory = Memory::fill(route.bytes, Pages::Small);
    memory.and_then(|memory| Chase::new(memory, route, chains))
}

fn routes() -> Vec<Route> {
    let pairs = |distance| Order::Pairs { distance, seed: 3 };
    let sparse = |bytes, spacing, order| Route {
        bytes,
        spacing,
        order,
    };
    vec![
        Route::dense(40 << 10, Order::Random(1)),
        Route::dense(128 << 20, Order::Random(2)),
        Route::dense(40 << 10, Order::Ascending),
        sparse(1 << 20, 256, Order::Ascending),
        sparse(100 << 12, 4096, Order::Random(7)),
        sparse(64 << 10, 1024, pairs(16)),
        sparse(64 << 10, 1024, pairs(512)),
    ]
}

#[test]
fn every_route_is_one_cycle_through_all_of_its_lines() {
    for route in routes() {
        let made = chase(route, 1).inspect_err(|reason| println!("skipped: {reason}"));
        let Ok(chase) = made else { continue };
        assert_eq!(chase.visited(), route.lines(), "{route:?}");
        assert_eq!(chase.known_visited_apart(route.bytes), 1, "one piece");
        assert_eq!(chase.known_visited_apart(route.bytes), 1, "as it was found");
        assert_eq!(chase.visited(), route.lines(), "{route:?}");
    }
}

#[test]
fn every_step_of_any_number_of_chains_is_made() {
    for chains in CHAINS {
        let route = Route::dense(33 * 64, Order::Random(chains as u64));
        let chase = or_skip!(chase(route, chains));
        for iterations in [0, 1, 2, 77, 1] {
            let expected = chase.expected(iterations);
            assert_eq!(
                chase.run(iterations),
                expected,
                "{chains} chains, {iterations} iterations"
            );
        }
    }
}

#[test]
fn each_page_is_touched_at_a_line_that_chains_come_to_last() {
    for route in [
        Route::dense(128 << 20, Order::Random(2)),
        Route::dense(1 << 20, Order::Ascending),
    ] {
        let sequence = Sequence::of(&route);
        let (lines, last) = (route.lines(), 3 + route.lines() / 2);
        let positions = sequence.one_of_each_page(&route, last);
        let pages: std::collections::BTreeSet<usize> = positions
            .map(|position| sequence.offset(&route, position % lines) / NEAR)
            .collect();
        assert_eq!(pages.len(), route.bytes / NEAR, "{route:?}");
    }
    let route = Route::dense(128 << 20, Order::Random(2));
    let mut positions = Sequence::of(&route).one_of_each_page(&route, 5 << 15);
    let (first, lines) = (4 << 15, route.lines());
    assert!(positions.all(|position| (first..5 << 15).contains(&(position % lines))));
}

#[test]
fn chains_can_be_changed_and_begin_anew() {
    let mut chase = or_skip!(chase(Route::dense(64 << 10, Order::Random(5)), 1));
    chase.run(3);
    chase.set_chains(8, 1000).unwrap();
    assert_eq!(chase.chains(), 8);
    let expected = chase.expected(5);
    assert_eq!(chase.run(5), expected);
    for wrong in [0, 13, 33] {
        let reason = chase.set_chains(wrong, 0).unwrap_err().to_string();
        assert!(reason.contains("1 to 12, 16, 24 or 32"), "{reason}");
    }
}

#[test]
fn a_cycle_that_leaves_lines_out_or_does_not_close_is_detected() {
    let route = Route::dense(64 << 10, Order::Random(9));
    let chase = or_skip!(chase(route, 1));
    let (first, third) = (chase.node(100), chase.node(102));
    // SAFETY: nodes of a chase that nothing else uses.
    let position = unsafe { (*first).position };
    // SAFETY: as above.
    unsafe {
        first.write(Node {
            next: third,
            position,
        });
    }
    assert!(chase.visited() < chase.lines());
    let iterations = 1 + chase.lines() as u64 / chase.operations_per_iteration();
    let expected = chase.expected(iterations);
    assert_ne!(chase.run(iterations), expected, "a step was left out");
}

#[test]
fn lines_of_many_pages_spread_over_the_sets_of_a_cache() {
    let route = Route {
        bytes: 256 << 12,
        spacing: 4096,
        order: Order::Random(4),
    };
    let sequence = Sequence::of(&route);
    let mut sets = [0; 64];
    let mut pages = vec![false; 256];
    for position in 0..route.lines() {
        let offset = sequence.offset(&route, position);
        sets[offset / 64 % 64] += 1;
        pages[offset / 4096] = true;
    }
    assert_eq!(sets, [4; 64]);
    assert!(pages.iter().all(|visited| *visited));
}

#[test]
fn random_orders_have_no_stride() {
    for bytes in [1 << 20, 128 << 20] {
        let route = Route::dense(bytes, Order::Random(11));
        let sequence = Sequence::of(&route);
        let offset = |position| sequence.offset(&route, position) as isize;
        let near = (0..10_000)
            .filter(|position| (offset(position + 1) - offset(*position)).abs() <= 256)
            .count();
        assert!(near < 100, "{near} of 10000 steps lead to a neighbour");
    }
}

#[test]
fn an_order_is_recognised_by_its_steps() {
    for route in routes() {
        let (bytes, upwards, both_ways) = match route.order {
            Order::Random(_) => (route.step(), 0.0..0.05, 0.0..0.1),
            Order::Ascending => (route.step(), 0.99..1.0, 0.99..1.0),
            Order::Pairs { distance, .. } => (distance, 0.1..0.4, 0.5..0.55),
        };
        let chase = or_skip!(chase(route, 1));
        let shares = [
            chase.share_of_steps(bytes),
            chase.share_of_steps_apart(bytes),
        ];
        for (expected, share) in [upwards, both_ways].iter().zip(shares) {
            assert!(expected.contains(&share), "{route:?}: {share}");
        }
    }
}

#[test]
fn no_distance_is_frequent_in_a_random_order_and_some_are_in_others() {
    for route in routes() {
        let chase = or_skip!(chase(route, 1));
        let expected = match route.order {
            Order::Random(_) => 0.0..0.06,
            Order::Ascending => 0.98..1.0,
            Order::Pairs { .. } => 0.1..0.4,
        };
        let share = chase.share_of_most_frequent_step();
        assert!(expected.contains(&share), "{route:?}: {share}");
    }
}

#[test]
fn an_order_backwards_or_in_long_steps_is_not_random() {
    const LINES: usize = 1024;
    let chase = or_skip!(chase(Route::dense(LINES * LINE, Order::Ascending), 1));
    for step in [LINES - 1, 5, 127] {
        for line in 0..LINES {
            let content = Node {
                next: chase.node((line + step) % LINES),
                position: 0,
            };
            // SAFETY: nodes of a chase that nothing else uses.
            unsafe { chase.node(line).write(content) };
        }
        let (next, most) = (
            chase.share_of_steps(LINE),
            chase.share_of_most_frequent_step(),
        );
        assert!(next == 0.0 && most > 0.8, "{step}: {next} {most}");
    }
}

#[test]
fn an_order_page_by_page_or_at_random_only_at_first_is_not_random() {
    let mut chase = or_skip!(chase(Route::dense(4 << 20, Order::Random(6)), 1));
    let Sequence::Shuffled(random) = &chase.sequence else {
        panic!("so few lines are shuffled");
    };
    let random = random.clone();
    assert!(chase.share_within_a_page() < 0.01);
    // Within each page it is as random as before.
    let mut page_by_page = random.clone();
    page_by_page.sort_by_key(|line| *line as usize / (4096 / LINE));
    let mut at_first = random;
    at_first[5000..].sort_unstable();
    for (order, least, most) in [(page_by_page, 0.95, 0.05), (at_first, 0.8, 1.0)] {
        chase.sequence = Sequence::Shuffled(order);
        chase.link();
        assert_eq!(chase.visited(), chase.lines());
        assert!(chase.share_within_a_page() > least);
        assert!(chase.share_of_most_frequent_step() <= most);
    }
    assert!(chase.share_of_steps(LINE) > 0.8);
}

#[test]
fn nonsense_is_refused() {
    let Ok(memory) = Memory::fill(4096, Pages::Small) else {
        return;
    };
    let too_long = Route::dense(1 << 30, Order::Ascending);
    assert!(Chase::new(memory, too_long, 1).is_err());
}

/// The machine code consists of the loads of a step and nothing else, in the number that is counted.
#[cfg(target_arch = "x86_64")]
#[test]
fn the_code_is_loads_and_nothing_else() {
    /// `mov rax, [rax]`
    const LOAD: [u8; 3] = [0x48, 0x8b, 0x00];
    /// `dec rbx`, and the first byte of `jnz`
    const TURN: [u8; 3] = [0x48, 0xff, 0xcb];
    let chase = or_skip!(chase(Route::dense(4096, Order::Random(1)), 1));
    let code = chase.entry as *const u8;
    // SAFETY: the function is longer than 64 loads of 3 bytes, and code may be read.
    let begin = (0..256).find(|at| unsafe { code.add(*at).cast::<[u8; 3]>().read() } == LOAD);
    let begin = begin.expect("the first load");
    let at = |number: usize| -> [u8; 3] {
        // SAFETY: within the function, up to the end of its loop.
        unsafe { code.add(begin + 3 * number).cast::<[u8; 3]>().read() }
    };
    let loads = (0..1000).take_while(|number| at(*number) == LOAD).count();
    assert_eq!(loads as u64, chase.operations_per_iteration());
    assert_eq!(at(loads), TURN);
}

#[test]
fn steps_can_be_made_again() {
    for chains in CHAINS {
        let chase = or_skip!(chase(Route::dense(33 * 64, Order::Random(5)), chains));
        chase.run(3);
        let first = chase.run(7);
        chase.go_back(7);
        assert_eq!(chase.expected(7), first);
        assert_eq!(chase.run(7), first, "{chains}");
    }
}
