//! Draws the pictures of docs/images from the run in fixtures/runs, with the program's own verbs and a real browser.

use std::env;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::workspace;

/// The run that is drawn.
const RUN: &str = "fixtures/runs/quick.json";
/// Where the pictures go.
const FOLDER: &str = "docs/images";
/// Names under which systems have a browser that takes pictures without a window.
const BROWSERS: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];

pub(crate) fn run() -> Result<()> {
    let root = workspace::root();
    let folder = root.join(FOLDER);
    std::fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
    for (names, theme, file) in [
        (&["numbers"][..], "light", "numbers.svg"),
        (&["numbers"], "dark", "numbers-dark.svg"),
        (&["syscall.poll"], "light", "poll.svg"),
        (&["syscall.poll"], "dark", "poll-dark.svg"),
    ] {
        let output = format!("{FOLDER}/{file}");
        syscost(&[&["plot", RUN], names, &["--theme", theme, "-o", &output]].concat())?;
    }
    let page = root.join("target/report.html");
    let page = page.to_str().context("the path of target/ is no UTF-8")?;
    syscost(&["report", RUN, "-o", page])?;
    for (scheme, file) in [("1", "report.png"), ("0", "report-dark.png")] {
        screenshot(page, scheme, &folder.join(file))?;
        println!("wrote {FOLDER}/{file}");
    }
    Ok(())
}

/// The program as `cargo run` builds it; which profile draws does not matter.
fn syscost(arguments: &[&str]) -> Result<()> {
    let status = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args([
            "run",
            "--quiet",
            "--package",
            "syscost",
            "--bin",
            "syscost",
            "--",
        ])
        .args(arguments)
        .current_dir(workspace::root())
        .status()
        .context("starting cargo")?;
    if !status.success() {
        bail!(
            "`syscost {}` ended with {status}; it says why above",
            arguments.join(" ")
        );
    }
    Ok(())
}

/// A picture of the page's upper part. The scheme is 0 for dark, 1 for light.
fn screenshot(page: &str, scheme: &str, file: &Path) -> Result<()> {
    let works = |name: &&str| {
        let version = Command::new(name).arg("--version").output();
        version.is_ok_and(|output| output.status.success())
    };
    let Some(browser) = BROWSERS.into_iter().find(works) else {
        bail!(
            "no browser takes the picture of the report; install one, e.g. apt-get install chromium"
        );
    };
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--window-size=1240,1180",
        ])
        .arg(format!("--blink-settings=preferredColorScheme={scheme}"))
        .arg(format!("--screenshot={}", file.display()))
        .arg(format!("file://{page}"))
        .output()
        .with_context(|| format!("starting {browser}"))?;
    if !output.status.success() || !file.exists() {
        bail!(
            "{browser} took no picture: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    Ok(())
}
