#![doc = include_str!("../README.md")]
#![allow(clippy::missing_errors_doc, clippy::must_use_candidate, clippy::unreadable_literal)]

mod batches;
mod contract;
mod error;
mod graph;
mod label;
mod model;
mod pairs;
mod ranking;
mod self_check;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

pub use contract::MAX_LENGTH;
pub use error::Error;
pub use graph::Device;
pub use label::Label;
pub use model::{Manifest, Options, ZeroShotClassifier};

impl ZeroShotClassifier {
    /// What a label is put into, mostly, at `{}`.
    pub const TEMPLATE: &'static str = "This example is {}.";

    /// Find which of any labels texts have, of each the best first, at most `top`; of equal ones the first comes first.
    ///
    /// A text's scores are 1 together. With `multi_label` each is a probability of its own, as that of one label alone
    /// always is.
    ///
    /// # Errors
    /// `Argument`: there is no label, or one twice, the template has no `{}`, or `top` is 0. `LongText`: a label and
    /// its template leave no room for a text.
    pub fn classify(
        &self,
        texts: &[impl AsRef<str>],
        labels: &[impl AsRef<str>],
        template: &str,
        multi_label: bool,
        top: Option<usize>,
    ) -> Result<Vec<Vec<Label>>, Error> {
        let labels: Vec<&str> = labels.iter().map(AsRef::as_ref).collect();
        if labels.is_empty() || labels.iter().collect::<HashSet<_>>().len() < labels.len() {
            return Err(Error::Argument(format!("labels are {labels:?}; give at least one, and each once")));
        }
        if !template.contains("{}") {
            return Err(Error::Argument(format!("template is \"{template}\"; put {{}} where the label goes")));
        }
        let hypotheses: Vec<String> = labels.iter().map(|label| template.replace("{}", label)).collect();
        let beside = |text| hypotheses.iter().map(move |hypothesis| (text, hypothesis.as_str()));
        let pairs: Vec<_> = texts.iter().flat_map(|text| beside(text.as_ref())).collect();
        let rows = self.results(&pairs)?;
        let scores = if multi_label || labels.len() == 1 { own } else { shared };
        label::best_labels(&labels, rows.chunks(labels.len()).map(scores).collect(), top)
    }
}

/// Each entailment against its contradiction.
fn own(rows: &[Vec<f32>]) -> Vec<f64> {
    rows.iter().map(|row| 1.0 / (1.0 + (f64::from(row[1]) - f64::from(row[0])).exp())).collect()
}

/// Each entailment against those of the other labels.
fn shared(rows: &[Vec<f32>]) -> Vec<f64> {
    let entailments = rows.iter().map(|row| f64::from(row[0]));
    let highest = entailments.clone().fold(f64::NEG_INFINITY, f64::max);
    let odds: Vec<f64> = entailments.map(|entailment| (entailment - highest).exp()).collect();
    let sum: f64 = odds.iter().sum();
    odds.into_iter().map(|one| one / sum).collect()
}
