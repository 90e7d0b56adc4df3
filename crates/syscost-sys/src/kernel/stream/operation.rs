//! The kinds of streams.

use syscost_params::Value;

/// What is done with each line of the arrays.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Loads only.
    Read,
    /// Stores a constant.
    Write,
    /// Stores a constant, bypassing the caches.
    WriteNontemporal,
    /// a = b.
    Copy,
    /// a = b, with stores that bypass the caches.
    CopyNontemporal,
    /// a = s b.
    Scale,
    /// a = b + c: two lines read for each written.
    Add,
    /// a = b + s c.
    Triad,
    /// a = b + c + d: three lines read for each written.
    AddThree,
    /// The instruction `rep stosb`.
    #[value("rep_stosb")]
    RepeatStore,
    /// The instruction `rep movsb`.
    #[value("rep_movsb")]
    RepeatMove,
    /// The C library's `memset`.
    Memset,
    /// The C library's `memcpy`.
    Memcpy,
}

impl Stream {
    /// Number of arrays that are read.
    pub const fn sources(self) -> usize {
        match self {
            Self::Write | Self::WriteNontemporal | Self::RepeatStore | Self::Memset => 0,
            Self::Add | Self::Triad => 2,
            Self::AddThree => 3,
            _ => 1,
        }
    }

    /// Number of arrays that are written: one or none.
    pub const fn destinations(self) -> usize {
        match self {
            Self::Read => 0,
            _ => 1,
        }
    }

    /// Number of arrays altogether.
    pub const fn arrays(self) -> usize {
        self.sources() + self.destinations()
    }

    /// Whether it uses vector instructions that the program chooses.
    pub const fn is_vector(self) -> bool {
        !matches!(
            self,
            Self::RepeatStore | Self::RepeatMove | Self::Memset | Self::Memcpy
        )
    }

    /// Whether its stores first bring the line that they overwrite into a cache, as far as the
    /// instructions show.
    pub const fn allocates(self) -> bool {
        self.is_vector()
            && self.destinations() > 0
            && !matches!(self, Self::WriteNontemporal | Self::CopyNontemporal)
    }
}
