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
pub(crate) fn of(
    texts: &[Text],
    prompt: Option<&str>,
    tokenizer: &Tokenizer,
) -> tokenizers::Result<Vec<Row>> {
    let prefix = CONTRACT.prompt_text(prompt);
    let encoded = texts.iter().map(|text| {
        let encoding = tokenizer.encode_fast(format!("{prefix}{text}"), true)?;
        Ok(encoding.get_ids().to_vec())
    });
    encoded.collect()
}

/// A row of one token, to see whether the graph runs.
pub(crate) fn padding() -> Row {
    vec![CONTRACT.pad_id]
}
