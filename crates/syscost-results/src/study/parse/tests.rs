use super::super::Printed;
use super::*;

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
    format!("mine.toml{}", Study::parse(text).expect_err("it is wrong"))
}

#[test]
fn a_study_is_read() {
    let study = Study::parse(GOOD).expect("it is right");
    let cycles = study.quantities[0].published[0].cycles.as_ref();
    assert_eq!(cycles.map(Printed::value), Some(200.0));
    let rows: Vec<&str> = study.rows().into_iter().collect();
    assert_eq!(rows, ["syscall.null{call=getppid}"]);
}

#[test]
fn what_is_named_stands_on_a_line() {
    let claim = "\n[[quantity.claim]]\nat_least = 1.0\ncounted = \"calls\"\nbroken = \"None of {tries}.\"\n";
    let text = format!("{GOOD}{claim}");
    let (_, lines) = Study::parse_with_lines(&text).expect("it is right");
    let [quantity] = &lines.quantities[..] else {
        panic!("one quantity: {lines:?}");
    };
    assert_eq!((lines.id, quantity.begin), (2, 12));
    assert_eq!((quantity.as_published, quantity.ours), (12, 18));
    let counted = quantity.counted.iter();
    let counted: Vec<_> = counted.map(|one| (one.name.as_str(), one.line)).collect();
    assert_eq!(counted, [("calls", 23), ("tries", 24)]);
}

#[test]
fn what_is_wrong_is_named_with_its_line_and_field() {
    let wrong = error(&GOOD.replace("clock_ghz", "clock_mhz"));
    assert!(
        wrong.starts_with("mine.toml:10: ") && wrong.contains("clock_mhz"),
        "{wrong}"
    );
    let wrong = error(&GOOD.replace("unit = \"ns\"", "unit = \"hours\""));
    assert!(
        wrong.starts_with("mine.toml:16: ") && wrong.contains("hours"),
        "{wrong}"
    );
    let wrong = error(&GOOD.replace("machine = \"laptop\"", "machine = \"desk\""));
    assert_eq!(
        wrong,
        "mine.toml:19: quantity `getppid`, field `published`, field `machine`: no machine is called `desk`; there are: laptop"
    );
    let wrong = error(&GOOD.replace("cycles = 200.0, ", ""));
    assert!(
        wrong.contains("`value`, `cycles` or `words` is needed"),
        "{wrong}"
    );
    let wrong = error(&GOOD.replace("cycles = 200.0", "cycles = -1.0"));
    assert!(
        wrong.contains("`cycles` of machine `laptop`: must be greater than 0"),
        "{wrong}"
    );
    let wrong = error(&GOOD.replace("id = \"mine\"", "id = "));
    assert!(wrong.starts_with("mine.toml:2: "), "{wrong}");
    let wrong = error(&GOOD.replace("id = \"mine\"", "id = \"My study\""));
    assert!(wrong.starts_with("mine.toml:2: field `id`"), "{wrong}");
    let scaled = GOOD.replace("ours =", "ours_scale = -1.0\nours =");
    let wrong = error(&scaled);
    assert!(
        wrong.starts_with("mine.toml:18: ") && wrong.contains("ours_scale"),
        "{wrong}"
    );
    let claim = "\n[[quantity.claim]]\ncounted = \"calls\"\nbroken = \"None.\"\n";
    let wrong = error(&format!("{GOOD}{claim}"));
    assert!(
        wrong.starts_with("mine.toml:21: ") && wrong.contains("`at_least`"),
        "{wrong}"
    );
    let several = GOOD.replace(
        "published = [{",
        "published = [\n  { machine = \"laptop\", value = 9.0, place = \"page 1\" },\n  {",
    );
    let wrong = error(&several.replace("cycles = 200.0", "cycles = 0.0"));
    assert!(
        wrong.starts_with("mine.toml:21: ") && wrong.contains("`cycles`"),
        "{wrong}"
    );
    let chart = "\n[[chart]]\ntitle = \"All\"\nkind = \"curve\"\nquantities = [\"getpid\"]\n";
    let wrong = error(&format!("{GOOD}{chart}"));
    assert!(
        wrong.starts_with("mine.toml:24: ") && wrong.contains("`getpid`"),
        "{wrong}"
    );
    let ratio = "\n[[ratio]]\ntitle = \"x\"\nof = \"getpid\"\nto = \"getppid\"\n";
    let wrong = error(&format!("{GOOD}{ratio}"));
    assert!(
        wrong.starts_with("mine.toml:23: ") && wrong.contains("`getpid`"),
        "{wrong}"
    );
    let wrong = error(&GOOD.replace("cycles = 200.0", "value = \"3 MB/s\""));
    assert!(wrong.contains("`3 MB/s` is not in ns"), "{wrong}");
    let wrong = error(&GOOD.replace("cycles = 200.0", "value = \"about 3\""));
    assert!(wrong.contains("26.157300"), "{wrong}");
    assert!(error("").contains(": missing field `id`") && !error("").contains("`.`"));
    let twice = format!("{GOOD}{}", &GOOD[GOOD.find("[[quantity]]").unwrap()..]);
    assert_eq!(
        error(&twice),
        "mine.toml:21: quantity `getppid`, field `id`: used twice"
    );
}

#[test]
fn a_claim_that_cannot_fail_or_always_does_is_refused() {
    let parsed = |bounds: &str| {
        let claim =
            format!("\n[[quantity.claim]]\ncounted = \"calls\"\nbroken = \"None.\"\n{bounds}\n");
        Study::parse(&format!("{GOOD}{claim}")).map_err(|error| format!("mine.toml{error}"))
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
    assert!(Study::parse(&format!("{GOOD}{less}")).is_ok());
    let both = error(&format!("{GOOD}{less}{}", reason("acts = \"more\"")));
    assert!(both.contains("both larger and smaller"), "{both}");
    // Conditions are no amounts: each may have an effect of its own.
    let bounded = |acts: &str| reason(&format!("acts = \"{acts}\"\nat_most = 90.0"));
    let both = format!("{GOOD}{}{}", bounded("less"), bounded("more"));
    assert!(Study::parse(&both).is_ok());
    let twice = error(&format!("{GOOD}{}says = \"-O0\"\n", bounded("less")));
    assert!(twice.contains("instead of bounds"), "{twice}");
}
