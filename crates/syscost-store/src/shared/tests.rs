//! What is shared of a run, and what is refused.

use serde_json::{Value, json};
use syscost_results::fixture;
use syscost_results::run::Noise;

use super::*;

/// The fields whose texts are told to strangers, as JSON pointers (`=` is a name within them): of the
/// program, of the machine what `facts` calls public, and what the catalogue calls its rows.
const DISCLOSED: &[&str] = &[
    "/clock/source",
    "/id",
    "/machine/arch",
    "/machine/build/commit",
    "/machine/build/rustc",
    "/machine/build/target",
    "/machine/caches/0/kind",
    "/machine/clocksource",
    "/machine/container",
    "/machine/cpu_model",
    "/machine/cpu_signature",
    "/machine/cpu_vendor",
    "/machine/distribution",
    "/machine/firmware",
    "/machine/frequency_driver",
    "/machine/governor",
    "/machine/hypervisor",
    "/machine/idle_driver",
    "/machine/idle_governor",
    "/machine/kernel",
    "/machine/libc",
    "/machine/memory_modules/0/kind",
    "/machine/memory_modules/0/slot",
    "/machine/microcode",
    "/machine/mitigations/a=",
    "/machine/mitigations/a",
    "/machine/product",
    "/machine/scheduling",
    "/machine/transparent_hugepages",
    "/measurements/0/case/a=",
    "/measurements/0/case/a",
    "/measurements/0/id",
    "/measurements/0/name",
    "/measurements/0/title",
    "/started",
    "/tool/name",
    "/tool/version",
];

/// A run with every field that a document can have, by the schema: a text is `a`, and so is the name
/// of what has no fixed one.
fn complete() -> Value {
    let schema = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/run.schema.json");
    let schema = std::fs::read(schema).expect("the schema is there");
    let schema: Value = serde_json::from_slice(&schema).expect("JSON");
    let mut run = of_schema(&schema, &schema["$defs"]);
    // Its fields are no part of the schema, and none of it is shared.
    run["studies"] = json!([]);
    run["machine"]["build"]["profile"] = json!("release");
    run["config"]["profile"] = json!("full");
    run["measurements"][0]["flags"] = json!([]);
    run
}

fn of_schema(schema: &Value, all: &Value) -> Value {
    if let Some(name) = schema["$ref"].as_str() {
        return of_schema(&all[name.rsplit('/').next().unwrap_or_default()], all);
    }
    if let Some(word) = schema.get("const").or(schema.pointer("/enum/0")) {
        return word.clone();
    }
    if let Some(one_of) = schema["anyOf"].as_array().or(schema["oneOf"].as_array()) {
        let is = |kind: &'static str| move |one: &&Value| one["type"] == kind;
        let text = one_of.iter().find(is("string"));
        let other = one_of.iter().find(|one| !is("null")(one));
        return of_schema(text.or(other).expect("an alternative"), all);
    }
    let kind = &schema["type"];
    match kind.as_array().map_or(kind, |kinds| &kinds[0]).as_str() {
        Some("object") => {
            let fields = schema["properties"].as_object().into_iter().flatten();
            let other = schema.get("additionalProperties").map(|of| ("a", of));
            let fields = fields.map(|(name, of)| (&**name, of)).chain(other);
            fields
                .map(|(name, of)| (name.to_owned(), of_schema(of, all)))
                .collect()
        }
        Some("array") => {
            let tuple = schema["prefixItems"].as_array().into_iter().flatten();
            let items = schema.get("items").into_iter().chain(tuple);
            items.map(|of| of_schema(of, all)).collect()
        }
        Some("string") => json!("a"),
        Some("integer" | "number") => json!(99),
        Some("boolean") => json!(true),
        _ => Value::Null,
    }
}

/// The places of all texts, and of all names that a user may have chosen.
fn texts(value: &Value, place: &str, found: &mut Vec<String>) {
    let fields = value.as_object().into_iter().flatten();
    for (name, field) in fields {
        let place = format!("{place}/{name}");
        if name == "a" {
            found.push(format!("{place}="));
        }
        texts(field, &place, found);
    }
    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
        texts(item, &format!("{place}/{index}"), found);
    }
    if value.is_string() {
        found.push(place.to_owned());
    }
}

/// The run with a secret in this place; `None` where only certain words can be.
fn planted(run: &Value, place: &str) -> Option<Run> {
    let mut run = run.clone();
    match place.strip_suffix("/a=") {
        Some(map) => {
            let map = run.pointer_mut(map)?.as_object_mut()?;
            let value = map.remove("a")?;
            map.insert(SECRET.to_owned(), value);
        }
        None => *run.pointer_mut(place)? = json!(SECRET),
    }
    serde_json::from_value(run).ok()
}

const SECRET: &str = "alice-and-her-secret";

fn known(_: &Measurement) -> bool {
    true
}

#[test]
fn a_secret_in_any_other_field_is_not_shared() {
    let mut run = complete();
    // With any of these it is not fit; without them all, it is.
    let own = [
        "selectors",
        "program",
        "wrapper",
        "environment",
        "congestion",
    ];
    let own = own.map(|field| (field, run["config"][field].take()));
    run["config"]["selectors"] = json!([]);
    run["config"]["environment"] = json!({});
    for (field, value) in own {
        let mut run = run.clone();
        run["config"][field] = value;
        let run: Run = serde_json::from_value(run).expect("a run");
        assert!(share(&run, known).is_err(), "{field}");
    }
    let whole: Run = serde_json::from_value(run.clone()).expect("a run");
    let (shared, _) = share(&whole, known).expect("it is fit");
    assert_eq!(
        shared.measurements.len(),
        1,
        "or nothing of a row is looked for"
    );
    let mut places = Vec::new();
    texts(&run, "", &mut places);
    assert!(places.len() > 100, "{places:?}");
    let is_told = |place: &&String| {
        let shared = planted(&run, place).and_then(|run| share(&run, known).ok());
        shared.is_some_and(|(run, _)| {
            let text = serde_json::to_string(&run).expect("a document");
            text.contains(SECRET)
        })
    };
    let told: Vec<&String> = places.iter().filter(is_told).collect();
    assert_eq!(told, DISCLOSED);
}

/// A run that is fit.
fn fit() -> Run {
    let mut run = fixture::run("r", vec![fixture::valued("syscall.null", 100.0)]);
    run.config.profile = "full".to_owned();
    run.machine.build.profile = "release".to_owned();
    run
}

#[test]
fn what_is_unfit_is_refused_with_the_reason() {
    let why = |change: &dyn Fn(&mut Run)| {
        let mut run = fit();
        change(&mut run);
        share(&run, known).map_or_else(|why| why.to_string(), |_| "fit".to_owned())
    };
    assert_eq!(why(&|_| ()), "fit");
    let quick = why(&|run| run.config.profile = "quick".to_owned());
    assert!(quick.contains("quick profile"), "{quick}");
    let some = why(&|run| run.config.selectors = vec!["syscall".to_owned()]);
    assert!(some.contains("some rows"), "{some}");
    let debug = why(&|run| run.machine.build.profile = "debug".to_owned());
    assert!(debug.contains("debug build"), "{debug}");
    let skipped = why(&|run| run.measurements[0].status = Status::Skipped);
    assert!(skipped.contains("1 rows were skipped"), "{skipped}");
    let own = why(&|run| run.config.program = Some("/home/alice/syscost".to_owned()));
    assert!(
        own.contains("of one's own") && !own.contains("alice"),
        "{own}"
    );
    for name in syscost_results::machine::EMULATORS {
        let emulated =
            why(&|run| run.machine.hypervisor = syscost_results::Known::Yes(name.to_owned()));
        assert!(emulated.contains(name), "{emulated}");
    }
    let noise = |percent| Noise {
        used: true,
        alone_percent: Some(percent),
        ..Noise::default()
    };
    let shared = why(&|run| run.noise = vec![noise(49.0), noise(50.0)]);
    assert!(shared.contains("ours in only 50 %"), "{shared}");
    assert_eq!(
        why(&|run| run.noise = vec![noise(49.0), noise(52.0)]),
        "fit"
    );
    let gvisor = "Linux version 4.19.0-gvisor #1 SMP";
    let imitated = why(&|run| run.machine.kernel_version = Some(gvisor.to_owned()));
    assert!(imitated.contains("gVisor, which imitates"), "{imitated}");
    let tracer = syscost_results::run::Warning {
        code: "tracer".to_owned(),
        message: String::new(),
        advice: String::new(),
    };
    let traced = why(&|run| run.warnings = vec![tracer.clone()]);
    assert!(traced.contains("under a tracer"), "{traced}");
    let row = fixture::valued("syscall.null", 100.0);
    let withheld = |run: &mut Run| {
        run.measurements = vec![row.clone(); 5];
        run.measurements[1..]
            .iter_mut()
            .for_each(|row| row.status = Status::Withheld);
    };
    let few = why(&withheld);
    assert!(few.contains("only 1 of 5 rows"), "{few}");
    let large = why(&|run| run.measurements = vec![row.clone(); MAX_ROWS + 1]);
    assert!(large.contains("larger than any run"), "{large}");
    let long = why(&|run| run.measurements[0].title = "a".repeat(9 << 20));
    assert!(long.contains("larger than any run"), "{long}");
}

#[test]
fn a_row_that_is_of_no_use_elsewhere_stays_here() {
    let mut run = fit();
    let mut vague = fixture::valued("syscall.vague", 100.0);
    vague.estimate.ci95_high = Some(200.0);
    run.measurements.extend([
        vague,
        fixture::valued("fs.read{dir=alice,size=4K}", 100.0),
        fixture::valued("alice.own", 100.0),
    ]);
    let (shared, _) = share(&run, |row| !row.id.starts_with("alice")).expect("it is fit");
    let names: Vec<&str> = shared.measurements.iter().map(|row| &*row.name).collect();
    assert_eq!(names, ["syscall.null"]);
}

#[test]
fn a_strangers_file_is_taken_as_it_is_shared_and_within_its_limits() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("shared.json.gz");
    let read = |bytes: &[u8]| {
        std::fs::write(&path, bytes).expect("written");
        load_shared(&path, |row| row.id == "syscall.null")
    };
    let refused = |bytes: &[u8]| read(bytes).expect_err("refused").to_string();
    let of = |change: &dyn Fn(&mut Run)| {
        let mut run = share(&fit(), known).expect("it is fit").0;
        change(&mut run);
        packed(&serde_json::to_vec(&run).expect("a document"))
    };
    let (run, bytes) = share(&fit(), known).expect("it is fit");
    assert_eq!(read(&bytes).expect("as it was shared"), (run, bytes));
    for tells in [
        of(&|run| run.machine.hostname = "alice".to_owned()),
        of(&|run| run.measurements[0].reason = Some("alice".to_owned())),
        of(&|run| run.measurements.push(fixture::valued("alice.own", 100.0))),
    ] {
        let why = refused(&tells);
        assert!(why.contains("tells more"), "{why}");
    }
    let quick = refused(&of(&|run| run.config.profile = "quick".to_owned()));
    assert!(quick.contains("quick profile"), "{quick}");
    // A bomb; what is too large unpacked, or as it is; and no run at all.
    let blank = packed(&vec![b' '; MAX_UNPACKED as usize + 1]);
    assert!(refused(&blank).contains("times as many"));
    let mut random = fastrand::Rng::with_seed(1);
    let mut letters = |count: usize| {
        (0..count)
            .map(|_| random.u8(b'a'..=b'z'))
            .collect::<Vec<u8>>()
    };
    let loose = packed(&[letters(400_000), vec![b' '; MAX_UNPACKED as usize]].concat());
    assert!(loose.len() < MAX_PACKED as usize);
    assert!(refused(&loose).contains("more than 8 MiB"));
    assert!(refused(&letters(MAX_PACKED as usize + 1)).contains("more than 1 MiB"));
    assert!(refused(b"{}").contains("no run document"));
}
