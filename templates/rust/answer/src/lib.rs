#![doc = include_str!("../README.md")]
#![allow(clippy::missing_errors_doc, clippy::must_use_candidate, clippy::unreadable_literal)]

mod batches;
mod contract;
mod error;
mod graph;
mod model;
mod pairs;
mod self_check;
#[cfg(test)]
mod tests;
mod words;

use std::collections::BTreeMap;

use serde::Serialize;

use contract::SETTINGS;

pub use contract::MAX_LENGTH;
pub use error::Error;
pub use graph::Device;
pub use model::{Answerer, Manifest, Options};

/// What stands in the context from `start` to `end`, in bytes; empty where it holds no answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    pub text: String,
    pub score: f64,
    pub start: usize,
    pub end: usize,
}

impl Answerer {
    /// Find the best `top` answers to a question in a context, the best one first.
    ///
    /// They are of whole words, may overlap, and are fewer in a short context. With `no_answer`, that there is none is
    /// one of them: an empty text, from 0 to 0.
    ///
    /// # Errors
    /// `Argument`: the context has no words, or `top` is 0. `LongText`: question and context have more tokens than the
    /// model takes.
    pub fn answer(&self, question: &str, context: &str, top: usize, no_answer: bool) -> Result<Vec<Answer>, Error> {
        if top == 0 {
            return Err(Error::Argument("top is 0; expected 1 or more".into()));
        }
        let asked = self.tokenizer.encode_fast(question, false)?.len();
        if asked >= SETTINGS.room {
            let begin: String = question.chars().take(40).collect();
            return Err(Error::LongText(format!("the question \"{begin}…\" leaves no room; shorten it")));
        }
        let (words, tokens) = words::words_of(&self.tokenizer, context, SETTINGS.room - asked)?;
        if words.is_empty() {
            return Err(Error::Argument("the context has no words; give a text that may hold the answer".into()));
        }
        let rows = self.results(&[(question, context)])?.swap_remove(0);
        let (none, rows) = (f64::from(rows[0][0]), &rows[1..]);
        words::check_tokens(rows.len(), tokens)?;
        let mut word_of = vec![None; tokens];
        for word in &words {
            word_of[word.first..word.last].fill(Some(word));
        }
        let mut scores = BTreeMap::new();
        for (token, row) in rows.iter().enumerate() {
            for (&score, last) in row.iter().zip(&word_of[token..]) {
                if let (Some(first), Some(last)) = (word_of[token], last) {
                    let best = scores.entry((first.start, last.end)).or_insert(0.0_f64);
                    *best = best.max(score.into());
                }
            }
        }
        if no_answer {
            scores.insert((0, 0), none);
        }
        let mut best: Vec<_> = scores.into_iter().collect();
        best.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        best.truncate(top);
        let answer = |((start, end), score)| Answer { text: context[start..end].into(), score, start, end };
        Ok(best.into_iter().map(answer).collect())
    }
}
