//! How a runner in Rust answers the driver; protocol/answer.py says how.

use std::{error::Error, fs, io, time::Instant};

use serde_json::{Value, json};

/// Embed what is asked for, until the driver closes the pipe.
pub fn answer<E: Error + 'static>(
    mut embed: impl FnMut(&[&str]) -> Result<Vec<Vec<f32>>, E>,
    packages: &[&str],
) -> Result<(), Box<dyn Error>> {
    println!("{}", json!({"versions": versions(packages)?}));
    for line in io::stdin().lines() {
        let request: Value = serde_json::from_str(&line?)?;
        let texts = request["texts"].as_array().ok_or("no texts")?;
        let texts: Vec<&str> = texts.iter().filter_map(Value::as_str).collect();
        let (mut seconds, mut vectors) = (vec![], vec![]);
        for _ in 0..request["calls"].as_u64().ok_or("no calls")? {
            let begin = Instant::now();
            vectors = embed(&texts)?;
            seconds.push(begin.elapsed().as_secs_f64());
        }
        if let Some(file) = request["vectors"].as_str() {
            let elements = vectors.iter().flatten();
            let bytes: Vec<u8> = elements.flat_map(|one| one.to_le_bytes()).collect();
            fs::write(file, bytes)?;
        }
        println!("{}", json!({"seconds": seconds}));
    }
    Ok(())
}

/// The versions that Cargo chose of crates, and of the library that is loaded.
fn versions(packages: &[&str]) -> Result<Value, Box<dyn Error>> {
    let lock = fs::read_to_string("Cargo.lock")?;
    let mut found = json!({});
    for name in packages {
        let line = format!("name = \"{name}\"\nversion = \"");
        let rest = lock.split_once(&line).ok_or("no such crate")?.1;
        found[name] = rest.split('"').next().into();
    }
    let library = std::env::var("ORT_DYLIB_PATH")?;
    found["onnxruntime"] = library
        .split_once(".so.")
        .map(|(_, version)| version)
        .into();
    Ok(found)
}
