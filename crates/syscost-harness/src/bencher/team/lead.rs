//! The measuring task's side of a team.

use std::cell::Cell;
use std::rc::Rc;

use crate::bencher::body;
use crate::bencher::laps::Laps;
use crate::failure::Failure;

/// What the measuring task does in a team. A closure `|turns| ...` is one that makes turns and has nothing to say at the end.
///
/// All but the turns is untimed. Where something fails, only what the lead does when it is dropped still happens.
pub trait Lead {
    /// Turns of the longest batch, at least [`Bencher::together`](crate::Bencher::together)'s hundred: as many as are prepared at once.
    const MAX_TURNS: u64 = body::MAX_TURNS;

    /// Whether [`Lead::prepare`] is work of its own. A batch is then more than its operations, and none of them is timed singly.
    const IS_PREPARED: bool = false;

    /// Makes exactly this many turns together with the partners, of as many operations each as
    /// [`Bencher::operations_per_turn`](crate::Bencher::operations_per_turn) says.
    fn turns(&mut self, turns: u64) -> Result<(), Failure>;

    /// Comes before each batch of [`Bencher::together`](crate::Bencher::together) and before each operation of
    /// [`Bencher::single_together`](crate::Bencher::single_together). It returns when every partner has done what came before and is ready for what comes.
    fn prepare(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// Comes right after each timed batch of [`Bencher::together`](crate::Bencher::together). Batches that are only counted go without.
    fn check(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// The times of the operations of the last batch, where its turns note them: one reading of the clock more per operation. Every operation that is
    /// timed then enters the row's histogram, for its tail. One turn is one operation then.
    fn laps(&mut self) -> Option<&mut Laps> {
        None
    }

    /// Looks at the core of a partner on another machine, before and after what is timed: whether it worked for nobody else. `None` where there is no
    /// such partner, or nobody can look.
    fn far_core_is_ours(&mut self) -> Result<Option<bool>, Failure> {
        Ok(None)
    }

    /// Lets the partners come to their end, which is then waited for. [`Stop`](super::Stop) is set before, where there is one; who
    /// sleeps has yet to be woken.
    fn end(&mut self) -> Result<(), Failure> {
        Ok(())
    }
}

impl<F: FnMut(u64) -> Result<(), Failure>> Lead for F {
    fn turns(&mut self, turns: u64) -> Result<(), Failure> {
        self(turns)
    }
}

/// Where something comes back to.
pub(super) struct Handed<T>(Rc<Cell<Option<T>>>);

impl<T> Handed<T> {
    /// Nothing so far.
    pub(super) fn nothing() -> Self {
        Self(Rc::default())
    }

    /// Another handle to the same place.
    pub(super) fn again(&self) -> Self {
        Self(Rc::clone(&self.0))
    }

    /// Puts it there.
    pub(super) fn put(&self, value: T) {
        self.0.set(Some(value));
    }

    /// What came back.
    pub(super) fn take(&self) -> Result<T, Failure> {
        let missing = || Failure::Broken("has a team that never came to its end".into());
        self.0.take().ok_or_else(missing)
    }
}

/// A lead of any kind: one indirect call for a batch, whatever there is in it.
pub(super) trait AnyLead {
    fn turns(&mut self, turns: u64) -> Result<(), Failure>;
    fn prepare(&mut self) -> Result<(), Failure>;
    fn check(&mut self) -> Result<(), Failure>;
    fn laps(&mut self) -> Option<&mut Laps>;
    fn far_core_is_ours(&mut self) -> Result<Option<bool>, Failure>;
    fn end(&mut self) -> Result<(), Failure>;
    /// Hands the lead back, as it is.
    fn hand_back(self: Box<Self>);
}

/// One that is handed back.
pub(super) struct Returning<L> {
    pub(super) lead: L,
    pub(super) back: Handed<L>,
}

impl<L: Lead> AnyLead for Returning<L> {
    fn turns(&mut self, turns: u64) -> Result<(), Failure> {
        self.lead.turns(turns)
    }

    fn prepare(&mut self) -> Result<(), Failure> {
        self.lead.prepare()
    }

    fn check(&mut self) -> Result<(), Failure> {
        self.lead.check()
    }

    fn laps(&mut self) -> Option<&mut Laps> {
        self.lead.laps()
    }

    fn far_core_is_ours(&mut self) -> Result<Option<bool>, Failure> {
        self.lead.far_core_is_ours()
    }

    fn end(&mut self) -> Result<(), Failure> {
        self.lead.end()
    }

    fn hand_back(self: Box<Self>) {
        self.back.put(self.lead);
    }
}
