//! Random numbers of a seed, each by its number: the SplitMix64 generator (Steele, Lea and Flood, OOPSLA 2014).

/// The random number of this number.
pub fn nth(seed: u64, number: u64) -> u64 {
    mixed(seed.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
}

/// The generator's finaliser: a bijection.
pub fn mixed(mut word: u64) -> u64 {
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_published_generator() {
        let drawn: Vec<u64> = (1..=3).map(|number| nth(1_234_567, number)).collect();
        let published = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
        ];
        assert_eq!(drawn, published);
    }

    #[test]
    fn no_two_words_are_mixed_alike() {
        let mixed: std::collections::BTreeSet<u64> = (0..10_000).map(mixed).collect();
        assert_eq!(mixed.len(), 10_000);
    }
}
