//! How a team ends: normally, in an audited child, or with its partners' reasons for a failure.

use std::mem;
use std::time::{Duration, Instant};

use syscost_sys::audit::uncounted;
use syscost_sys::partner::Partner;
use syscost_sys::process::pause;

use super::Team;
use crate::failure::Failure;

/// How long a partner may take to report its error and end, once the measuring task has noticed.
const GRACE_PERIOD: Duration = Duration::from_millis(200);

/// How long the other partners may take to notice as well.
const NOTICE_PERIOD: Duration = Duration::from_millis(5);

/// Maximum number of different errors in a reason.
const MAX_ERRORS: usize = 3;

impl<'t> Team<'t> {
    /// The partners' reasons for a failure. The measuring task often sees only that one of them is
    /// gone: a closed pipe, a missing file.
    pub(super) fn explain(teams: impl IntoIterator<Item = Team<'t>>, failure: Failure) -> Failure {
        // Nothing is closed meanwhile: partners would report closed pipes.
        let (mut partners, mut stoppers, mut rests) = (Vec::new(), Vec::new(), Vec::new());
        for team in teams {
            partners.extend(team.partners);
            stoppers.extend(team.stopper);
            rests.push((team.driver, team.result));
        }
        let begun = Instant::now();
        while !partners.iter().any(Partner::has_ended) {
            if partners.is_empty() || begun.elapsed() > GRACE_PERIOD {
                return failure;
            }
            pause(NOTICE_PERIOD);
        }
        // One after the other sees that the other is gone.
        pause(NOTICE_PERIOD);
        let mut said: Vec<String> = Vec::new();
        for partner in partners.into_iter().filter(Partner::has_ended) {
            let words = partner.join().err().map(|error| error.to_string());
            said.extend(words.filter(|words| !said.contains(words)));
        }
        said.truncate(MAX_ERRORS);
        let words = said.join("; ");
        match (failure, said.is_empty()) {
            (Failure::Broken(what), _) => Failure::Broken(what),
            (Failure::Refuted(_), false) => Failure::Refuted(words),
            (_, false) => match stoppers.iter().find(|stopper| stopper.0.is_set()) {
                Some(stopper) => stopper.failure(words),
                None => Failure::Failed(words),
            },
            // If a task has ended, an unreadable /proc file does not mean that it is unsupported.
            (Failure::Unsupported(what), true) => {
                Failure::Failed(format!("a partner ended early: {what}"))
            }
            (failure, true) => failure,
        }
    }

    /// In an audited child: makes a team, runs `work`, whose calls alone count, and ends the
    /// partners.
    pub(super) fn audited(
        make: impl FnOnce() -> Result<Self, Failure>,
        work: impl FnOnce(&mut Self) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut team = uncounted(make)?;
        let done = work(&mut team);
        uncounted(|| match done {
            Ok(()) => {
                // Killed and reaped, or hundreds of audits would leave zombies until the worker ends.
                // Nothing else is dropped, as threads would notice; they end with the child.
                drop(team.partners);
                mem::forget((team.driver, team.stopper, team.result));
                Ok(())
            }
            Err(failure) => Err(Team::explain([team], failure)),
        })
    }

    /// Ends the partners, reports their errors, and hands over the team's result.
    pub(super) fn dismiss(mut self) -> Result<(), Failure> {
        if let Some(stopper) = &self.stopper {
            stopper.0.set();
        }
        if let Err(failure) = self.driver.end() {
            return Err(Team::explain([self], failure));
        }
        for partner in self.partners {
            partner.join().map_err(|error| match &self.stopper {
                Some(stopper) => stopper.failure(error.to_string()),
                None => error.into(),
            })?;
        }
        self.driver.return_driver();
        (self.result)()
    }
}
