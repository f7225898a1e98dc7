-- The vectors of one model file, and which file that is.
CREATE EXTENSION IF NOT EXISTS vector;

CREATE TABLE IF NOT EXISTS documents (
    id bigint PRIMARY KEY,
    body text NOT NULL,
    embedding vector(384) NOT NULL -- the model's dimension
);

-- The operator class of the model's similarity: vector_cosine_ops goes with the operator <=>,
-- vector_ip_ops (dot) with <#>. With another operator a search does not use the index.
CREATE INDEX IF NOT EXISTS documents_embedding
    ON documents USING hnsw (embedding vector_cosine_ops);

CREATE TABLE IF NOT EXISTS stores (
    name text PRIMARY KEY, -- of the table of vectors
    fingerprint text NOT NULL -- equal fingerprints mean equal vectors
);
