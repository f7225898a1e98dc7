//! Files that are not this client's, or not whole.

use std::{fs, path::Path};

use serde_json::{Value, json};

use super::{model_copy::ModelCopy, refused};
use crate::{Embedder, Error, contract::CONTRACT};

#[track_caller]
fn refused_file(path: &Path, message: &str) {
    let error = refused(Embedder::open(path), &format!("{}: {message}", path.display()));
    assert!(matches!(error, Error::Model(..)));
}

#[track_caller]
fn refused_contract(change: impl Fn(&mut Value), message: &str) {
    let copy = ModelCopy::with("manifest", |manifest| change(&mut manifest["contract"]));
    let remedy = "regenerate the client with: polybake generate";
    refused_file(&copy.path(), &format!("contract field {message}; {remedy}"));
}

#[test]
fn a_missing_file() {
    let path = Path::new("no folder/none.onnx");
    refused_file(path, "cannot be read (No such file or directory); give the path of a baked .onnx file");
}

#[test]
fn a_file_that_was_not_baked() {
    refused_file(Path::new("Cargo.toml"), "has no polybake.manifest; write the file with: polybake bake");
}

#[test]
fn another_size() {
    let copy = ModelCopy::with("fixture", |_| {});
    let bytes = fs::read(copy.path()).unwrap();
    for (changed, more) in [(bytes[..bytes.len() - 1].to_vec(), -1), ([&*bytes, &[0]].concat(), 1)] {
        fs::write(copy.path(), changed).unwrap();
        let error = Embedder::open(copy.path()).unwrap_err().to_string();
        let numbers: Vec<i64> =
            error.split([' ', ';']).filter_map(|word| word.trim_matches(',').parse().ok()).collect();
        assert_eq!(numbers[0] - numbers[1], more, "{error}");
        assert!(error.ends_with("; copy the file again"), "{error}");
    }
}

#[test]
fn another_digest() {
    for part in ["manifest", "tokenizer", "fixture"] {
        let message = format!("polybake.{part} does not match its digest; copy the file again");
        let changed = ModelCopy::with("digests", |digests| digests[part] = "0".repeat(64).into());
        refused_file(&changed.path(), &message);
        let upper = ModelCopy::with("digests", |digests| {
            digests[part] = digests[part].as_str().unwrap().to_uppercase().into();
        });
        refused_file(&upper.path(), &message);
    }
}

#[test]
fn another_contract() {
    let dimension = CONTRACT.output.dimension;
    let expected = format!("output.dimension: expected {dimension}, found 5");
    refused_contract(|contract| contract["output"]["dimension"] = 5.into(), &expected);
    let expected = "inputs[0].dtype: expected \"int64\", found \"int32\"";
    refused_contract(|contract| contract["inputs"][0]["dtype"] = "int32".into(), expected);
    let expected = format!("pad_side: expected \"{}\", found nothing", CONTRACT.pad_side);
    refused_contract(|contract| drop(contract.as_object_mut().unwrap().shift_remove("pad_side")), &expected);
    let expected = "prompts.no such: expected nothing, found \"\\\"\\n\"";
    refused_contract(|contract| contract["prompts"]["no such"] = "\"\n".into(), expected);
    refused_contract(|contract| contract["later"] = json!([]), "later: expected nothing, found []");
}

#[test]
fn a_damaged_tokenizer() {
    let copy = ModelCopy::with("tokenizer", |tokenizer| tokenizer["model"] = "no such".into());
    refused_file(&copy.path(), "polybake.tokenizer is damaged; bake the model again");
}
