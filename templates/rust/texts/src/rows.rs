//! Texts as rows of token ids.

use tokenizers::Tokenizer;

use crate::contract::CONTRACT;

/// What a row is made of.
pub(crate) type Text<'a> = &'a str;

/// The token ids of one text, special tokens included.
pub(crate) type Row = Vec<u32>;

/// Texts of whatever kind a caller has.
pub(crate) fn texts(texts: &[impl AsRef<str>]) -> Vec<Text<'_>> {
    texts.iter().map(AsRef::as_ref).collect()
}

/// The row of each text with its prompt, which the tokenizer truncates.
pub(crate) fn of(texts: &[Text], prompt: Option<&str>, tokenizer: &Tokenizer) -> tokenizers::Result<Vec<Row>> {
    let prefix = prompt.and_then(|name| CONTRACT.prompts[name].as_str()).unwrap_or_default();
    let encoded = texts.iter().map(|text| tokenizer.encode_fast(format!("{prefix}{text}"), true));
    encoded.map(|encoding| Ok(encoding?.get_ids().to_vec())).collect()
}

/// A row of one token, to see whether the graph runs.
pub(crate) fn padding() -> Row {
    vec![CONTRACT.pad_id]
}
