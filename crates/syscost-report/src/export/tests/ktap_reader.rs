//! A strict reader of KTAP version 1, following the kernel's documentation.

/// A test with its subtests.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Test {
    pub(super) ok: bool,
    pub(super) skipped: bool,
    pub(super) name: String,
    pub(super) comment: String,
    pub(super) tests: Vec<Test>,
}

/// The tests of a whole text, or the invalid line.
pub(super) fn read(text: &str) -> Result<Vec<Test>, String> {
    let mut lines = text.lines().peekable();
    let tests = level(&mut lines, "")?;
    match lines.next() {
        None => Ok(tests),
        Some(line) => Err(format!("after the last test: {line}")),
    }
}

type Lines<'a> = std::iter::Peekable<std::str::Lines<'a>>;

fn level(lines: &mut Lines<'_>, indent: &str) -> Result<Vec<Test>, String> {
    if lines.next() != Some(&format!("{indent}KTAP version 1")) {
        return Err(format!("no version line behind {} spaces", indent.len()));
    }
    let plan = lines.next().and_then(|line| {
        let count = line.strip_prefix(indent)?.strip_prefix("1..")?;
        count.parse::<usize>().ok()
    });
    let plan = plan.ok_or("no plan")?;
    (1..=plan)
        .map(|number| test(lines, indent, number))
        .collect()
}

fn test(lines: &mut Lines<'_>, indent: &str, number: usize) -> Result<Test, String> {
    let deeper = format!("{indent}  ");
    let mut tests = Vec::new();
    let mut passes = true;
    if lines.peek() == Some(&&*format!("{deeper}KTAP version 1")) {
        tests = level(lines, &deeper)?;
        passes = tests.iter().all(|test| test.ok);
    }
    while lines
        .peek()
        .is_some_and(|line| line.starts_with(&format!("{indent}# ")))
    {
        lines.next();
    }
    let line = lines.next().ok_or("the plan has more tests")?;
    let wrong = || format!("test {number}: {line}");
    let result = line.strip_prefix(indent).ok_or_else(wrong)?;
    let (ok, rest) = match result.strip_prefix("not ok ") {
        Some(rest) => (false, rest),
        None => (true, result.strip_prefix("ok ").ok_or_else(wrong)?),
    };
    let rest = rest.strip_prefix(&format!("{number} ")).ok_or_else(wrong)?;
    let (name, comment) = rest.split_once(" # ").unwrap_or((rest, ""));
    if name.contains('#') || ok != (ok && passes) {
        return Err(wrong());
    }
    Ok(Test {
        ok,
        skipped: comment.split(' ').next() == Some("SKIP"),
        name: name.to_owned(),
        comment: comment.to_owned(),
        tests,
    })
}

#[test]
fn the_reader_knows_wrong_from_right() {
    let right = "KTAP version 1\n1..2\n  KTAP version 1\n  1..1\n  # why\n  not ok 1 a # b\nnot ok 1 c\nok 2 d # SKIP e\n";
    let tests = read(right).expect("KTAP");
    assert_eq!(
        (tests[0].tests[0].name.as_str(), tests[1].skipped),
        ("a", true)
    );
    for (from, to) in [
        ("1..2", "1..3"),
        ("1..2", "1..1"),
        ("  not ok 1", "  not ok 2"),
        ("not ok 1 c", "ok 1 c"),
        ("ok 2 d", "okay 2 d"),
        ("  # why", "why"),
        ("KTAP version 1\n1", "1"),
    ] {
        let wrong = right.replacen(from, to, 1);
        assert!(read(&wrong).is_err(), "{wrong}");
    }
}
