//! Embedding models in rig: `Models::new(embedder, fingerprint)` has `documents` for an `EmbeddingsBuilder`, and `queries`
//! for the index of a vector store. The crate needs `rig-core`, `futures` and `tokio`.

use std::sync::Arc;

use all_minilm_l6_v2::{DIMENSION, Embedder, Error};
use futures::stream;
use rig_core::{
    Model, ProviderError,
    driver::{Exchange, Local, Opened, Opening, Step, Transport},
    embeddings::{Embedding, EmbeddingResponse},
    operation,
    wire::Capabilities,
};

/// A model for each kind of text, as rig does not tell queries from documents. Both have the fingerprint as their id.
#[derive(Clone)]
pub struct Models {
    /// Gives texts the model's prompt for documents.
    pub documents: Model<Local<operation::Embedding>, Baked>,
    /// Gives texts the model's prompt for queries.
    pub queries: Model<Local<operation::Embedding>, Baked>,
}

/// What gives texts their vectors, on a thread for what blocks.
#[derive(Clone)]
pub struct Baked {
    embedder: Arc<Embedder>,
    embed: fn(&Embedder, &[String]) -> Result<Vec<Vec<f32>>, Error>,
}

impl Models {
    /// Takes the fingerprint of the vectors that are stored; `None` where there are none yet.
    pub fn new(embedder: Embedder, fingerprint: Option<&str>) -> Result<Self, String> {
        if let Some(stored) = fingerprint.filter(|stored| *stored != embedder.manifest.fingerprint)
        {
            return Err(format!(
                "the vectors are of the model file {stored}; open that, or embed them again"
            ));
        }
        let wire = Local::new("polybake")
            .with_id(&embedder.manifest.fingerprint)
            .with_capabilities(Capabilities::embedding(8192, DIMENSION));
        let embedder = Arc::new(embedder);
        let model = |embed| {
            let embedder = Arc::clone(&embedder);
            Model::new(wire.clone(), Baked { embedder, embed })
        };
        Ok(Self {
            documents: model(|embedder, texts| embedder.embed_documents(texts)),
            queries: model(|embedder, texts| embedder.embed_queries(texts)),
        })
    }
}

impl Transport<Local<operation::Embedding>> for Baked {
    fn send(&self, texts: Vec<String>, _: Exchange) -> Opening<Step<operation::Embedding>> {
        let Self { embedder, embed } = self.clone();
        Opening::new(async move {
            let failed = |error: &dyn std::error::Error| ProviderError::Provider(error.to_string());
            let embedding = tokio::task::spawn_blocking(move || {
                let vectors = embed(&embedder, &texts)?.into_iter().zip(texts);
                let vectors = vectors.map(|(vector, document)| Embedding {
                    document,
                    vec: vector.into_iter().map(f64::from).collect(),
                });
                Ok(vectors.collect())
            });
            let found: Result<_, Error> = embedding.await.map_err(|error| failed(&error))?;
            let response = EmbeddingResponse::new(found.map_err(|error| failed(&error))?);
            Ok(Opened::new(stream::iter([Ok(Step::End(response))])))
        })
    }
}
