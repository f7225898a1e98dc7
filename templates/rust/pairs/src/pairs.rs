//! Pairs of texts as rows of tokens.

use std::collections::HashMap;

use tokenizers::Tokenizer;

use crate::contract::{MAX_LENGTH, PAIR, Piece, VOCAB_SIZE};
use crate::error::Error;

/// One number a token: its id, and so many times the vocabulary's size as its type says.
pub(crate) fn packed(ids: &[u32], types: &[u32]) -> Vec<u32> {
    ids.iter().zip(types).map(|(id, kind)| id + VOCAB_SIZE * kind).collect()
}

/// The tokens of each pair, cut and joined, packed; a text in several pairs is encoded once.
pub(crate) fn rows_of(
    tokenizer: &Tokenizer,
    pairs: &[(impl AsRef<str>, impl AsRef<str>)],
) -> Result<Vec<Vec<u32>>, Error> {
    let mut known: HashMap<String, Vec<u32>> = HashMap::new();
    let mut rows = Vec::new();
    for (first, second) in pairs {
        let texts = [first.as_ref(), second.as_ref()];
        // What a model's prompt has around a text may share tokens with it.
        let whole = [0, 1].map(|place| format!("{}{}{}", piece(place).before, texts[place], piece(place).after));
        for text in &whole {
            if !known.contains_key(text) {
                known.insert(text.clone(), tokenizer.encode_fast(text.as_str(), true)?.get_ids().to_vec());
            }
        }
        rows.push(joined(texts, whole.each_ref().map(|text| known[text].as_slice()))?);
    }
    Ok(rows)
}

fn joined(texts: [&str; 2], ids: [&[u32]; 2]) -> Result<Vec<u32>, Error> {
    let limited = [0, 1].map(|place| &ids[place][..ids[place].len().min(piece(place).limit.unwrap_or(usize::MAX))]);
    let sizes = sizes(texts, limited[0].len(), limited[1].len())?;
    let kept = [0, 1].map(|place| match PAIR.truncation_side {
        "right" => &limited[place][..sizes[place]],
        _ => &limited[place][limited[place].len() - sizes[place]..],
    });
    let mut row = Vec::new();
    for piece in PAIR.pieces {
        let special = piece.id.as_slice();
        let part = piece.text.map_or(special, |place| kept[place]);
        row.extend(part.iter().map(|id| id + VOCAB_SIZE * piece.type_id));
    }
    Ok(row)
}

/// The piece of the first or the second text.
fn piece(place: usize) -> &'static Piece {
    PAIR.pieces.iter().find(|piece| piece.text == Some(place)).expect("a pair has both texts")
}

/// How many tokens stay of each text, as the tokenizer itself would cut them.
fn sizes(texts: [&str; 2], first: usize, second: usize) -> Result<[usize; 2], Error> {
    let room = MAX_LENGTH - (PAIR.pieces.len() - 2);
    if first + second <= room {
        return Ok([first, second]);
    }
    let whole = |text: &str, size: usize| if size < room { Ok(size) } else { Err(too_long(text, size, room)) };
    match PAIR.truncate {
        "only_first" => whole(texts[1], second).map(|second| [room - second, second]),
        "only_second" => whole(texts[0], first).map(|first| [first, room - first]),
        _ => {
            let short = first.min(second).min(room / 2);
            Ok(if first <= second { [short, room - short] } else { [room - short, short] })
        }
    }
}

/// A text that is not cut leaves no room for the one beside it.
fn too_long(text: &str, size: usize, room: usize) -> Error {
    let begin: String = text.chars().take(40).collect();
    Error::LongText(format!("\"{begin}…\" has {size} tokens; shorten it to less than {room}"))
}
