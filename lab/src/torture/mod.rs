//! `cargo lab torture`: the program is killed, starved, hurried and lied to, and must end well each time.
//!
//! "Well" means: in time, with a documented exit code, without a panic, with a consistent document
//! if it writes one, and with no process and no file left behind. Nothing is changed on the
//! machine; only processes that this chore started are killed.

mod damage;
mod hostile;
mod kills;
mod restricted;
mod sandbox;

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use clap::Args;
use fastrand::Rng;

use crate::columns::{columns, line};
use crate::program::Given;
use sandbox::Sandbox;

/// Arguments of `torture`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Seconds that all campaigns may take together; each does everything once at least
    #[arg(long, default_value_t = 600)]
    seconds: u64,
    /// Everything once or a few times, as CI does it
    #[arg(long, conflicts_with = "seconds")]
    quick: bool,
    /// Only campaigns whose names contain this
    #[arg(long, value_name = "WORDS", default_value = "")]
    only: String,
    #[command(flatten)]
    program: Given,
    /// Seed of times, places and damages: of each try by its number
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// A way to maltreat the program, tried once; the tally counts the tries and notes what went wrong.
type Campaign = fn(&Sandbox, &mut Rng, &mut Tally) -> Result<()>;

const CAMPAIGNS: [(&str, Campaign); 13] = [
    (
        "coordinator killed, then resumed",
        kills::of_the_coordinator,
    ),
    ("workers killed", kills::of_workers),
    ("politely ended", kills::polite),
    ("restricted environments", restricted::all),
    ("refused system calls", restricted::refused),
    ("damaged documents", damage::of_documents),
    ("damaged journals", damage::of_journals),
    ("eight runs at once", hostile::eight),
    ("inherited signals", hostile::signals),
    ("trees swapped by a directory's owner", hostile::swaps),
    ("what is late or never comes", hostile::late),
    ("foreign files", hostile::foreign_files),
    ("killed clean-ups", hostile::killed_clean_ups),
];

/// The results of a campaign.
#[derive(Debug, Default)]
struct Tally {
    tried: usize,
    complaints: Vec<String>,
    /// What this machine cannot do.
    not_tried: Vec<&'static str>,
}

impl Tally {
    /// Records something that was tried, and what was wrong with it.
    fn note(&mut self, what: &str, complaints: impl IntoIterator<Item = String>) {
        self.tried += 1;
        let complaints = complaints.into_iter();
        self.complaints
            .extend(complaints.map(|complaint| format!("{what}: {complaint}")));
    }
}

/// Runs the chore.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let binary = arguments.program.get()?.path;
    let seconds = if arguments.quick {
        60
    } else {
        arguments.seconds
    };
    let chosen = CAMPAIGNS
        .into_iter()
        .filter(|(name, _)| name.contains(&arguments.only));
    let count = chosen.clone().count();
    ensure!(count > 0, "no campaign is called {}", arguments.only);
    let share = Duration::from_secs(seconds) / count as u32;
    let mut lines = vec![line(["", "tried", "complaints"])];
    let mut complaints = Vec::new();
    for (name, campaign) in chosen {
        eprintln!("{name}");
        let mut number = 0;
        let sandbox = Sandbox::new(&binary)?;
        let mut tally = Tally::default();
        let begun = Instant::now();
        while tally.tried == 0 || begun.elapsed() < share {
            let mut rng = Rng::with_seed(arguments.seed.wrapping_add(number));
            number += 1;
            let known = tally.complaints.len();
            campaign(&sandbox, &mut rng, &mut tally)?;
            for complaint in &mut tally.complaints[known..] {
                *complaint = format!("try {number}: {complaint}");
            }
        }
        tally.complaints.extend(sandbox.leftovers());
        if !tally.complaints.is_empty() {
            let kept = sandbox.keep();
            tally
                .complaints
                .push(format!("its files are in {}", kept.display()));
        }
        if !tally.not_tried.is_empty() {
            tally.not_tried.sort_unstable();
            tally.not_tried.dedup();
            println!("{name}: this machine cannot {}", tally.not_tried.join(", "));
        }
        let numbers = [tally.tried, tally.complaints.len()].map(|number| number.to_string());
        lines.push([name.to_owned()].into_iter().chain(numbers).collect());
        let of_campaign = tally.complaints.into_iter();
        complaints.extend(of_campaign.map(|complaint| format!("{name}: {complaint}")));
    }
    print!("{}", columns(&lines));
    for complaint in &complaints {
        println!("{complaint}");
    }
    ensure!(complaints.is_empty(), "{} complaints", complaints.len());
    Ok(())
}
