#![doc = include_str!("../README.md")]
#![allow(clippy::missing_errors_doc, clippy::must_use_candidate, clippy::unreadable_literal)]

mod batches;
mod contract;
mod error;
mod graph;
mod model;
mod pairs;
mod ranking;
mod self_check;
#[cfg(test)]
mod tests;

use serde::Serialize;

pub use contract::MAX_LENGTH;
pub use error::Error;
pub use graph::Device;
pub use model::{Manifest, Options, Reranker};

/// The place of a document in the list that was given, and how well it answers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Rank {
    pub index: usize,
    pub score: f32,
}

impl Reranker {
    /// Order documents by how well they answer a query, best first, at most `top`; of equal ones the first comes first.
    ///
    /// # Errors
    /// `Argument`: `top` is 0. `LongText`: the query leaves no room for a document.
    pub fn rerank(&self, query: &str, documents: &[impl AsRef<str>], top: Option<usize>) -> Result<Vec<Rank>, Error> {
        let scores = self.score(query, documents)?;
        let rank = |index: usize| Rank { index, score: scores[index] };
        Ok(ranking::best(&scores, top)?.into_iter().map(rank).collect())
    }

    /// How well each document answers the query, in their order.
    pub fn score(&self, query: &str, documents: &[impl AsRef<str>]) -> Result<Vec<f32>, Error> {
        let pairs: Vec<_> = documents.iter().map(|document| (query, document.as_ref())).collect();
        Ok(self.results(&pairs)?.concat())
    }
}
