#![doc = include_str!("../README.md")]
#![allow(clippy::missing_errors_doc, clippy::must_use_candidate, clippy::unreadable_literal)]

mod batches;
mod contract;
mod error;
mod graph;
mod model;
mod self_check;
#[cfg(test)]
mod tests;

use contract::{DEFAULT_PROMPT, DOCUMENT_PROMPT, QUERY_PROMPT};

pub use contract::{DIMENSION, MAX_LENGTH, PROMPTS};
pub use error::Error;
pub use graph::Device;
pub use model::{Manifest, MultiVectorEmbedder, Options};

/// Queries and documents are embedded differently; without a prompt a text is a document.
impl MultiVectorEmbedder {
    /// Embed texts, with a prompt or the model's default one: of each rows of `DIMENSION` elements.
    ///
    /// # Errors
    /// `UnknownPrompt`: the model has no such prompt.
    pub fn embed(&self, texts: &[impl AsRef<str>], prompt: Option<&str>) -> Result<Vec<Vec<Vec<f32>>>, Error> {
        self.results(texts, prompt.or(DEFAULT_PROMPT))
    }

    /// Embed one search query, with the model's query prompt.
    pub fn embed_query(&self, text: &str) -> Result<Vec<Vec<f32>>, Error> {
        Ok(self.results(&[text], QUERY_PROMPT)?.swap_remove(0))
    }

    /// Embed search queries, with the model's query prompt.
    pub fn embed_queries(&self, texts: &[impl AsRef<str>]) -> Result<Vec<Vec<Vec<f32>>>, Error> {
        self.results(texts, QUERY_PROMPT)
    }

    /// Embed documents, with the model's document prompt.
    pub fn embed_documents(&self, texts: &[impl AsRef<str>]) -> Result<Vec<Vec<Vec<f32>>>, Error> {
        self.results(texts, DOCUMENT_PROMPT)
    }

    /// The relevance of a document's rows to a query's: the larger, the more.
    ///
    /// It is the sum over the query's rows of the largest dot product with a row of the document; 0 where that has none.
    ///
    /// # Errors
    /// `Argument`: a row has not `DIMENSION` elements.
    pub fn max_sim(query: &[Vec<f32>], document: &[Vec<f32>]) -> Result<f64, Error> {
        if query.iter().chain(document).any(|row| row.len() != DIMENSION) {
            return Err(Error::Argument(format!("a row has not {DIMENSION} elements")));
        }
        let largest = |row: &Vec<f32>| document.iter().map(|other| dot(row, other)).fold(f64::NEG_INFINITY, f64::max);
        Ok(if document.is_empty() { 0.0 } else { query.iter().map(largest).sum() })
    }
}

fn dot(one: &[f32], other: &[f32]) -> f64 {
    one.iter().zip(other).map(|(one, other)| f64::from(*one) * f64::from(*other)).sum()
}
