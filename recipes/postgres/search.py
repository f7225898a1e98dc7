"""Print the nearest documents of a text: python search.py MODEL DATABASE TEXT."""

from __future__ import annotations

import json
import sys

import psycopg
from all_minilm_l6_v2 import Embedder
from pgvector.psycopg import register_vector

NEAREST = """
    SELECT id, embedding <=> %s AS distance FROM documents ORDER BY distance LIMIT 5
"""

_, model, database, text = sys.argv

embedder = Embedder(model)
with psycopg.connect(database) as connection:
    register_vector(connection)
    store = connection.execute("SELECT fingerprint FROM stores WHERE name = 'documents'").fetchone()
    stored = store[0] if store else "no model"
    if stored != embedder.fingerprint:
        sys.exit(
            f"documents holds the vectors of {stored}, this model is {embedder.fingerprint}: "
            "open the model that wrote them, or write them anew"
        )
    for document, distance in connection.execute(NEAREST, [embedder.embed_query(text)]):
        print(json.dumps({"id": document, "distance": distance}))
