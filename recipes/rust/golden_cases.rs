//! The golden cases against your own service, in `cargo test`: `service::embed` gives vectors, one a text. This file lies
//! in `tests/`, and needs `base64` and `serde_json` in `[dev-dependencies]`.

use std::fs;

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::Value;

/// What `polybake inspect MODEL --extract FOLDER` writes, or `polybake build`.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/all-minilm-l6-v2");

#[test]
fn golden_cases() {
    let fixture: Value = serde_json::from_slice(&read("cases.json")).unwrap();
    let limits = &fixture["tolerances"]["cpu"];
    let cases = fixture["cases"].as_array().unwrap();
    for golden in cases {
        let id = &golden["id"];
        let texts: Vec<&str> = golden["texts"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(Value::as_str)
            .collect();
        let vectors = service::embed(&texts, golden["prompt"].as_str());
        let expected = rows(&golden["embeddings"]);
        assert_eq!(vectors.len(), expected.len(), "case {id}: vectors");
        for (row, (golden, vector)) in expected.iter().zip(&vectors).enumerate() {
            check_row(&format!("case {id}: row {row}"), golden, vector, limits);
        }
    }
    println!("{} cases passed", cases.len());
}

fn check_row(row: &str, golden: &[f32], vector: &[f32], limits: &Value) {
    assert_eq!(vector.len(), golden.len(), "{row}: elements");
    let (norm, length) = (dot(golden, golden).sqrt(), dot(vector, vector).sqrt());
    let max_abs = limits["max_abs"].as_f64().unwrap();
    let limit = max_abs * norm.max(1.0); // float32 rounds relative to size
    for (element, (&expected, &found)) in golden.iter().zip(vector).enumerate() {
        let difference = (f64::from(found) - f64::from(expected)).abs(); // of NaN it is NaN, which is within no limit
        assert!(
            difference <= limit,
            "{row}, element {element}: difference {difference} exceeds {limit}; \
             the vector is {length} long, expected {norm}"
        );
    }
    let (angle, most) = (
        1.0 - dot(golden, vector) / (norm * length),
        limits["one_minus_cosine"].as_f64().unwrap(),
    );
    assert!(
        norm <= max_abs || angle <= most,
        "{row}: 1 - cosine {angle} exceeds {most}"
    );
}

fn dot(one: &[f32], other: &[f32]) -> f64 {
    one.iter()
        .zip(other)
        .map(|(&a, &b)| f64::from(a) * f64::from(b))
        .sum()
}

/// Little-endian float32, inline or in a file beside.
fn rows(embeddings: &Value) -> Vec<Vec<f32>> {
    let number = |value: &Value| usize::try_from(value.as_u64().unwrap()).unwrap();
    let [rows, dimension] = [0, 1].map(|axis| number(&embeddings["shape"][axis]));
    let bytes = match embeddings["data"].as_str() {
        Some(text) => STANDARD.decode(text).unwrap(),
        None => read("vectors.f32").split_off(number(&embeddings["offset"])),
    };
    let all = bytes
        .chunks_exact(4)
        .map(|four| f32::from_le_bytes(four.try_into().unwrap()));
    all.take(rows * dimension)
        .collect::<Vec<_>>()
        .chunks(dimension)
        .map(<[f32]>::to_vec)
        .collect()
}

fn read(name: &str) -> Vec<u8> {
    fs::read(format!("{FOLDER}/{name}")).unwrap()
}
