"""Write each line of a file with its vector: python write.py MODEL DATABASE FILE.

DATABASE is what libpq takes: postgresql://user@host/name, or host=/run/postgresql dbname=name.
"""

from __future__ import annotations

import sys
from pathlib import Path

import psycopg
from all_minilm_l6_v2 import Embedder
from pgvector.psycopg import register_vector

ROWS = "COPY documents (id, body, embedding) FROM STDIN WITH (FORMAT BINARY)"
STORE = """
    INSERT INTO stores (name, fingerprint) VALUES ('documents', %s)
    ON CONFLICT (name) DO UPDATE SET fingerprint = EXCLUDED.fingerprint
"""

_, model, database, file = sys.argv

embedder = Embedder(model)
texts = Path(file).read_text(encoding="utf-8").splitlines()
vectors = embedder.embed_documents(texts)

# One transaction: who searches meanwhile sees all of the earlier vectors, then all of these.
with psycopg.connect(database) as connection:
    connection.execute((Path(__file__).parent / "schema.sql").read_bytes())
    register_vector(connection)
    connection.execute("DELETE FROM documents")
    with connection.cursor().copy(ROWS) as copy:
        copy.set_types(["int8", "text", "vector"])
        for number, (text, vector) in enumerate(zip(texts, vectors, strict=True), start=1):
            copy.write_row((number, text, vector))
    connection.execute(STORE, [embedder.fingerprint])
