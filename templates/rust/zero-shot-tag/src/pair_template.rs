//! How a prompt and a text become one row.

use serde::Deserialize;

#[derive(Deserialize)]
pub(crate) struct PairTemplate {
    pieces: Vec<Piece>,
}

/// A special token, which has an id, or a text, which is the first or the second one.
#[derive(Deserialize)]
struct Piece {
    id: Option<u32>,
    text: Option<usize>,
}

/// The type of the first token of each word; all others have type 0.
pub(crate) const FIRST: u32 = 2;

impl PairTemplate {
    /// The special tokens before the prompt.
    pub(crate) fn before(&self) -> Vec<u32> {
        self.pieces.iter().take_while(|piece| piece.text.is_none()).filter_map(|piece| piece.id).collect()
    }

    /// The special tokens behind the text.
    pub(crate) fn behind(&self) -> Vec<u32> {
        let last = self.pieces.iter().rev().take_while(|piece| piece.text.is_none());
        last.filter_map(|piece| piece.id).collect::<Vec<_>>().into_iter().rev().collect()
    }
}
