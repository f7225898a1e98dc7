#![doc = include_str!("../README.md")]
#![allow(clippy::missing_errors_doc, clippy::must_use_candidate, clippy::unreadable_literal)]

mod batches;
mod contract;
mod error;
mod graph;
mod label;
mod model;
mod ranking;
mod self_check;
#[cfg(test)]
mod tests;

use contract::SETTINGS;

pub use contract::MAX_LENGTH;
pub use error::Error;
pub use graph::Device;
pub use label::Label;
pub use model::{Classifier, Manifest, Options};

impl Classifier {
    /// What a text may be, in the order of `scores`.
    pub const LABELS: &'static [&'static str] = SETTINGS.labels;

    /// Find the labels of texts, of each the best first, at most `top`.
    ///
    /// # Errors
    /// `Argument`: `top` is 0.
    pub fn classify(&self, texts: &[impl AsRef<str>], top: Option<usize>) -> Result<Vec<Vec<Label>>, Error> {
        label::best_labels(SETTINGS.labels, self.scores(texts)?, top)
    }

    /// The score of each label, of each text, in the order of `LABELS`.
    pub fn scores(&self, texts: &[impl AsRef<str>]) -> Result<Vec<Vec<f32>>, Error> {
        self.results(texts)
    }
}
