//! How a team ends: well, in an audited child, or with what its partners say of a failure.

use std::mem;
use std::time::{Duration, Instant};

use syscost_sys::partner::Partner;
use syscost_sys::process::pause;

use super::Team;
use crate::failure::Failure;

/// How long a partner may take to say what went wrong and end, once the measuring task has felt it.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// How long its neighbours may take to feel it, too.
const NEIGHBOURS: Duration = Duration::from_millis(5);

/// Maximum number of different complaints in a reason.
const MOST_WORDS: usize = 3;

impl<'t> Team<'t> {
    /// Ends partner processes at once, in an audited child: their last calls are no part of the operation. Nothing else is
    /// dropped, for threads would notice; they go with the child.
    fn abandon(self) {
        // Stopped first: one that sees its neighbour's end would say so, and be counted.
        self.partners.iter().for_each(Partner::freeze);
        // Waited for, lest the dead of hundreds of audits stay until the worker ends.
        drop(self.partners);
        mem::forget((self.lead, self.stopper, self.result));
    }

    /// What the partners of teams that failed say of it. The measuring task often sees no more than that one of them is gone: a closed
    /// pipe, a missing file.
    pub(super) fn explain(teams: impl IntoIterator<Item = Team<'t>>, failure: Failure) -> Failure {
        // The rest stays as it is meanwhile: whose pipes close would complain of that.
        let (mut partners, mut stoppers, mut rests) = (Vec::new(), Vec::new(), Vec::new());
        for team in teams {
            partners.extend(team.partners);
            stoppers.extend(team.stopper);
            rests.push((team.lead, team.result));
        }
        let begun = Instant::now();
        while !partners.iter().any(Partner::has_ended) {
            if partners.is_empty() || begun.elapsed() > LAST_WORDS {
                return failure;
            }
            pause(NEIGHBOURS);
        }
        // One after the other sees that its neighbour is gone.
        pause(NEIGHBOURS);
        let mut said: Vec<String> = Vec::new();
        for partner in partners.into_iter().filter(Partner::has_ended) {
            let words = partner.join().err().map(|error| error.to_string());
            said.extend(words.filter(|words| !said.contains(words)));
        }
        said.truncate(MOST_WORDS);
        let words = said.join("; ");
        match (failure, said.is_empty()) {
            (Failure::Broken(what), _) => Failure::Broken(what),
            (Failure::Refuted(_), false) => Failure::Refuted(words),
            (_, false) => match stoppers.iter().find(|stopper| stopper.0.is_set()) {
                Some(stopper) => stopper.failure(words),
                None => Failure::Failed(words),
            },
            // What cannot be read of a task that is gone is not missing in this machine.
            (Failure::Unsupported(what), true) => {
                Failure::Failed(format!("a partner ended early: {what}"))
            }
            (failure, true) => failure,
        }
    }

    /// Does in an audited child what `work` says, and leaves the child's partners as they are.
    pub(super) fn audited(
        mut self,
        work: impl FnOnce(&mut Self) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        match work(&mut self) {
            Ok(()) => {
                self.abandon();
                Ok(())
            }
            Err(failure) => Err(Team::explain([self], failure)),
        }
    }

    /// Ends the partners and tells what went wrong with them; what the team comes to is handed back.
    pub(super) fn dismiss(mut self) -> Result<(), Failure> {
        if let Some(stopper) = &self.stopper {
            stopper.0.set();
        }
        if let Err(failure) = self.lead.end() {
            return Err(Team::explain([self], failure));
        }
        for partner in self.partners {
            partner.join().map_err(|error| match &self.stopper {
                Some(stopper) => stopper.failure(error.to_string()),
                None => error.into(),
            })?;
        }
        self.lead.hand_back();
        (self.result)()
    }
}
