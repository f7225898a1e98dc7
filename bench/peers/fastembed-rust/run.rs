//! fastembed in Rust. Usage: run THREADS EXPORT_FOLDER [BATCH_SIZE].

#[path = "../protocol/answer.rs"]
mod answer;

use std::{env, error::Error, fs};

use fastembed::{
    InitOptionsUserDefined, Pooling, TextEmbedding, TokenizerFiles, UserDefinedEmbeddingModel,
};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let read = |name| fs::read(format!("{}/{name}", arguments[1]));
    let files = TokenizerFiles {
        tokenizer_file: read("tokenizer.json")?,
        config_file: read("config.json")?,
        special_tokens_map_file: read("special_tokens_map.json")?,
        tokenizer_config_file: read("tokenizer_config.json")?,
    };
    let model =
        UserDefinedEmbeddingModel::new(read("model.onnx")?, files).with_pooling(Pooling::Mean);
    let options = InitOptionsUserDefined::new()
        .with_max_length(256)
        .with_intra_threads(arguments[0].parse()?);
    let mut model = TextEmbedding::try_new_from_user_defined(model, options)?;
    let size = arguments.get(2).map(|size| size.parse()).transpose()?;
    answer::answer(
        |texts| model.embed(texts, size),
        &["fastembed", "ort", "tokenizers"],
    )
}
