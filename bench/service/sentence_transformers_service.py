"""What a team writes first: sentence-transformers behind FastAPI and uvicorn.

Usage: MODEL=folder uvicorn --app-dir bench/service sentence_transformers_service:app --port 8081
"""

from __future__ import annotations

import base64
import os
from typing import Any

import numpy as np
from fastapi import FastAPI
from pydantic import BaseModel
from sentence_transformers import SentenceTransformer

app = FastAPI()
model = SentenceTransformer(os.environ["MODEL"], device="cpu")


class Asked(BaseModel):
    """A request as OpenAI's clients make it."""

    input: list[str]
    model: str


@app.post("/v1/embeddings")
def embeddings(asked: Asked) -> dict[str, Any]:
    """Each request by itself, on one of the pool's threads."""
    vectors = np.asarray(model.encode(asked.input), "<f4")
    data = [
        {"index": place, "embedding": base64.b64encode(row.tobytes()).decode()}
        for place, row in enumerate(vectors)
    ]
    return {"data": data, "model": asked.model}
