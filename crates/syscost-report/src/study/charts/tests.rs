//! What the charts of a study draw.

use super::*;

const CURVE: &str = r#"
id = "sizes"
title = "Sizes"
source = "A note"
about = "Two sizes."

[[quantity]]
id = "small"
title = "Access, few bytes"
table = "Memory"
unit = "ns"
procedure = "A chain."
as_published = "study.x{order=random,size=16K}"

[[quantity]]
id = "large"
title = "Access, many bytes"
table = "Memory"
unit = "ns"
procedure = "A chain."
as_published = "study.x{order=random,size=4M}"

[[chart]]
title = "Access by size"
kind = "curve"
quantities = ["small", "large"]
"#;

/// A run with rows of these names and results.
fn run_of(rows: &[(&str, &[f64])]) -> syscost_results::Run {
    let mut run = crate::fixture::run();
    for (name, results) in rows {
        let mut row = run.measurements[0].clone();
        row.name = (*name).to_owned();
        row.status = syscost_results::Status::Ok;
        row.estimate.median = Some(results[0]);
        row.samples = Some(vec![syscost_results::RoundSamples {
            values: results.to_vec(),
            ..Default::default()
        }]);
        run.measurements.push(row);
    }
    run
}

/// The curve's parameter and its lines; every figure is drawn.
fn curve_of(repeated: &Repeated) -> (String, Vec<Line>) {
    match curve(&repeated.quantities()) {
        Some((
            Chart::Curve {
                parameter, lines, ..
            },
            None,
        )) => (parameter, lines),
        other => panic!("a whole curve: {other:?}"),
    }
}

#[test]
fn a_curve_is_over_the_parameter_that_differs() {
    let study = syscost_studies::parse(CURVE).expect("it is right");
    let run = run_of(&[
        ("study.x{order=random,size=16K}", &[1.0; 3]),
        ("study.x{order=random,size=4M}", &[9.0; 3]),
    ]);
    let repeated = Repeated::new(&study, &[&run]);
    let (parameter, lines) = curve_of(&repeated);
    assert_eq!(parameter, "size");
    let points = lines[0]
        .points
        .iter()
        .map(|(at, value)| (*at, value.median));
    assert_eq!(
        points.collect::<Vec<_>>(),
        [(16_384.0, 1.0), (4_194_304.0, 9.0)]
    );
    assert_eq!(pictures(&repeated)[0].title, "Access by size");
}

#[test]
fn a_point_of_syscosts_stands_at_the_size_of_its_row_and_once() {
    let ours = "ours = \"memory.x{size=5M}\"\n";
    let study = CURVE.replace("procedure = ", &format!("{ours}procedure = "));
    let study = syscost_studies::parse(&study).expect("it is right");
    let run = run_of(&[
        ("study.x{order=random,size=16K}", &[1.0, 1.0, 1.0]),
        ("study.x{order=random,size=4M}", &[9.0, 9.0, 9.0]),
        ("memory.x{size=5M}", &[8.0]),
    ]);
    let repeated = Repeated::new(&study, &[&run]);
    let (_, lines) = curve_of(&repeated);
    // One point is no line.
    let labels: Vec<&str> = lines.iter().map(|line| line.label.as_str()).collect();
    assert_eq!(labels, [HERE]);
    let quantities = repeated.quantities();
    assert_eq!(size_of_method(&quantities[0], "size"), Some(5_242_880.0));
    assert_eq!(size_of_method(&quantities[0], "order"), None);
    // A row without such a parameter has the same figure for all.
    let mut study = study;
    for quantity in &mut study.quantities {
        quantity.ours = Some("memory.x".to_owned());
    }
    let mut run = run;
    let last = run.measurements.last_mut().expect("a row");
    last.name = "memory.x".to_owned();
    let repeated = Repeated::new(&study, &[&run]);
    let (_, lines) = curve_of(&repeated);
    assert_eq!(lines[1].label, "syscost, one figure for all");
}

#[test]
fn what_cannot_be_told_apart_from_zero_is_named_and_not_drawn() {
    let study = CURVE.replace("\"curve\"", "\"machines\"");
    let study = syscost_studies::parse(&study).expect("it is right");
    let run = run_of(&[
        ("study.x{order=random,size=16K}", &[-1.0, 0.5, 1.0]),
        ("study.x{order=random,size=4M}", &[8.0, 9.0, 11.0]),
    ]);
    let repeated = Repeated::new(&study, &[&run]);
    let picture = pictures(&repeated).remove(0);
    let Drawn::Groups(groups) = &picture.drawn else {
        panic!("groups");
    };
    let titles: Vec<&str> = groups.iter().map(|(title, _)| title.as_str()).collect();
    assert_eq!(titles, ["Access, many bytes"]);
    let (_, bars) = &groups[0];
    assert_eq!(bars[0].value.low.zip(bars[0].value.high), Some((8.0, 11.0)));
    assert_eq!(picture.texts.names, [HERE, METHOD]);
    let below = picture.below();
    assert!(
        below.starts_with("Whiskers: the range") && below.contains("Access, few bytes, here"),
        "{below}"
    );
}

#[test]
fn the_legend_follows_what_is_drawn() {
    let study = CURVE.replace("\"curve\"", "\"machines\"");
    let study = syscost_studies::parse(&study).expect("it is right");
    let (few, many) = (
        [8.0, 9.0, 11.0],
        [8.0, 9.0, 9.0, 9.0, 9.0, 9.0, 9.5, 9.5, 9.5, 11.0],
    );
    for (one, other, legend) in [
        (&few[..], &few[..], "the range of the results."),
        (&many, &many, "the middle half of the results."),
        (
            &many,
            &few,
            "the middle half of the results where they are many, their range where they are few.",
        ),
        // Without an interval nothing is drawn.
        (&many, &few[..1], "the middle half of the results."),
    ] {
        let run = run_of(&[
            ("study.x{order=random,size=16K}", one),
            ("study.x{order=random,size=4M}", other),
        ]);
        let below = pictures(&Repeated::new(&study, &[&run]))[0].below();
        assert_eq!(below, format!("Whiskers: {legend}"));
    }
}
