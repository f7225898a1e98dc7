"""The recipe for rig."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.clients.programs import MODEL, RECIPES, call, rust, write_project
from support.clients.rendered import run

pytestmark = [pytest.mark.rust, pytest.mark.weekly]

#: What the recipe names, and rig without what speaks to services.
CRATES = (
    'futures = "0.3"',
    'rig-core = { version = "=0.44.0", default-features = false }',
    'tokio = { version = "1", features = ["macros", "rt"] }',
)

#: What it prints: whether vectors are those of the model's own prompts, whether a text's are one
#: as query and document, facts, what another file is told, and twice the text that is nearest.
PROGRAM = """\
#[path = "recipes/rust/rig_embeddings.rs"]
mod rig_embeddings;

use std::{env, error::Error};

use all_minilm_l6_v2::Embedder;
use rig_core::{
    embeddings::EmbeddingsBuilder,
    vector_store::{VectorSearchRequest, VectorStoreIndex, in_memory_store::InMemoryVectorStore},
};
use rig_embeddings::Models;

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

fn doubles(vector: Vec<f32>) -> Vec<f64> {
    vector.into_iter().map(f64::from).collect()
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let path = env::args().nth(1).ok_or("a model file")?;
    let own = Embedder::open(&path)?;
    let models = Models::new(Embedder::open(&path)?, Some(own.manifest.fingerprint.as_str()))?;

    let asked = models.queries.embed_text("a b").await?.vec;
    println!("{}", asked == doubles(own.embed_query("a b")?));
    let texts = ["the water", "a b", "boats"].map(str::to_owned);
    let builder = EmbeddingsBuilder::new(models.documents.clone()).documents(texts.clone())?;
    let stored = builder.build().await?;
    for (place, vector) in own.embed_documents(&texts)?.into_iter().enumerate() {
        let (text, found) = &stored[place];
        println!("{}", *text == texts[place] && found[0].vec == doubles(vector));
    }
    println!("{}", asked == stored[1].1[0].vec);
    println!("{}", models.documents.capabilities().ndims);
    println!("{}", models.queries.id() == Some(own.manifest.fingerprint.as_str()));
    println!("{}", Models::new(Embedder::open(&path)?, Some("0123")).err().unwrap_or_default());

    LINES
    let texts = ["The cat sleeps on the sofa.", "Interest rates rise again."];
    let query = doubles(own.embed_query("a pet that rests")?);
    let score = |vector| dot(&doubles(vector), &query);
    let scores: Vec<_> = own.embed_documents(&texts)?.into_iter().map(score).collect();
    println!("{}", texts[usize::from(scores[1] > scores[0])]);
    Ok(())
}
"""


def test_it_gives_each_text_its_prompt(tmp_path: Path) -> None:
    """Queries and documents differ, the README's lines find the nearest, others are refused."""
    project = write_project(tmp_path, "rust")
    recipe = project / "recipes/rust/rig_embeddings.rs"
    run("rustfmt", "--check", "--edition", "2024", recipe, cwd=project)
    readme = (RECIPES / "README.md").read_text(encoding="utf-8")
    (lines,) = re.findall(r"```rust\n(let models = .*?)```", readme, re.DOTALL)
    (project / "program.rs").write_text(PROGRAM.replace("LINES", lines))
    *printed, found, nearest = call(
        project, *rust(project, "program.rs", *CRATES), MODEL
    ).stdout.splitlines()
    told = "the vectors are of the model file 0123; open that, or embed them again"
    assert printed == [*["true"] * 4, "false", "384", "true", told]
    assert found == nearest
