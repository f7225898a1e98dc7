#![doc = include_str!("../README.md")]
#![allow(clippy::missing_errors_doc, clippy::must_use_candidate, clippy::unreadable_literal)]

mod batches;
mod contract;
mod error;
mod graph;
mod model;
mod ranking;
mod self_check;
mod sparse_vector;
#[cfg(test)]
mod tests;

use contract::{DEFAULT_PROMPT, DOCUMENT_PROMPT, QUERY_PROMPT};

pub use contract::{DIMENSION, MAX_LENGTH, PROMPTS};
pub use error::Error;
pub use graph::Device;
pub use model::{Manifest, Options, SparseEmbedder};
pub use sparse_vector::SparseVector;

/// A token of a vector, and how much the text is about it.
#[derive(Clone, Debug, PartialEq)]
pub struct TokenWeight {
    /// As the tokenizer has it, such as `##ing`.
    pub token: String,
    pub weight: f32,
}

impl SparseEmbedder {
    /// Embed texts, with a prompt or the model's default one, in their order.
    ///
    /// # Errors
    /// `UnknownPrompt`: the model has no such prompt.
    pub fn embed(&self, texts: &[impl AsRef<str>], prompt: Option<&str>) -> Result<Vec<SparseVector>, Error> {
        self.sparse(texts, prompt.or(DEFAULT_PROMPT))
    }

    /// Embed one search query, with the model's query prompt.
    pub fn embed_query(&self, text: &str) -> Result<SparseVector, Error> {
        Ok(self.sparse(&[text], QUERY_PROMPT)?.swap_remove(0))
    }

    /// Embed search queries, with the model's query prompt.
    pub fn embed_queries(&self, texts: &[impl AsRef<str>]) -> Result<Vec<SparseVector>, Error> {
        self.sparse(texts, QUERY_PROMPT)
    }

    /// Embed documents, with the model's document prompt.
    pub fn embed_documents(&self, texts: &[impl AsRef<str>]) -> Result<Vec<SparseVector>, Error> {
        self.sparse(texts, DOCUMENT_PROMPT)
    }

    /// Name the tokens of a vector, heaviest first, at most `top`.
    ///
    /// # Errors
    /// `Argument`: `top` is 0.
    pub fn tokens(&self, vector: &SparseVector, top: Option<usize>) -> Result<Vec<TokenWeight>, Error> {
        let name = |place: usize| self.tokenizer.id_to_token(vector.indices[place]).unwrap_or_default();
        let token = |place: usize| TokenWeight { token: name(place), weight: vector.values[place] };
        Ok(ranking::best(&vector.values, top)?.into_iter().map(token).collect())
    }

    /// Drop each window's zeros before the next one: those of all would fill memory.
    fn sparse(&self, texts: &[impl AsRef<str>], prompt: Option<&str>) -> Result<Vec<SparseVector>, Error> {
        let mut all = Vec::new();
        for window in texts.chunks(batches::WINDOW) {
            let kept = |row: Vec<f32>| (0..).zip(row).filter(|(_, weight)| *weight != 0.0).unzip();
            let vectors = self.results(window, prompt)?.into_iter().map(kept);
            all.extend(vectors.map(|(indices, values)| SparseVector { indices, values }));
        }
        Ok(all)
    }
}
