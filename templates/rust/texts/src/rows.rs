//! Texts as rows of token ids.

use crate::{contract::CONTRACT, error::Error};

/// What a row is made of.
pub(crate) type Text<'a> = &'a str;

/// The token ids of one text, special tokens included.
pub(crate) type Row = Vec<u32>;

/// Texts of whatever kind a caller has.
pub(crate) fn texts(texts: &[impl AsRef<str>]) -> Vec<Text<'_>> {
    texts.iter().map(AsRef::as_ref).collect()
}

/// The row of each text with its prompt, by what gives the ids of a text, and truncates them.
pub(crate) fn of(
    texts: &[Text],
    prompt: Option<&str>,
    encode: impl Fn(String) -> Result<Vec<u32>, Error>,
) -> Result<Vec<Row>, Error> {
    let prefix = prompt.and_then(|name| CONTRACT.prompts[name].as_str()).unwrap_or_default();
    texts.iter().map(|text| encode(format!("{prefix}{text}"))).collect()
}
