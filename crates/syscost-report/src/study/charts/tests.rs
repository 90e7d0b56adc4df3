//! What the charts of a study draw.

use super::*;
use syscost_results::study::Study;

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

#[test]
fn a_curve_is_over_the_parameter_that_differs() {
    let study = Study::parse(CURVE).expect("it is right");
    let mut run = crate::fixture::run();
    for (name, ns) in [
        ("study.x{order=random,size=16K}", 1.0),
        ("study.x{order=random,size=4M}", 9.0),
    ] {
        let mut row = run.measurements[0].clone();
        row.name = name.to_owned();
        row.status = syscost_results::Status::Ok;
        row.samples = Some(vec![syscost_results::RoundSamples {
            values: vec![ns; 3],
            ..Default::default()
        }]);
        run.measurements.push(row);
    }
    let repeated = Repeated::new(&study, &[&run]);
    let Some((Chart::Curve { parameter, lines }, None)) = curve(&repeated.quantities()) else {
        panic!("a curve");
    };
    assert_eq!(parameter, "size");
    let points: Vec<(f64, f64)> = lines[0]
        .points
        .iter()
        .map(|(at, value)| (*at, value.median))
        .collect();
    assert_eq!(points, [(16_384.0, 1.0), (4_194_304.0, 9.0)]);
    assert_eq!(pictures(&repeated)[0].title, "Access by size");
}
