//! What callers may give.

use std::thread;

use super::{EMBEDDER, model, refused};
use crate::{Embedder, Error, Options, contract::CONTRACT};

#[test]
fn counts_are_from_1_to_the_processors() {
    let processors = thread::available_parallelism().unwrap();
    for count in [0, 100_000] {
        let expected = format!("{count}; expected 1 to {processors}, the processors that this process may use");
        let threads = Options { threads: Some(count), ..Options::default() };
        refused(Embedder::open_with(model(), &threads), &format!("threads is {expected}"));
        let concurrency = Options { concurrency: Some(count), ..Options::default() };
        refused(Embedder::open_with(model(), &concurrency), &format!("concurrency is {expected}"));
    }
}

#[test]
fn an_unknown_prompt_is_refused_with_those_that_there_are() {
    let names: Vec<_> = EMBEDDER.prompts().map(|(name, _)| name).collect();
    let remedy = match names.join(", ") {
        none if none.is_empty() => "this model has none".to_owned(),
        names => format!("choose one of: {names}"),
    };
    let (message, prompt) = (format!("unknown prompt \"no such\"; {remedy}"), Some("no such"));
    let error = refused(EMBEDDER.embed(&[""; 0], prompt), &message);
    assert!(matches!(error, Error::UnknownPrompt { prompt, .. } if prompt == "no such"));
    refused(EMBEDDER.tokenize(&[""; 0], prompt), &message);
    refused(EMBEDDER.embed_ids(&[], prompt), &message);
}

#[test]
fn ids_are_of_the_vocabulary_and_rows_not_too_long() {
    let (size, longest) = (CONTRACT.vocab_size, CONTRACT.max_length);
    let message = format!("rows[1][1] is {size}; expected a whole number from 0 to {}", size - 1);
    let error = refused(EMBEDDER.embed_ids(&[vec![0], vec![0, size]], None), &message);
    assert!(matches!(error, Error::InvalidIds { row: 1, .. }));
    if longest < 100_000 {
        let message = format!("rows[0] has {} ids; expected at most {longest}", longest + 1);
        refused(EMBEDDER.embed_ids(&[vec![0; longest + 1]], None), &message);
    }
    assert_eq!(EMBEDDER.embed_ids(&[vec![0], vec![size - 1]], None).unwrap().len(), 2);
}
