//! Pairs of texts as rows of tokens.

use std::{
    cell::RefCell,
    collections::{HashMap, hash_map::Entry},
};

use crate::{arguments, contract::CONTRACT, error::Error};

/// What a row is made of.
pub(crate) type Text<'a> = (&'a str, &'a str);

pub(crate) type Row = Tokens;

/// The tokens of a pair of texts, special tokens included.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    /// Their ids.
    pub ids: Vec<u32>,
    /// Of each token, which text it belongs to, as the tokenizer counts them.
    pub type_ids: Vec<u32>,
}

impl Tokens {
    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }
}

/// Pairs of whatever kind of texts a caller has.
pub(crate) fn pairs(pairs: &[(impl AsRef<str>, impl AsRef<str>)]) -> Vec<Text<'_>> {
    pairs.iter().map(|(first, second)| (first.as_ref(), second.as_ref())).collect()
}

/// The row of each pair, by what gives the bare ids of a text.
pub(crate) fn of(
    pairs: &[Text],
    _prompt: Option<&str>,
    encode: impl Fn(String) -> Result<Vec<u32>, Error>,
) -> Result<Vec<Row>, Error> {
    let known = RefCell::new(HashMap::new()); // mostly one text of a pair is the same in all of them
    let remembered = |text: String| match known.borrow_mut().entry(text) {
        Entry::Occupied(ids) => Ok(Vec::clone(ids.get())),
        Entry::Vacant(place) => encode(place.key().clone()).map(|ids| place.insert(ids).clone()),
    };
    pairs.iter().map(|pair| CONTRACT.pair.row(*pair, remembered, CONTRACT.max_length)).collect()
}

/// Tokens of the vocabulary with types of the model, as many, and none too long.
pub(crate) fn check(rows: &[Row]) -> Result<(), Error> {
    arguments::check_ids(rows.iter().map(|row| &row.ids))?;
    let largest = CONTRACT.pair.largest_type();
    for (row, Tokens { ids, type_ids }) in rows.iter().enumerate() {
        let message = if ids.len() != type_ids.len() {
            format!("rows[{row}] has {} ids and {} types; give as many", ids.len(), type_ids.len())
        } else if let Some(place) = type_ids.iter().position(|&id| id > largest) {
            let id = type_ids[place];
            format!("rows[{row}].type_ids[{place}] is {id}; expected a whole number from 0 to {largest}")
        } else {
            continue;
        };
        return Err(Error::InvalidIds { row, message });
    }
    Ok(())
}
