//! What Prometheus reads: the resident exporter of cores, and the rules over exported runs.

use std::fs;
use std::io::{BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::common::{Json, Program, or_skip, recorded};
use crate::readers::{fed, installed, python};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// Time limit for anything that the exporter does.
const PATIENCE: Duration = Duration::from_secs(60);

/// The exporter, killed when dropped.
struct Exporter {
    child: Child,
    address: SocketAddr,
}

impl Exporter {
    fn start(program: &Program, more: &str) -> Self {
        let mut child = program
            .command(&format!("doctor --watch --listen 0 --interval 0.2 {more}"))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let mut said = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut line = String::new();
        std::io::BufRead::read_line(&mut said, &mut line).expect("text");
        let address = line.trim().strip_prefix("Serves http://");
        let address = address.and_then(|rest| rest.strip_suffix("/metrics"));
        let address = address.unwrap_or_else(|| panic!("{line:?}"));
        Self {
            child,
            address: address.parse().expect("an address"),
        }
    }

    /// The answer to a request for this path.
    fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(self.address).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("set");
        write!(stream, "GET {path} HTTP/1.1\r\nHost: here\r\n\r\n").expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("text");
        answer
    }

    /// Its metrics, once they have this family.
    fn metrics(&self, family: &str) -> String {
        let begun = Instant::now();
        loop {
            let answer = self.get("/metrics");
            let (head, body) = answer.split_once("\r\n\r\n").expect("head and body");
            assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
            if body.contains(&format!("\n{family}{{")) {
                return body.to_owned();
            }
            assert!(begun.elapsed() < PATIENCE, "no {family}: {body}");
            sleep(Duration::from_millis(100));
        }
    }

    fn end(mut self, signal: Signal) -> Option<i32> {
        kill_process(Pid::from_child(&self.child), signal).expect("it is alive");
        self.child.wait().expect("it ends").code()
    }
}

impl Drop for Exporter {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn prometheus_can_scrape_the_cores() {
    let program = Program::new();
    let file = program.folder().join("cores.prom");
    let exporter = Exporter::start(&program, &format!("--openmetrics {}", file.display()));
    assert!(exporter.address.ip().is_loopback());
    let text = exporter.metrics("syscost_core_probes");
    assert!(exporter.get("/").starts_with("HTTP/1.1 404 "));
    // A client that stays silent keeps nobody else waiting for long.
    let _silent = TcpStream::connect(exporter.address).expect("it listens");
    exporter.metrics("syscost_core_window_seconds");
    let written = fs::read_to_string(&file).expect("it is kept");
    assert!(written.ends_with("# EOF\n"), "{written}");
    for (signal, exporter) in [
        (Signal::TERM, exporter),
        (Signal::INT, Exporter::start(&program, "")),
    ] {
        assert_eq!(exporter.end(signal), Some(0));
    }
    assert!(!file.exists(), "nobody measures any more");
    if installed("promtool").is_ok() {
        let mut promtool = Command::new("promtool");
        promtool.args(["check", "metrics"]);
        assert_eq!(fed(promtool, &text), "");
    }
    let modules = "prometheus_client";
    let read = or_skip!(python("openmetrics.py", Path::new("-"), &text, modules));
    for parser in ["openmetrics", "text_format"] {
        let samples = read[parser].list();
        let of = |family: &str| {
            let of_family = move |sample: &&Value| sample[2] == family;
            samples.iter().filter(of_family).collect::<Vec<_>>()
        };
        let shares = of("syscost_core_ours_ratio");
        for share in &shares {
            let (cpu, share) = (&share[3]["cpu"], share[4].number());
            let end = |family: &str| {
                let of_cpu = of(family).into_iter().find(|end| end[3]["cpu"] == *cpu);
                of_cpu.and_then(|end| end[4].as_f64()).expect("a number")
            };
            let low = end("syscost_core_ours_ci95_low_ratio");
            let high = end("syscost_core_ours_ci95_high_ratio");
            assert!(0.0 <= low && low <= share && share <= high && high <= 1.0);
        }
        assert!(of("syscost_core_probes").len() >= shares.len());
        assert_eq!(of("syscost_exporter_cpu_seconds").len(), 1);
    }
}

#[test]
fn the_exporter_ends_by_itself_after_its_time() {
    let program = Program::new();
    let file = program.folder().join("cores.prom");
    let path = file.display();
    let output = program.run(&format!("doctor --watch 1 --openmetrics {path}"));
    output.succeeded();
    assert!(!file.exists());
    let nowhere = program.run("doctor --watch 1 --openmetrics /no/such/folder/x.prom");
    nowhere.says(2, "there is no folder /no/such/folder");
    program.run("doctor --listen 0").says(2, "--watch");
    let idle = program.run("doctor --watch --interval 5");
    idle.says(2, "--openmetrics");
}

/// Writes a template's files into a folder of this program's.
fn template(program: &Program, name: &str) -> std::path::PathBuf {
    let folder = program.folder().join(name);
    let path = folder.display();
    program
        .run(&format!("fleet template {name} -o {path}"))
        .succeeded();
    folder
}

/// Hosts of which the last two are half as slow again in each row; of these, the very last says so
/// in rows that are flagged.
fn fleet(program: &Program) -> std::path::PathBuf {
    let folder = program.folder().join("fleet");
    fs::create_dir(&folder).expect("made");
    for number in 1..=7 {
        let mut run = recorded();
        run["id"] = json!(format!("run-{number}"));
        run["machine"]["hostname"] = json!(format!("n{number}"));
        let is_slow = number >= 6;
        let rows = run["measurements"].list_mut();
        rows.retain(|row| row["status"] == "ok" && row["estimate"]["ci95_low"].is_f64());
        for row in rows {
            row["flags"] = match number {
                7 => json!(["noisy"]),
                _ => json!([]),
            };
            for claim in row["evidence"].list_mut() {
                claim["verdict"] = json!("Confirmed");
            }
            // Where nothing is claimed, nothing is confirmed.
            row["samples"] = Value::Null;
            let slower = if row["better"] == "lower" {
                1.5
            } else {
                1.0 / 1.5
            };
            let factor = if is_slow { slower } else { 1.0 };
            let median = row["estimate"]["median"].number() * factor;
            for (figure, share) in [("median", 1.0), ("ci95_low", 0.99), ("ci95_high", 1.01)] {
                row["estimate"][figure] = json!(median * share);
            }
            for figure in ["min", "raw_median", "p99"] {
                row["estimate"][figure] = Value::Null;
            }
        }
        let path = folder.join(format!("n{number}.json"));
        fs::write(path, run.to_string()).expect("written");
    }
    folder
}

#[test]
fn a_slow_host_raises_an_alert_and_a_doubtful_row_does_not() {
    let program = Program::new();
    let fleet = fleet(&program);
    let exported = program
        .run(&format!("export {} --format openmetrics", fleet.display()))
        .succeeded();
    or_skip!(installed("promtool"));
    let rules = template(&program, "grafana").join("syscost-rules.yml");
    let samples: Vec<(&str, &str)> = exported
        .out
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.rsplit_once(' ').expect("a value"))
        .collect();
    let series: Vec<Value> = samples
        .iter()
        .map(|(name, value)| json!({"series": name, "values": format!("{value}+0x12")}))
        .collect();
    // Of each row of the slow host that can be held against others.
    let beyond_doubt = samples.iter().filter(|(name, value)| {
        name.starts_with("syscost_beyond_doubt{host=\"n6\"") && *value == "1.0"
    });
    let names = beyond_doubt.map(|(name, _)| name.trim_start_matches("syscost_beyond_doubt"));
    let is_cost = |labels: &&str| {
        samples.iter().any(|(name, _)| {
            let family = name.strip_suffix(labels);
            family.is_some_and(|family| {
                let unit = family.strip_prefix("syscost_median_");
                unit.is_some_and(|unit| unit == "seconds" || unit.ends_with("_per_second"))
            })
        })
    };
    let expected = names.filter(is_cost).count();
    assert!(expected > 20, "{expected}");
    let alerts = |expression: &str, samples: Value| json!({"expr": expression, "eval_time": "1h", "exp_samples": samples});
    let tests = json!({
        "rule_files": [rules],
        "evaluation_interval": "5m",
        "tests": [{
            "interval": "5m",
            "input_series": series,
            "promql_expr_test": [
                alerts(
                    "count by (host) (ALERTS{alertname=\"SyscostDear\", alertstate=\"firing\"})",
                    json!([{"labels": "{host=\"n6\"}", "value": expected}])
                ),
                alerts("ALERTS{alertname=\"SyscostBecameDear\"}", json!([])),
                alerts("count(syscost:cost:usual)", json!([{"labels": "{}", "value": expected}])),
            ],
        }],
    });
    let file = program.put("tests.yml", tests.to_string()).into();
    for (task, file) in [("check", &rules), ("test", &file)] {
        let mut promtool = Command::new("promtool");
        promtool.args([task, "rules"]).arg(file);
        let said = fed(promtool, "");
        assert!(said.contains("SUCCESS"), "{said}");
    }
}
