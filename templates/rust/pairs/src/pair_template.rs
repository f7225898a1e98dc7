//! How two texts become one row: cut where they are too long together, as the tokenizer itself would.

use serde::Deserialize;

use crate::{
    error::Error,
    rows::{Text, Tokens},
};

#[derive(Deserialize)]
pub(crate) struct PairTemplate {
    pub(crate) pieces: Vec<Piece>,
    pub(crate) truncate: String,
    pub(crate) truncation_side: String,
}

/// A special token, which has an id, or a text, which is the first or the second one.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Piece {
    pub(crate) id: Option<u32>,
    pub(crate) text: Option<usize>,
    pub(crate) type_id: u32,
    /// What stands before a text, and behind it, and is tokenised with it.
    pub(crate) before: String,
    pub(crate) after: String,
    /// How many tokens of a text are kept, the first ones.
    pub(crate) limit: Option<usize>,
}

impl PairTemplate {
    /// The row of a pair, by what gives the bare ids of a text.
    pub(crate) fn row(
        &self,
        (first, second): Text,
        encode: impl Fn(String) -> Result<Vec<u32>, Error>,
        max_length: usize,
    ) -> Result<Tokens, Error> {
        let surrounded = |place, text| {
            let Piece { before, after, .. } = self.of(place);
            encode(format!("{before}{text}{after}"))
        };
        self.join((first, second), [surrounded(0, first)?, surrounded(1, second)?], max_length)
    }

    /// Join the bare ids of two texts.
    pub(crate) fn join(&self, texts: Text, mut ids: [Vec<u32>; 2], max_length: usize) -> Result<Tokens, Error> {
        for (place, ids) in ids.iter_mut().enumerate() {
            ids.truncate(self.of(place).limit.unwrap_or(usize::MAX));
        }
        let sizes = self.sizes(texts, ids[0].len(), ids[1].len(), max_length - self.special())?;
        for (ids, size) in ids.iter_mut().zip(sizes) {
            if self.truncation_side == "right" {
                ids.truncate(size);
            } else {
                ids.drain(..ids.len() - size);
            }
        }
        let mut row = Tokens::default();
        for piece in &self.pieces {
            match piece.text {
                Some(text) => row.ids.extend(&ids[text]),
                None => row.ids.extend(piece.id),
            }
            row.type_ids.resize(row.ids.len(), piece.type_id);
        }
        Ok(row)
    }

    /// The largest type that a token may have.
    pub(crate) fn largest_type(&self) -> u32 {
        self.pieces.iter().map(|piece| piece.type_id).max().unwrap_or_default()
    }

    /// The piece of a text.
    pub(crate) fn of(&self, text: usize) -> Piece {
        let mut pieces = self.pieces.iter().filter(|piece| piece.text == Some(text));
        pieces.next().cloned().unwrap_or_default()
    }

    /// How many special tokens a row has.
    pub(crate) fn special(&self) -> usize {
        self.pieces.iter().filter(|piece| piece.text.is_none()).count()
    }

    /// How many tokens stay of each text.
    fn sizes(&self, texts: Text, first: usize, second: usize, room: usize) -> Result<[usize; 2], Error> {
        if first + second <= room {
            return Ok([first, second]);
        }
        match self.truncate.as_str() {
            "only_first" if second < room => Ok([room - second, second]),
            "only_first" => Err(too_long(texts.1, second, room)),
            "only_second" if first < room => Ok([first, room - first]),
            "only_second" => Err(too_long(texts.0, first, room)),
            _ => {
                // The shorter one keeps its tokens, or half of the room where it has more.
                let shorter = first.min(second).min(room / 2);
                Ok(if first <= second { [shorter, room - shorter] } else { [room - shorter, shorter] })
            }
        }
    }
}

/// An error about a text that is not cut, and leaves no room for the one beside it.
pub(crate) fn too_long(text: &str, size: usize, room: usize) -> Error {
    let begin: String = text.chars().take(40).collect();
    Error::LongText(format!(
        "\"{begin}…\" has {size} tokens; expected less than {room}, which the text beside it shares; shorten it"
    ))
}
