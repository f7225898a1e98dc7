//! Labels, and how sure of them the model is.

use serde::Serialize;

use crate::ranking::best;

/// A label, and how sure of it the model is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Label {
    #[serde(rename = "label")]
    pub name: String,
    pub score: f64,
}

/// The labels of each row of scores, best first; at most `top`.
pub(crate) fn best_labels<T: Copy + Into<f64> + PartialOrd>(
    names: &[&str],
    rows: impl IntoIterator<Item = Vec<T>>,
    top: usize,
) -> Vec<Vec<Label>> {
    let label = |(place, score): (usize, T)| Label { name: names[place].into(), score: score.into() };
    rows.into_iter().map(|scores| best(scores, top).into_iter().map(label).collect()).collect()
}
