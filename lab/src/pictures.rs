//! Draws the pictures of docs/images from the run in fixtures/runs, with the program's own commands
//! and a real browser.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::Args;
use flate2::Compression;
use flate2::write::GzEncoder;
use syscost_results::document;

use xtask::workspace;

/// The run that is drawn.
const RUN: &str = "fixtures/runs/standard.json.gz";
/// The directory of the pictures.
const FOLDER: &str = "docs/images";
/// Names of browsers that can take screenshots without a window.
const BROWSERS: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];

/// Arguments of `pictures`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// A run document to draw from now on: anonymous and without samples, it takes the place of the
    /// one in fixtures/runs
    #[arg(long, value_name = "FILE")]
    run: Option<PathBuf>,
}

/// Runs the chore.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let root = workspace::root();
    if let Some(path) = &arguments.run {
        std::fs::write(root.join(RUN), thinned(path)?).with_context(|| format!("writing {RUN}"))?;
        println!("wrote {RUN}");
    }
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

/// The document without what identifies its machine's owner, and without samples, which no picture
/// shows.
fn thinned(path: &Path) -> Result<Vec<u8>> {
    let text = workspace::read(path)?;
    let mut run = document::read(text.as_bytes()).context("reading the run document")?;
    run.anonymize();
    for row in &mut run.measurements {
        row.samples = None;
    }
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    serde_json::to_writer(&mut packed, &run).context("writing the run document")?;
    packed.finish().context("packing the run document")
}

/// Runs the program as built by `cargo run`; the build profile does not affect the pictures.
fn syscost(arguments: &[&str]) -> Result<()> {
    let status = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["run", "--quiet", "--package", "syscost"])
        .args(["--bin", "syscost", "--"])
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

/// A screenshot of the page's upper part. The scheme is 0 for dark, 1 for light.
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
        .args(["--headless", "--no-sandbox", "--disable-gpu"])
        .args(["--hide-scrollbars", "--window-size=1280,860"])
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
