//! Pairs of texts as rows of tokens.

use std::collections::HashMap;
use std::slice;

use tokenizers::Tokenizer;

use crate::contract::{MAX_LENGTH, PAIR, Piece, VOCAB_SIZE};
use crate::error::Error;

/// One number a token: its id, and so many times the vocabulary's size as its type says.
pub(crate) fn packed(ids: &[u32], types: &[u32]) -> Vec<u32> {
    ids.iter().zip(types).map(|(id, kind)| id + VOCAB_SIZE * kind).collect()
}

/// The tokens of each pair, cut and joined, packed; a text in several pairs is encoded once.
pub(crate) fn rows_of(tokenizer: &Tokenizer, pairs: &[(&str, &str)]) -> Result<Vec<Vec<u32>>, Error> {
    let mut known: HashMap<String, Vec<u32>> = HashMap::new();
    let mut rows = Vec::new();
    for &(first, second) in pairs {
        let texts = [first, second];
        let whole = [0, 1].map(|place| [PAIR.texts[place].0, texts[place], PAIR.texts[place].1].concat());
        for text in &whole {
            if !known.contains_key(text) {
                known.insert(text.clone(), tokenizer.encode_fast(text.as_str(), true)?.get_ids().to_vec());
            }
        }
        rows.push(joined(texts, [&known[&whole[0]], &known[&whole[1]]])?);
    }
    Ok(rows)
}

fn joined(texts: [&str; 2], ids: [&[u32]; 2]) -> Result<Vec<u32>, Error> {
    let limited = [0, 1].map(|place| &ids[place][..ids[place].len().min(PAIR.texts[place].2)]);
    let sizes = sizes(texts, limited[0].len(), limited[1].len())?;
    let kept = [0, 1].map(|place| match PAIR.truncation_side {
        "right" => &limited[place][..sizes[place]],
        _ => &limited[place][limited[place].len() - sizes[place]..],
    });
    let mut row = Vec::new();
    for (piece, kind) in PAIR.pieces {
        let part = match piece {
            Piece::Special(id) => slice::from_ref(id),
            Piece::Text(place) => kept[*place],
        };
        row.extend(part.iter().map(|id| id + VOCAB_SIZE * kind));
    }
    Ok(row)
}

/// How many tokens stay of each text, as the tokenizer itself would cut them.
fn sizes(texts: [&str; 2], first: usize, second: usize) -> Result<[usize; 2], Error> {
    let room = MAX_LENGTH + 2 - PAIR.pieces.len();
    let whole = |text: &str, size: usize| match size {
        size if size < room => Ok(size),
        _ => Err(Error::long_text(text, &format!("has {size} tokens; shorten it to less than {room}"))),
    };
    match PAIR.truncate {
        _ if first + second <= room => Ok([first, second]),
        "only_first" => whole(texts[1], second).map(|second| [room - second, second]),
        "only_second" => whole(texts[0], first).map(|first| [first, room - first]),
        _ => {
            let short = first.min(second).min(room / 2);
            Ok(if first <= second { [short, room - short] } else { [room - short, short] })
        }
    }
}
