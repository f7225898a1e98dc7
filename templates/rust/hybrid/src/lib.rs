#![doc = include_str!("../README.md")]
#![allow(clippy::missing_errors_doc, clippy::must_use_candidate, clippy::unreadable_literal)]

mod batches;
mod contract;
mod error;
mod graph;
mod model;
mod self_check;
mod sparse_vector;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use contract::DIMENSIONS;

pub use contract::MAX_LENGTH;
pub use error::Error;
pub use graph::Device;
pub use model::{HybridEmbedder, Manifest, Options};
pub use sparse_vector::SparseVector;

/// A text's dense vector, its sparse vector, and the vectors of its tokens.
#[derive(Clone, Debug, PartialEq)]
pub struct HybridEmbedding {
    /// `DIMENSION` elements.
    pub dense: Vec<f32>,
    /// Of each token id the largest weight.
    pub sparse: SparseVector,
    /// A row of `TOKEN_DIMENSION` elements for each token but the first.
    pub multi_vector: Vec<Vec<f32>>,
}

impl HybridEmbedder {
    /// Elements of a dense vector.
    pub const DIMENSION: usize = DIMENSIONS[0];
    /// Elements of a token's vector.
    pub const TOKEN_DIMENSION: usize = DIMENSIONS[2];

    /// Embed texts in all three ways, in one pass, in their order.
    pub fn embed(&self, texts: &[impl AsRef<str>]) -> Result<Vec<HybridEmbedding>, Error> {
        let mut all = Vec::new();
        for window in texts.chunks(batches::WINDOW) {
            let rows = self.rows(window)?;
            for (ids, [dense, weights, vectors]) in rows.iter().zip(self.in_batches(&rows)?) {
                let multi_vector = vectors.chunks(Self::TOKEN_DIMENSION).map(<[_]>::to_vec).collect();
                all.push(HybridEmbedding { dense, sparse: sparse(&ids[1..], &weights), multi_vector });
            }
        }
        Ok(all)
    }

    /// The dense vectors alone: `DIMENSION` elements a text.
    pub fn dense(&self, texts: &[impl AsRef<str>]) -> Result<Vec<Vec<f32>>, Error> {
        Ok(self.embed(texts)?.into_iter().map(|text| text.dense).collect())
    }

    /// The sparse vectors alone.
    pub fn sparse(&self, texts: &[impl AsRef<str>]) -> Result<Vec<SparseVector>, Error> {
        Ok(self.embed(texts)?.into_iter().map(|text| text.sparse).collect())
    }

    /// The vectors of tokens alone: rows of `TOKEN_DIMENSION` elements, of each text.
    pub fn multi_vector(&self, texts: &[impl AsRef<str>]) -> Result<Vec<Vec<Vec<f32>>>, Error> {
        Ok(self.embed(texts)?.into_iter().map(|text| text.multi_vector).collect())
    }
}

/// The largest weight of each token id, without those that are 0.
fn sparse(ids: &[u32], weights: &[f32]) -> SparseVector {
    let mut largest = BTreeMap::new();
    for (&id, &weight) in ids.iter().zip(weights) {
        let kept = largest.entry(id).or_insert(0.0_f32);
        *kept = kept.max(weight);
    }
    let (indices, values) = largest.into_iter().filter(|(_, weight)| *weight > 0.0).unzip();
    SparseVector { indices, values }
}
