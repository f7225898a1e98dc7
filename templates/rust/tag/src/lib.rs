#![doc = include_str!("../README.md")]
#![allow(clippy::missing_errors_doc, clippy::must_use_candidate, clippy::unreadable_literal)]

mod batches;
mod contract;
mod error;
mod graph;
mod model;
mod self_check;
#[cfg(test)]
mod tests;
mod words;

use serde::Serialize;

use contract::SETTINGS;
use words::Word;

pub use contract::MAX_LENGTH;
pub use error::Error;
pub use graph::Device;
pub use model::{Manifest, Options, Tagger};

/// How the scores of a word's tokens become the word's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Aggregation {
    /// Those of the first token.
    #[default]
    First,
    /// Their mean.
    Mean,
    /// Those of the token that is surest.
    Max,
}

/// Words of a text that stand together: `text` is what `start` and `end`, in bytes, cut out of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Span {
    pub label: String,
    /// The mean of its words'.
    pub score: f64,
    pub text: String,
    pub start: usize,
    pub end: usize,
}

impl Tagger {
    /// What a token may be, in the order of `scores`.
    pub const LABELS: &'static [&'static str] = SETTINGS.labels;

    /// Find the spans of texts: names, or whatever the labels are.
    ///
    /// # Errors
    /// `LongText`: a text has more tokens than the model takes; give it in parts.
    pub fn tag(&self, texts: &[impl AsRef<str>], aggregation: Aggregation) -> Result<Vec<Vec<Span>>, Error> {
        let words = |text: &_| words::words_of(&self.tokenizer, AsRef::as_ref(text), SETTINGS.room);
        let found: Vec<_> = texts.iter().map(words).collect::<Result<_, Error>>()?;
        let mut all = Vec::new();
        for ((text, (words, tokens)), rows) in texts.iter().zip(found).zip(self.scores(texts)?) {
            words::check_tokens(rows.len(), tokens)?;
            all.push(spans(text.as_ref(), &words, &rows, aggregation));
        }
        Ok(all)
    }

    /// The scores of each text's tokens, truncated, without special ones: a row for each, in the order of `LABELS`.
    pub fn scores(&self, texts: &[impl AsRef<str>]) -> Result<Vec<Vec<Vec<f32>>>, Error> {
        self.results(texts)
    }
}

/// Neighbours whose best labels have one name make a span, unless one begins or ends between.
fn spans(text: &str, words: &[Word], rows: &[Vec<f32>], aggregation: Aggregation) -> Vec<Span> {
    let mut spans: Vec<(&str, Vec<(&Word, f64)>)> = Vec::new();
    let mut ended = true;
    for word in words {
        let row = aggregated(&rows[word.first..word.last], aggregation);
        let best = largest(&row);
        let mark = &SETTINGS.marks[best];
        match spans.last_mut() {
            Some((name, found)) if !ended && !mark.begins && *name == mark.name => found.push((word, row[best])),
            _ => spans.push((mark.name, vec![(word, row[best])])),
        }
        ended = mark.ends;
    }
    spans.retain(|(name, _)| !name.is_empty());
    let span = |(name, found): (&str, Vec<(&Word, f64)>)| {
        let (start, end) = (found[0].0.start, found[found.len() - 1].0.end);
        let score = mean(found.iter().map(|(_, score)| *score));
        Span { label: name.into(), score, text: text[start..end].into(), start, end }
    };
    spans.into_iter().map(span).collect()
}

/// A word's scores, of those of its tokens.
fn aggregated(rows: &[Vec<f32>], aggregation: Aggregation) -> Vec<f64> {
    let of = |row: &Vec<f32>| row.iter().copied().map(f64::from).collect::<Vec<_>>();
    match aggregation {
        Aggregation::First => of(&rows[0]),
        Aggregation::Mean => (0..rows[0].len()).map(|label| mean(rows.iter().map(|row| row[label].into()))).collect(),
        Aggregation::Max => {
            let highest: Vec<f64> = rows.iter().map(|row| of(row).into_iter().fold(f64::MIN, f64::max)).collect();
            of(&rows[largest(&highest)])
        }
    }
}

/// The place of the largest number; of equal ones the first.
fn largest(numbers: &[f64]) -> usize {
    let better = |best: usize, place: usize| if numbers[place] > numbers[best] { place } else { best };
    (0..numbers.len()).fold(0, better)
}

fn mean(numbers: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = numbers.fold((0.0, 0.0), |(sum, count), number| (sum + number, count + 1.0));
    sum / count
}
