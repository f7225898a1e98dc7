//! A prompt that names labels and a text as rows of tokens.

use std::{collections::HashMap, sync::LazyLock};

use regex::Regex;

use crate::{arguments, contract::CONTRACT, error::Error, pair_template::FIRST};

static WORD: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"[\p{L}\p{N}_]+(?:[-_][\p{L}\p{N}_]+)*|[^\s\x1c-\x1f]";
    Regex::new(pattern).expect("this client's own pattern is whole")
});

/// What a row is made of.
pub(crate) type Text<'a> = (&'a str, &'a str);

pub(crate) type Row = Tokens;

/// A word of a text, `text[start..end]`, and its token ids.
#[derive(Clone)]
pub(crate) struct Word {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) ids: Vec<u32>,
}

/// The tokens of a prompt and a text, special tokens included.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    /// Their ids.
    pub ids: Vec<u32>,
    /// 2 where a word of the text begins, else 0.
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

/// Texts of whatever kind a caller has.
pub(crate) fn texts(texts: &[impl AsRef<str>]) -> Vec<&str> {
    texts.iter().map(AsRef::as_ref).collect()
}

/// The row of each pair, the text cut, by what gives the bare ids of a text.
pub(crate) fn of(
    pairs: &[Text],
    _prompt: Option<&str>,
    encode: impl Fn(String) -> Result<Vec<u32>, Error>,
) -> Result<Vec<Row>, Error> {
    let row = |(prompt, text): &Text| Ok(joined(&prompt_ids(prompt, &encode)?, &words_of(text, &encode)?));
    pairs.iter().map(row).collect()
}

/// Tokens of a prompt and a text, special ones left out.
fn room() -> usize {
    CONTRACT.max_length - CONTRACT.pair.before().len() - CONTRACT.pair.behind().len()
}

/// Tokens of a text that stand beside those of a prompt.
pub(crate) fn room_beside(prompt: &[u32]) -> usize {
    room() - prompt.len()
}

/// The tokens of a prompt, which is not cut.
pub(crate) fn prompt_ids(prompt: &str, encode: impl Fn(String) -> Result<Vec<u32>, Error>) -> Result<Vec<u32>, Error> {
    let (ids, room) = (encode(prompt.into())?, room());
    if ids.len() < room {
        return Ok(ids);
    }
    let begin: String = prompt.chars().take(40).collect();
    let found = format!("the labels \"{begin}…\" have {} tokens; expected less than {room}", ids.len());
    Err(Error::LongText(format!("{found}, which the text shares; give fewer or shorter ones")))
}

/// The words of a text, without those of which the tokenizer makes no token.
pub(crate) fn words_of(text: &str, encode: impl Fn(String) -> Result<Vec<u32>, Error>) -> Result<Vec<Word>, Error> {
    let mut known: HashMap<&str, Vec<u32>> = HashMap::new();
    let mut words = Vec::new();
    for found in WORD.find_iter(text) {
        let ids = match known.get(found.as_str()) {
            Some(ids) => ids.clone(),
            None => encode(found.as_str().into())?,
        };
        known.entry(found.as_str()).or_insert_with(|| ids.clone());
        if !ids.is_empty() {
            words.push(Word { start: found.start(), end: found.end(), ids });
        }
    }
    Ok(words)
}

/// The tokens of a prompt and of words, cut.
pub(crate) fn joined(prompt: &[u32], words: &[Word]) -> Row {
    let (before, behind) = (CONTRACT.pair.before(), CONTRACT.pair.behind());
    let mut ids = [before, prompt.to_vec()].concat();
    let mut type_ids = vec![0; ids.len()];
    for word in words {
        type_ids.push(FIRST);
        ids.extend(&word.ids);
        type_ids.resize(ids.len(), 0);
    }
    let most = CONTRACT.max_length - behind.len();
    ids.truncate(most);
    type_ids.truncate(most);
    ids.extend(behind);
    type_ids.resize(ids.len(), 0);
    Tokens { ids, type_ids }
}

/// Tokens of the vocabulary with types of the model, as many, and none too long.
pub(crate) fn check(rows: &[Row]) -> Result<(), Error> {
    arguments::check_ids(rows.iter().map(|row| &row.ids))?;
    let largest = FIRST;
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
