//! Numbers at a readable scale.

use syscost_results::{Better, Status};

use super::*;

#[test]
fn an_interval_thousands_of_times_the_median_takes_no_wider_column() {
    let (median, _, half) = figures(Unit::Nanoseconds, 1.47, 8100.0, 2.5e9);
    assert_eq!((&*median, &*half), ("8.10", "+2.5e6"));
}

fn estimate(low: f64, median: f64, high: f64) -> Estimate {
    Estimate {
        median: Some(median),
        ci95_low: Some(low),
        ci95_high: Some(high),
        ..Estimate::default()
    }
}

fn figures(unit: Unit, low: f64, median: f64, high: f64) -> (String, &'static str, String) {
    let figures = Figures::new(unit, &estimate(low, median, high)).unwrap();
    (figures.median, figures.unit, figures.half_width)
}

#[test]
fn digits_follow_the_interval() {
    let cases = [
        (41.0, 41.234, 41.4, "41.23", "ns", "0.24"),
        (123.4, 123.456, 123.6, "123.5", "ns", "0.2"),
        (380.0, 412.3, 430.0, "412", "ns", "33"),
        (4.1e3, 4.5678e3, 4.7e3, "4.57", "µs", "0.47"),
        (0.26, 0.2712, 0.28, "0.271", "ns", "0.012"),
        (2.0, 2.0, 2.0, "2.000", "ns", "0.000"),
        (100.0, 100.0, 100.0001, "100.0", "ns", "0.1"),
        (-3.0, 0.0, 5.0, "0.0", "ns", "5.0"),
        (7.0e4, 7.52e4, 1.4752e6, "75.2", "µs", "+1400.0"),
        (12.0, 62.3, 130.0, "62.3", "ns", "+67.7"),
        (-12.3, -10.1, -9.0, "-10.1", "ns", "2.2"),
        (9.8e8, 1.0e9, 1.02e9, "1.000", "s", "0.020"),
    ];
    for (low, median, high, text, unit, half) in cases {
        let found = figures(Unit::Nanoseconds, low, median, high);
        assert_eq!(
            found,
            (text.to_owned(), unit, half.to_owned()),
            "{low} {median} {high}"
        );
    }
}

#[test]
fn what_is_too_large_to_be_a_cost_takes_few_digits() {
    assert_eq!(quantity(Unit::Nanoseconds, 1e308), "1.00e299 s");
    let (median, unit, half) = figures(Unit::Nanoseconds, 1e307, 1e308, 1.5e308);
    assert_eq!((&*median, unit), ("1.00e299", "s"));
    assert_eq!(half, "9.00e298");
    assert_eq!(
        quantity(Unit::Count, 123_456_789_012_345.0),
        "123456789012345"
    );
}

#[test]
fn the_half_width_is_its_larger_side_rounded_up() {
    assert_eq!(figures(Unit::Nanoseconds, 49.0, 50.0, 50.5).2, "1.0");
    assert_eq!(figures(Unit::Nanoseconds, 988.9, 990.0, 990.1).2, "1.1");
    assert_eq!(figures(Unit::Nanoseconds, 499.96, 500.0, 500.0).2, "0.1");
}

#[test]
fn no_interval_seems_to_reach_zero_that_does_not() {
    let half_width = |low, median, high| figures(Unit::Nanoseconds, low, median, high).2;
    assert_eq!(half_width(15.9, 16.0, 94.6), "+78.6");
    assert_eq!(half_width(64.0, 64.0, 128.0), "+64.0");
    assert_eq!(half_width(15.9, 50.0, 94.6), "44.6");
    assert_eq!(half_width(-3.0, 0.0, 5.0), "5.0", "it does reach zero");
    let wide = Figures::new(Unit::Nanoseconds, &estimate(15.9, 16.0, 94.6)).unwrap();
    assert_eq!(wide.with_half_width(), "16.0 +78.6");
}

#[test]
fn a_lower_bound_is_rounded_down_and_marked() {
    let estimate = Estimate {
        median: Some(9e9),
        ci95_low: Some(200.999 * 1048576.0),
        ..Estimate::default()
    };
    let figures = Figures::lower_bound(Unit::Bytes, &estimate).unwrap();
    assert_eq!((&*figures.median, figures.unit), ("> 200", "MiB"));
    assert_eq!(figures.with_half_width(), "> 200");
    assert_eq!(
        Figures::lower_bound(Unit::Bytes, &Estimate::default()),
        None
    );
}

#[test]
fn a_bound_is_rounded_up_and_marked() {
    let estimate = Estimate {
        median: Some(0.2),
        ci95_high: Some(0.4312),
        ..Estimate::default()
    };
    let figures = Figures::bound(Unit::Nanoseconds, &estimate).unwrap();
    assert_eq!(
        (figures.median.as_str(), figures.unit, figures.best.as_str()),
        ("< 0.432", "ns", "")
    );
    let none = Estimate::default();
    assert_eq!(Figures::bound(Unit::Nanoseconds, &none), None);
    assert_eq!(Figures::new(Unit::Nanoseconds, &none), None);
}

#[test]
fn nothing_but_zero_is_rounded_to_nothing() {
    let best = |best| {
        let mut estimate = estimate(1e6, 4e6, 7e6);
        estimate.best = Some(best);
        Figures::new(Unit::Nanoseconds, &estimate).unwrap().best
    };
    assert_eq!(
        [0.0, 2_340.0, 49_999.0, 61_000.0, 3.2e6].map(best),
        ["0.00", "0.0023", "0.05", "0.06", "3.20"]
    );
}

#[test]
fn the_best_of_a_rate_is_never_its_smallest() {
    let mut row = crate::fixture::row(&crate::fixture::run(), "syscall.null{call=getppid}").clone();
    row.estimate.min = Some(1.0);
    row.estimate.best = None;
    let best = |row: &Measurement| Figures::of(row).unwrap().best;
    // A document written before this field existed.
    assert_eq!(best(&row), "1.00");
    row.better = Better::Higher;
    assert_eq!(best(&row), "");
    row.estimate.best = Some(90.0);
    assert_eq!(best(&row), "90.00");
    row.status = Status::Withheld;
    assert_eq!(Figures::of(&row), None);
}

#[test]
fn units_scale_as_people_say_them() {
    let cases = [
        (Unit::Nanoseconds, 0.3, "0.300 ns"),
        (Unit::Nanoseconds, 999.4, "999 ns"),
        (Unit::Nanoseconds, 999.6, "1.000 µs"),
        (Unit::Nanoseconds, 1.5e6, "1.50 ms"),
        (Unit::Nanoseconds, 2.5e10, "25.0 s"),
        (Unit::BytesPerSecond, 12.5e9, "12.5 GB/s"),
        (Unit::Bytes, 64.0, "64.0 B"),
        (Unit::Bytes, 49152.0, "48.0 KiB"),
        (Unit::Bytes, 2.5e6, "2.38 MiB"),
        (Unit::BytesPerSecond, 800.0, "800 B/s"),
        (Unit::OperationsPerSecond, 9.87e6, "9.87 Mop/s"),
        (Unit::FlopsPerSecond, 9.87e10, "98.7 GFLOP/s"),
        (Unit::Gigahertz, 3.6934, "3.69 GHz"),
        (Unit::Percent, 0.125, "0.125 %"),
        (Unit::Count, 16.0, "16.0"),
        (Unit::Ratio, 1.25, "1.25 x"),
        (Unit::Nanoseconds, 0.0, "0 ns"),
        (Unit::Nanoseconds, 0.00045, "0.000450 ns"),
        (Unit::Nanoseconds, -0.00000001, "0.000000 ns"),
    ];
    for (unit, value, expected) in cases {
        assert_eq!(quantity(unit, value), expected);
    }
}

#[test]
fn cycles_and_durations() {
    assert_eq!(
        [1.0, 9.994, 9.996, 99.94, 99.96, 1234.5].map(cycles),
        ["1.00", "9.99", "10.0", "99.9", "100", "1234"]
    );
    assert_eq!(
        [0.75, 9.94, 9.96, 119.4, 119.6, 200.0].map(duration),
        ["0.8 s", "9.9 s", "10 s", "119 s", "2 min 0 s", "3 min 20 s"]
    );
}

#[test]
fn both_ends_of_an_interval_are_distinct() {
    let shown = |low, high| interval(Unit::Nanoseconds, low, high);
    assert_eq!(shown(115.93, 116.41), "115.9 to 116.4 ns");
    assert_eq!(shown(9_480.0, 12_300.0), "9.5 to 12.3 µs");
    assert_eq!(shown(0.0, 0.0), "0.000 to 0.000 ns");
}
