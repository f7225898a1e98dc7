//! polybake's Rust client. Usage: run THREADS MODEL_FILE [side-by-side].

#[path = "../protocol/answer.rs"]
mod answer;

use std::{env, error::Error};

use all_minilm_l6_v2::{Embedder, Options};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let threads = Some(arguments[0].parse()?);
    let options = match arguments.len() {
        2 => Options {
            threads,
            ..Options::default()
        },
        _ => Options {
            threads: Some(1),
            concurrency: threads,
            ..Options::default()
        },
    };
    let embedder = Embedder::open_with(&arguments[1], &options)?;
    answer::answer(|texts| embedder.embed(texts, None), &["ort", "tokenizers"])
}
