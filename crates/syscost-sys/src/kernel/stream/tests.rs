//! Every stream does its work, and omitted work is detected.

use super::*;
use crate::memory::Pages;

/// A stream over arrays of this many bytes.
fn streaming(
    stream: Stream,
    simd: Simd,
    bytes: usize,
    operation: usize,
) -> Result<Streaming, Unsupported> {
    let course = Course::new(stream, bytes, operation);
    Streaming::new(simd, course, Arrays::new(Pages::Small))
}

fn each(test: impl Fn(Stream, Simd)) {
    for stream in Stream::ALL {
        for simd in Simd::ALL {
            test(stream, simd);
        }
    }
}

#[test]
fn every_stream_proves_itself_in_small_and_large_arrays() {
    each(|stream, simd| {
        for (bytes, operation) in [
            (12 << 10, 100 << 10),
            (384 << 10, 1 << 20),
            (3 << 20, 512 << 10),
        ] {
            let streaming = or_skip!(streaming(stream, simd, bytes, operation));
            assert!(
                streaming.course.footprint() <= bytes && streaming.course.footprint() > bytes / 2
            );
            for iterations in [1, 2, 5, 40, 0, 3] {
                let expected = streaming.expected(iterations);
                let sum = streaming.run(iterations);
                assert_eq!(
                    sum,
                    expected,
                    "{} {} {iterations} iterations",
                    stream.name(),
                    simd.name()
                );
                assert_eq!(
                    streaming.check(),
                    Ok(()),
                    "{} {}",
                    stream.name(),
                    simd.name()
                );
            }
            assert_eq!(streaming.proved(), Ok(()));
            assert_eq!(streaming.left(), made(stream), "{}", stream.name());
            let (written, right) = streaming.verify();
            assert_eq!(written, right, "{} {}", stream.name(), simd.name());
            assert_eq!(
                written as usize,
                streaming.course.array / 8 * stream.destinations()
            );
            let looks = if stream.destinations() == 0 { 0 } else { 6 * 4 };
            assert_eq!(
                streaming.looked(),
                looks,
                "those of empty runs do not count"
            );
        }
    });
}

#[test]
fn a_stream_reports_its_parts_and_how_much_it_did() {
    each(|stream, simd| {
        let streaming = or_skip!(streaming(stream, simd, 24 << 10, 24 << 10));
        let expected = stream.is_vector().then_some(simd);
        assert_eq!(streaming.simd(), expected, "{}", streaming.instructions);
        streaming.run(3);
        assert_eq!(streaming.proved(), Ok(()));
        assert_eq!(streaming.operations(), 4);
    });
}

#[test]
fn a_stream_that_did_not_run_or_not_far_enough_is_found_out() {
    each(|stream, simd| {
        let streaming = or_skip!(streaming(stream, simd, 3 << 20, 384 << 10));
        let expected = streaming.expected(4);
        // As if three quarters of the work were skipped.
        let sum = streaming.run(1);
        assert_ne!(sum, expected, "{} {}", stream.name(), simd.name());
        let streaming = streaming.looking_at(64);
        if stream.destinations() > 0 {
            streaming.expected(1);
            let found = streaming.check().expect_err("nothing was written");
            assert!(found.contains("of the destination"), "{found}");
        }
    });
}

#[test]
fn a_write_of_the_pass_before_is_found_out() {
    for stream in [Stream::Write, Stream::WriteNontemporal, Stream::Memset] {
        let Ok(streaming) = streaming(stream, Simd::Sse2, 8 << 10, 64 << 10) else {
            continue;
        };
        streaming.expected(2);
        streaming.run(1);
        streaming.done.set(2);
        assert!(streaming.check().is_err(), "{}", stream.name());
        assert_eq!(streaming.verify().1, 0, "{}", stream.name());
    }
}

#[test]
fn one_memory_serves_one_stream_after_the_other() {
    let mut arrays = Arrays::new(Pages::Small);
    for stream in Stream::ALL {
        let course = Course::new(stream, 1 << 20, 64 << 10);
        let streaming = match Streaming::new(Simd::Sse2, course, arrays) {
            Ok(streaming) => streaming,
            Err(reason) => return println!("skipped: {}: {reason}", stream.name()),
        };
        for _ in 0..20 {
            assert_eq!(streaming.proved(), Ok(()), "{}", stream.name());
        }
        arrays = streaming.into_arrays();
    }
    assert_eq!(arrays.memories().count(), 2);
}

#[test]
fn a_short_stream_does_not_lead_long_ones_back_to_what_they_left_in_a_cache() {
    let mut arrays = Arrays::new(Pages::Small);
    // Bytes of the array, number of operations of 64 KiB, and the place afterwards.
    for (bytes, operations, place) in [
        (4 << 20, 20, 20 << 16),
        (16 << 10, 3, 20 << 16),
        (4 << 20, 4, 24 << 16),
        (1 << 20, 1, 9 << 16),
        (4 << 20, 55, 0),
        (128 << 10, 5, 128 << 10),
    ] {
        let course = Course::new(Stream::Read, bytes, 64 << 10);
        let streaming = or_skip!(Streaming::new(Simd::Sse2, course, arrays));
        for _ in 0..operations {
            assert_eq!(streaming.proved(), Ok(()));
        }
        arrays = streaming.into_arrays();
        assert_eq!(arrays.place, place, "after {operations} of {bytes} bytes");
    }
}

#[test]
fn arrays_that_cannot_be_gotten_leave_those_there_are() {
    let course = |bytes| Course::new(Stream::Copy, bytes, 64 << 10);
    let mut arrays = Arrays::new(Pages::Small);
    assert_eq!(arrays.missing_bytes(course(128 << 10)), 128 << 10);
    or_skip!(arrays.get(course(128 << 10)));
    assert!(arrays.get(course(usize::MAX >> 8)).is_err());
    assert_eq!(arrays.missing_bytes(course(128 << 10)), 0);
    // A memory that is too short is allocated anew as a whole.
    let longer = Course::new(Stream::Read, 128 << 10, 64 << 10);
    assert_eq!(arrays.missing_bytes(longer), 128 << 10);
}

#[test]
fn the_fewest_cycles_follow_from_the_width_of_registers() {
    let floor = |stream, simd| Course::new(stream, 24 << 10, 24 << 10).floor_cycles(simd);
    // A sixteenth of the bytes, three loads per cycle.
    let narrow = floor(Stream::Read, Simd::Sse2);
    assert!((400.0..512.0).contains(&narrow), "{narrow}");
    assert!(floor(Stream::Read, Simd::Avx512) < narrow / 3.9);
    assert!(floor(Stream::Write, Simd::Sse2) > 1.4 * narrow);
    let of_library = |simd| floor(Stream::Memcpy, simd);
    assert_eq!(of_library(Simd::Sse2), of_library(Simd::Avx512));
}

#[test]
fn sums_are_those_of_the_words_and_words_are_plain_numbers_that_differ() {
    let mut arrays = Arrays::new(Pages::Small);
    or_skip!(arrays.get(Course::new(Stream::Read, 256 << 10, 256 << 10)));
    for (first, words) in [(0, 8 << 10), (8 << 10, 16 << 10), (5, 1000)] {
        let sum = (first..first + words).fold(0, |sum: u64, index| sum.wrapping_add(word(index)));
        assert_eq!(arrays.sum(first, words), sum);
    }
    let words: std::collections::BTreeSet<u64> = (0..10_000).map(word).collect();
    assert_eq!(words.len(), 10_000);
    assert!(
        words
            .iter()
            .all(|word| (1.0..1.01).contains(&f64::from_bits(*word)))
    );
}

/// What a stream leaves in its destination.
fn made(stream: Stream) -> &'static str {
    match stream {
        Stream::Read => "nothing",
        Stream::Write | Stream::WriteNontemporal => "a number",
        Stream::RepeatStore | Stream::Memset => "a byte",
        Stream::Copy | Stream::CopyNontemporal | Stream::RepeatMove | Stream::Memcpy => "b",
        Stream::Scale => "s b",
        Stream::Add => "b + c",
        Stream::Triad => "b + s c",
        Stream::AddThree => "b + c + d",
    }
}
