use super::super::view::tests::view;
use super::*;

const NS: Scale = Scale {
    factor: 1.0,
    symbol: "ns",
};

fn method(published: View, ours: View) -> String {
    with_method(&published, ("syscost's row", &ours), NS).1
}

/// Results that were rounded to tenths and are all the same.
fn tenths(value: f64) -> View {
    let step = 0.1;
    View {
        step,
        ..view(value, 0.0)
    }
}

fn kind(published: &View, ours: &View) -> &'static str {
    match relation(published, ours) {
        Relation::Agrees(_) => "agree",
        Relation::CannotTell(_) => "cannot be told apart",
        Relation::Differs(_) => "differ",
        Relation::NoRatio => "no ratio",
        Relation::TooFew => "too few",
    }
}

#[test]
fn figures_agree_only_if_near_and_known_to_be_and_differ_only_if_apart_and_known_to_be() {
    let ours = || view(10.0, 0.1);
    let rounded = |value| View::printed(value, 0.1);
    for (published, ours, expected) in [
        (view(10.2, 0.1), ours(), "agree"),
        // 4 % apart, and nothing between them.
        (view(10.4, 0.1), ours(), "agree"),
        (view(10.6, 0.1), ours(), "differ"),
        (view(10.6, 0.6), ours(), "cannot be told apart"),
        // Equal, but by chance.
        (view(10.0, 0.8), ours(), "cannot be told apart"),
        (view(20.0, 15.0), ours(), "cannot be told apart"),
        // What was rounded is known to half a digit.
        (tenths(0.7), rounded(0.6), "cannot be told apart"),
        (tenths(0.7), rounded(0.7), "cannot be told apart"),
        (tenths(0.7), rounded(0.8), "cannot be told apart"),
        (tenths(0.7), rounded(0.9), "differ"),
        // What lies above zero has a ratio, however small it is.
        (view(0.0024, 0.001), ours(), "differ"),
    ] {
        assert_eq!(kind(&published, &ours), expected, "{published:?} {ours:?}");
    }
    let near = "syscost's row gives 10.0 ns, 2 % apart, known to ±3 %";
    assert_eq!(method(view(10.2, 0.1), ours()), near);
    let apart = "syscost's row gives 10.0 ns, 0 % apart, known to ±10 %";
    assert_eq!(method(view(10.0, 0.8), ours()), apart);
}

#[test]
fn syscosts_method_is_more_or_less_than_the_published_way() {
    for (published, expected) in [
        (
            31.0,
            "syscost's row gives 10.0 ns; the published way gives 3.10 times as much",
        ),
        (8.0, "syscost's row gives 10.0 ns, 25 % more"),
        (12.5, "syscost's row gives 10.0 ns, 20 % less"),
        (0.02, "syscost's row gives 10.0 ns, 500 times as much"),
    ] {
        assert_eq!(
            method(view(published, 0.01 * published), view(10.0, 0.1)),
            expected
        );
    }
    let mut alone = view(10.0, 0.1);
    alone.low = None;
    let few = method(view(31.0, 0.1), alone.clone());
    assert!(few.ends_with("of too few processes to compare"));
    let one = method(alone, view(31.0, 0.1));
    assert!(one.ends_with("one result is too few to compare"));
}

#[test]
fn a_ratio_has_no_more_digits_than_its_figures_support() {
    let times = method(view(31.0, 9.0), view(10.0, 0.1));
    assert!(times.ends_with("3.1 times as much"), "{times}");
}

#[test]
fn no_ratio_is_given_to_what_may_be_nothing() {
    let ours = || view(10.0, 0.1);
    let around = method(view(0.002, 0.1), ours());
    let said = "the published way gives 0.00 ns, not to be told apart from zero, so there is no ratio; syscost's row gives 10.0 ns";
    assert_eq!(around, said);
    assert!(method(view(-3.5, 0.1), ours()).contains("less than nothing"));
    let may_be_nothing = method(view(50.0, 1.0), view(1.0, 2.0));
    assert!(may_be_nothing.starts_with("syscost's row gives 1.0 ns, not to be told apart"));
}

fn figure(machine: &str, value: Option<f64>, cycles: Option<f64>) -> JudgedFigure {
    JudgedFigure {
        machine: machine.to_owned(),
        value,
        value_printed: value.map(|value| format!("{value} ns")),
        cycles,
        ..JudgedFigure::default()
    }
}

#[test]
fn each_published_machine_is_compared_in_its_direction() {
    let said = |here: View, published: &[JudgedFigure], unit| {
        let ticks = Scale::cycles(syscost_results::study::Cycles::Tsc);
        with_published("It gives", &here, published, (unit, NS, ticks))
    };
    let four = [
        figure("old", Some(80.0), None),
        figure("new", Some(4.0), None),
        figure("newer", Some(2.0), None),
        figure("same", Some(10.2), None),
    ];
    let nanoseconds = said(view(10.0, 0.1), &four, Unit::Nanoseconds);
    assert_eq!(
        nanoseconds.as_deref(),
        Some(
            "It gives 10.0 ns: longer than new (2.50 times), newer (5.00 times); shorter than old (8.00 times); close to same (2 % apart, known to ±2 %)."
        )
    );
    let rate = said(view(10.0, 0.1), &four[..1], Unit::BytesPerSecond);
    assert!(rate.is_some_and(|rate| rate.contains("slower than old (8.00 times)")));
    // Two figures of one machine are told apart.
    let twice = [
        figure("old", Some(5.0), None),
        figure("old", Some(20.0), None),
    ];
    let twice = said(view(10.0, 0.1), &twice, Unit::Nanoseconds).expect("a sentence");
    assert!(
        twice.contains("than old's 5 ns (2.00 times); shorter than old's 20 ns"),
        "{twice}"
    );
    let mut here = view(10.0, 0.1);
    here.cycles = Some(30.0);
    let in_ticks = said(here, &[figure("pc", None, Some(15.0))], Unit::Nanoseconds);
    assert_eq!(
        in_ticks.as_deref(),
        Some("It gives 30.0 ticks: longer than pc (2.00 times).")
    );
    let words = said(
        view(10.0, 0.1),
        &[figure("pc", None, None)],
        Unit::Nanoseconds,
    );
    assert_eq!(words, None);
}
