/// The tokens that a text is about, and how much; every other element of its vector is 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SparseVector {
    /// Token ids, ascending.
    pub indices: Vec<u32>,
    /// Their weights, as many.
    pub values: Vec<f32>,
}
