//! The kinds of streams.

/// What a stream does with each line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    RepeatStore,
    /// The instruction `rep movsb`.
    RepeatMove,
    /// The C library's `memset`.
    Memset,
    /// The C library's `memcpy`.
    Memcpy,
}

impl Stream {
    /// All streams.
    pub const ALL: [Self; 13] = [
        Self::Read,
        Self::Write,
        Self::WriteNontemporal,
        Self::Copy,
        Self::CopyNontemporal,
        Self::Scale,
        Self::Add,
        Self::Triad,
        Self::AddThree,
        Self::RepeatStore,
        Self::RepeatMove,
        Self::Memset,
        Self::Memcpy,
    ];

    /// The word used in ids and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::WriteNontemporal => "write_nontemporal",
            Self::Copy => "copy",
            Self::CopyNontemporal => "copy_nontemporal",
            Self::Scale => "scale",
            Self::Add => "add",
            Self::Triad => "triad",
            Self::AddThree => "add_three",
            Self::RepeatStore => "rep_stosb",
            Self::RepeatMove => "rep_movsb",
            Self::Memset => "memset",
            Self::Memcpy => "memcpy",
        }
    }

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
