//! What this task knows besides.

use serde::Deserialize;

#[derive(Deserialize)]
pub(crate) struct Settings {
    /// Where words end besides at gaps.
    pub(crate) words: String,
    /// Tokens of a row that are no special ones; the question shares them.
    pub(crate) room: usize,
}
