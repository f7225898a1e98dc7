//! Print the nearest documents of a text: cargo run --bin search MODEL DATABASE TEXT

use std::{env, error::Error, process};

use all_minilm_l6_v2::Embedder;
use pgvector::Vector;
use postgres::{Client, NoTls};

const NEAREST: &str =
    "SELECT id, embedding <=> $1 AS distance FROM documents ORDER BY distance LIMIT 5";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [model, database, text] = &arguments[..] else {
        return Err("expected MODEL DATABASE TEXT".into());
    };

    let embedder = Embedder::open(model)?;
    let mut client = Client::connect(database, NoTls)?;
    let store = client.query_opt(
        "SELECT fingerprint FROM stores WHERE name = 'documents'",
        &[],
    )?;
    let stored = store.map_or_else(|| "no model".into(), |row| row.get::<_, String>(0));
    if stored != embedder.manifest.fingerprint {
        eprintln!(
            "documents holds the vectors of {stored}, this model is {}: \
             open the model that wrote them, or write them anew",
            embedder.manifest.fingerprint
        );
        process::exit(1);
    }
    let vector = Vector::from(embedder.embed_query(text)?);
    for row in client.query(NEAREST, &[&vector])? {
        let (id, distance): (i64, f64) = (row.get(0), row.get(1));
        println!(r#"{{"id": {id}, "distance": {distance}}}"#);
    }
    Ok(())
}
