//! How a text is to be taken, in whatever medium.

/// How a text is to be taken: a terminal's colour, a page's class.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Tone {
    /// What people read first.
    #[default]
    Plain,
    /// Secondary.
    Quiet,
    /// Good news.
    Good,
    /// Deserves attention.
    Care,
    /// Bad news.
    Bad,
}
