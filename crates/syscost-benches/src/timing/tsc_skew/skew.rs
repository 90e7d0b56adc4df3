//! The skew of two counters, derived from exchanges.

use syscost_results::stats::order;

use super::exchange::Exchange;

/// The results of the exchanges of one observation, in ticks.
pub(super) struct Skew {
    /// The answering counter minus the asking one.
    pub(super) offset: f64,
    pub(super) shortest: u64,
    pub(super) exchanges: usize,
    /// Answers that seem to come before their question, or after they were received.
    pub(super) disordered: usize,
    /// Exchanges that the offset cannot explain: the offset was different at that moment.
    pub(super) contradictions: usize,
}

impl Skew {
    /// Derives the offset as the median over the shortest round trips, one in 32.
    pub(super) fn of(exchanges: &mut [Exchange]) -> Self {
        let length = |[sent, _, received]: &Exchange| received.saturating_sub(*sent);
        let offset = |[sent, answered, received]: &Exchange| {
            let there = answered.wrapping_sub(*sent).cast_signed() as f64;
            let back = answered.wrapping_sub(*received).cast_signed() as f64;
            (there + back) / 2.0
        };
        exchanges.sort_by_key(length);
        let best: Vec<f64> = exchanges[..exchanges.len().div_ceil(32)]
            .iter()
            .map(offset)
            .collect();
        let middle = order::high_median(&best).expect("there are exchanges");
        let shortest = length(&exchanges[0]);
        let slack = |exchange: &Exchange| (length(exchange) + shortest) as f64 / 2.0 + 1.0;
        Self {
            offset: middle,
            shortest,
            exchanges: exchanges.len(),
            disordered: exchanges
                .iter()
                .filter(|[sent, at, back]| at < sent || at > back)
                .count(),
            contradictions: exchanges
                .iter()
                .filter(|exchange| (offset(exchange) - middle).abs() > slack(exchange))
                .count(),
        }
    }
}

/// By how much a counter is ahead of another, and by how much later its questions are answered than
/// halfway, of the offsets that either saw of the other.
pub(super) fn both_ways(forth: f64, back: f64) -> (f64, f64) {
    ((forth - back) / 2.0, (forth + back) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_answers_take_longer_is_no_offset() {
        assert_eq!(both_ways(70.0 + 4.0, -70.0 + 4.0), (70.0, 4.0));
    }

    /// Exchanges of these lengths, answered in the middle by a counter that is 70 ahead.
    fn ahead(lengths: impl Iterator<Item = u64>) -> Vec<Exchange> {
        lengths
            .enumerate()
            .map(|(number, length)| {
                let sent = 1000 * number as u64;
                [sent, sent + length / 2 + 70, sent + length]
            })
            .collect()
    }

    #[test]
    fn the_offset_comes_from_the_shortest_round_trips() {
        let mut exchanges = ahead((0..320).map(|number| 100 + number));
        // A long one whose answer came late: not a contradiction, and not taken for the offset.
        exchanges.push([500_000, 500_590, 500_600]);
        let skew = Skew::of(&mut exchanges);
        assert!((skew.offset - 70.0).abs() <= 0.5, "{}", skew.offset);
        assert_eq!(
            (skew.shortest, skew.exchanges, skew.contradictions),
            (100, 321, 0)
        );
        // 70 ahead: up to a length of 138 the answer seems to come after it was received.
        assert_eq!(skew.disordered, 39);
    }

    #[test]
    fn an_offset_that_changes_contradicts_itself() {
        let mut exchanges = ahead(std::iter::repeat_n(100, 300));
        exchanges.push([500_000, 500_050 + 1_000, 500_100]);
        assert_eq!(Skew::of(&mut exchanges).contradictions, 1);
    }
}
