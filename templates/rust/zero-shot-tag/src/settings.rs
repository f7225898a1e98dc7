//! What this task knows besides.

use serde::Deserialize;

#[derive(Deserialize)]
pub(crate) struct Settings {
    /// What stands before each label of a prompt, and before the text.
    pub(crate) before_label: String,
    pub(crate) before_text: String,
    /// Words of a window, at most.
    pub(crate) most_words: usize,
}
