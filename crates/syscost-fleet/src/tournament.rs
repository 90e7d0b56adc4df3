//! Every pair once, in rounds of disjoint pairs: the circle method of round-robin tournaments.

/// The rounds of a tournament of this many players: `count - 1` of them (`count`, if that is odd, and each player rests once).
pub(crate) fn rounds(count: usize) -> Vec<Vec<(usize, usize)>> {
    // With an odd number, whoever meets the last one rests.
    let seats = count + count % 2;
    let mut circle: Vec<usize> = (0..seats).collect();
    let mut rounds = Vec::new();
    for _ in 1..seats {
        let pairs = (0..seats / 2).map(|index| {
            let (a, b) = (circle[index], circle[seats - 1 - index]);
            (a.min(b), a.max(b))
        });
        rounds.push(pairs.filter(|&(_, b)| b < count).collect());
        // The first one stays, the others move on.
        circle[1..].rotate_right(1);
    }
    rounds
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_pair_meets_once_and_nobody_twice_in_a_round() {
        for count in 0..40 {
            let rounds = rounds(count);
            let mut met = BTreeSet::new();
            for round in &rounds {
                let mut busy = BTreeSet::new();
                for &(a, b) in round {
                    assert!(
                        a < b && b < count && met.insert((a, b)),
                        "{a} and {b} of {count}"
                    );
                    assert!(busy.insert(a) && busy.insert(b), "{round:?}");
                }
            }
            assert_eq!(met.len(), count * count.saturating_sub(1) / 2);
            assert!(rounds.len() <= count, "{count}");
        }
    }
}
