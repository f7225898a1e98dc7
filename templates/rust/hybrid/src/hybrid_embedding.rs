//! What one pass gives of a text.

use std::collections::BTreeMap;

use crate::outputs::Output;

/// Three kinds of vectors of one text.
#[derive(Clone, Debug, PartialEq)]
pub struct HybridEmbedding {
    /// One vector of the text.
    pub dense: Vec<f32>,
    /// The largest weight of each token id.
    pub sparse: SparseVector,
    /// A row for each token but the first.
    pub multi_vector: Vec<Vec<f32>>,
    /// The weights of the same tokens.
    pub token_weights: Vec<f32>,
}

/// The elements of a vector that are not 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SparseVector {
    /// Their token ids, ascending.
    pub indices: Vec<u32>,
    /// The elements themselves.
    pub values: Vec<f32>,
}

impl HybridEmbedding {
    /// What the graph gave for a row of token ids.
    pub(crate) fn of(ids: &[u32], [dense, weights, multi_vector]: Output) -> Self {
        let token_weights: Vec<f32> = weights.into_iter().flatten().collect();
        let mut largest = BTreeMap::new();
        for (&id, &weight) in ids.iter().skip(1).zip(&token_weights) {
            let kept = largest.entry(id).or_insert(0.0_f32);
            *kept = kept.max(weight);
        }
        let (indices, values) = largest.into_iter().filter(|(_, weight)| *weight > 0.0).unzip();
        let dense = dense.into_iter().flatten().collect();
        Self { dense, sparse: SparseVector { indices, values }, multi_vector, token_weights }
    }
}
