//! Labels, and how sure of them the model is.

use serde::Serialize;

use crate::error::Error;
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
    rows: Vec<Vec<T>>,
    top: Option<usize>,
) -> Result<Vec<Vec<Label>>, Error> {
    let label = |place: usize, scores: &[T]| Label { name: names[place].into(), score: scores[place].into() };
    let labels = |scores: Vec<T>| Ok(best(&scores, top)?.into_iter().map(|place| label(place, &scores)).collect());
    rows.into_iter().map(labels).collect()
}
