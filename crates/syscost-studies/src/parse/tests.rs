use syscost_results::study::Printed;

use super::*;
use crate::counted;

const GOOD: &str = r#"
id = "mine"
title = "Mine"
source = "A note"
about = "What I measured."

[[machine]]
id = "laptop"
name = "A laptop"
clock_ghz = 2.0

[[quantity]]
id = "getppid"
title = "getppid()"
table = "System calls"
unit = "ns"
procedure = "In a loop."
ours = "syscall.null{call=getppid}"
published = [{ machine = "laptop", cycles = 200.0, place = "page 1" }]
"#;

fn error(text: &str) -> String {
    format!("mine.toml{}", parse(text).expect_err("it is wrong"))
}

#[test]
fn a_study_is_read() {
    let study = parse(GOOD).expect("it is right");
    let cycles = study.quantities[0].published[0].cycles.as_ref();
    assert_eq!(cycles.map(Printed::value), Some(200.0));
    let rows: Vec<&str> = study.rows().into_iter().collect();
    assert_eq!(rows, ["syscall.null{call=getppid}"]);
}

#[test]
fn what_is_named_stands_on_a_line() {
    let claim = "\n[[quantity.claim]]\nat_least = 1.0\ncounted = \"calls\"\nbroken = \"None of {tries}.\"\n";
    let text = format!("{GOOD}{claim}");
    let (study, lines) = parse_with_lines(&text).expect("it is right");
    let at = [
        "id",
        "quantity.0",
        "quantity.0.as_published",
        "quantity.0.ours",
    ];
    assert_eq!(at.map(|path| lines.of(path)), [2, 12, 12, 18]);
    let counted = counted(&study.quantities[0]).into_iter();
    let counted = counted.map(|(part, name)| (name, lines.of(&format!("quantity.0.{part}"))));
    assert_eq!(counted.collect::<Vec<_>>(), [("calls", 23), ("tries", 24)]);
}

#[test]
fn what_is_wrong_is_named_with_its_line_and_field() {
    let ratio = "\n[[ratio]]\ntitle = \"x\"\nof = \"getpid\"\nto = \"getppid\"\n";
    let chart = "\n[[chart]]\ntitle = \"All\"\nkind = \"curve\"\nquantities = [\"getpid\"]\n";
    let claim = "\n[[quantity.claim]]\ncounted = \"calls\"\nbroken = \"None.\"\n";
    let one_more =
        "published = [\n  { machine = \"laptop\", value = 9.0, place = \"page 1\" },\n  {";
    let quantity = &GOOD[GOOD.find("\n[[quantity]]").unwrap()..];
    let of_laptop = "quantity `getppid`, field `published`, ";
    for (right, wrong, said) in [
        ("clock_ghz", "clock_mhz", &["10: ", "clock_mhz"][..]),
        ("\"ns\"", "\"hours\"", &["16: ", "hours"]),
        (
            "machine = \"laptop\"",
            "machine = \"desk\"",
            &[
                "19: ",
                of_laptop,
                "field `machine`: no machine is called `desk`; there are: laptop",
            ],
        ),
        (
            "cycles = 200.0, ",
            "",
            &["19: ", "`value`, `cycles` or `words` is needed"],
        ),
        (
            "cycles = 200.0",
            "cycles = -1.0",
            &[
                "19: ",
                "`cycles` of machine `laptop`: must be greater than 0",
            ],
        ),
        ("id = \"mine\"", "id = ", &["2: "]),
        ("id = \"mine\"", "id = \"My study\"", &["2: field `id`"]),
        (
            "ours =",
            "ours_scale = -1.0\nours =",
            &["18: ", "ours_scale"],
        ),
        (
            "\"page 1\" }]\n",
            &format!("\"page 1\" }}]\n{claim}"),
            &["21: ", "`at_least`"],
        ),
        (
            "\"page 1\" }]\n",
            &format!("\"page 1\" }}]\n{chart}"),
            &["24: ", "`getpid`"],
        ),
        (
            "\"page 1\" }]\n",
            &format!("\"page 1\" }}]\n{ratio}"),
            &["23: ", "`getpid`"],
        ),
        (
            "cycles = 200.0",
            "value = \"3 MB/s\"",
            &["19: ", "`3 MB/s` is not in ns"],
        ),
        (
            "cycles = 200.0",
            "value = \"about 3\"",
            &["19: ", "26.157300"],
        ),
        (
            quantity,
            &quantity.repeat(2),
            &["22: quantity `getppid`, field `id`: used twice"],
        ),
    ] {
        let text = error(&GOOD.replacen(right, wrong, 1));
        let [line, others @ ..] = said else {
            panic!("a line");
        };
        assert!(
            text.starts_with(&format!("mine.toml:{line}")),
            "{wrong}: {text}"
        );
        assert!(
            others.iter().all(|part| text.contains(part)),
            "{wrong}: {text}"
        );
    }
    let several = GOOD.replace("published = [{", one_more);
    let text = error(&several.replace("cycles = 200.0", "cycles = 0.0"));
    assert!(
        text.starts_with("mine.toml:21: ") && text.contains("`cycles`"),
        "{text}"
    );
    assert!(error("").contains(": missing field `id`") && !error("").contains("`.`"));
}

#[test]
fn a_claim_that_cannot_fail_or_always_does_is_refused() {
    let parsed = |bounds: &str| {
        let claim =
            format!("\n[[quantity.claim]]\ncounted = \"calls\"\nbroken = \"None.\"\n{bounds}\n");
        parse(&format!("{GOOD}{claim}")).map_err(|error| format!("mine.toml{error}"))
    };
    for (bounds, line, problem) in [
        ("at_most = inf", 24, "`at_most` must be a finite number"),
        ("at_least = nan", 24, "`at_least` must be a finite number"),
        ("at_least = -inf", 24, "`at_least` must be a finite number"),
        (
            "at_least = 0\nat_most = inf",
            25,
            "`at_most` must be a finite number",
        ),
        (
            "at_most = -1",
            24,
            "`at_most` must not be less than 0: no count would hold",
        ),
        (
            "at_least = -2\nat_most = -1",
            25,
            "`at_most` must not be less than 0: no count would hold",
        ),
        (
            "at_least = 0",
            24,
            "`at_least` of 0 or less can never be broken",
        ),
        (
            "at_least = -1.0",
            24,
            "`at_least` of 0 or less can never be broken",
        ),
        (
            "at_least = 2\nat_most = 1",
            24,
            "`at_least` is greater than `at_most`",
        ),
    ] {
        let expected =
            format!("mine.toml:{line}: quantity `getppid`, field `claim`, of `calls`: {problem}");
        assert_eq!(parsed(bounds).err(), Some(expected), "{bounds}");
    }
    for bounds in ["at_most = 0", "at_least = 0.5", "at_least = 0\nat_most = 3"] {
        assert!(parsed(bounds).is_ok(), "{bounds}");
    }
}

#[test]
fn a_reason_has_one_direction_and_one_condition() {
    let reason = |more: &str| {
        let begin = "\n[[quantity.reason]]\ncounted = \"spread_ns\"\ntext = \"\"\n";
        format!("{begin}{more}\n")
    };
    let less = reason("acts = \"less\"");
    assert!(parse(&format!("{GOOD}{less}")).is_ok());
    let both = error(&format!("{GOOD}{less}{}", reason("acts = \"more\"")));
    assert!(both.contains("both larger and smaller"), "{both}");
    // Conditions are no amounts: each may have an effect of its own.
    let bounded = |acts: &str| reason(&format!("acts = \"{acts}\"\nat_most = 90.0"));
    let both = format!("{GOOD}{}{}", bounded("less"), bounded("more"));
    assert!(parse(&both).is_ok());
    let twice = error(&format!("{GOOD}{}says = \"-O0\"\n", bounded("less")));
    assert!(twice.contains("instead of bounds"), "{twice}");
}
