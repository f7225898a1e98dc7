//! What this task knows besides.

use serde::Deserialize;

#[derive(Deserialize)]
pub(crate) struct Settings {
    /// What a token may be, in the order of the output's columns.
    pub(crate) labels: Vec<String>,
    /// What each of them says of a word.
    pub(crate) marks: Vec<Mark>,
    /// Where words end besides at gaps.
    pub(crate) words: String,
    /// Tokens of a row that are no special ones.
    pub(crate) room: usize,
}

/// The name of a word's span, and whether one begins or ends with it.
#[derive(Deserialize)]
pub(crate) struct Mark {
    pub(crate) name: String,
    pub(crate) begins: bool,
    pub(crate) ends: bool,
}
