"""A server that answers from a fixture as OpenAI's and text-embeddings-inference do, or wrongly."""

from __future__ import annotations

import base64
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import numpy as np
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from polybake.base.modelfile.fixture import Fixture, decode_vectors

#: What becomes of an answer's vectors.
VECTORS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "unnormalised": lambda vectors: vectors * 3,
    "float16": lambda vectors: vectors.astype(np.float16).astype(np.float32),
    "wrong dimension": lambda vectors: vectors[:, :-1],
    "wrong order": lambda vectors: vectors[::-1],
    "padding counts": lambda vectors: vectors * (0.5 if len(vectors) > 1 else 1.0),
}


@dataclass
class Web:
    """The server's state.

    Attributes:
        fixture: The fixture whose texts it knows.
        fault: What it does wrong; empty for nothing.
        asked: The requests so far: path, headers, body.
    """

    fixture: Fixture
    fault: str = ""
    asked: list[tuple[str, dict[str, str], Any]] = field(default_factory=list)

    def rows(self, texts: list[str]) -> tuple[list[list[int]], np.ndarray]:
        """Token ids and vectors of texts, each with its prompt before it."""
        known = {"polybake": ([1], np.zeros(8, np.float32))}
        for case in self.fixture.cases:
            before = "query: " if case.prompt == "query" else ""
            vectors = decode_vectors(case.embeddings)
            for text, ids, row in zip(case.texts, case.input_ids, vectors, strict=True):
                known[before + str(text)] = ([*ids], row)
        found = [known[text] for text in texts]
        return [ids for ids, _ in found], np.stack([row for _, row in found])

    async def answer(self, request: Request) -> Response:
        """One request, right or wrong."""
        body = await request.json() if request.method == "POST" else None
        self.asked.append((request.url.path, dict(request.headers), body))
        texts = body and body.get("inputs", body.get("input"))
        if texts != ["polybake"]:  # what the connection is tried with
            match self.fault:
                case "500":
                    return Response("out\nof memory" + 300 * "!", 500)
                case "garbage":
                    return Response("<html>Welcome</html>")
                case "not a number":
                    return Response("[[NaN]]")
                case "redirect":
                    return RedirectResponse("http://127.0.0.1:9/elsewhere", 307)
                case "hang":
                    await anyio.sleep(20)
                case "drip":
                    return DrippingResponse()
                case "ragged":
                    return JSONResponse([[1.0], [1.0, 2.0]])
        if request.url.path == "/info":
            return JSONResponse({"version": "9.8.7"})
        ids, vectors = self.rows(texts)
        if request.url.path == "/tokenize":
            extra = [1] * (self.fault == "wrong ids") + [1] * 20 * (self.fault == "uncut")
            return JSONResponse([[{"id": one, "text": "x"} for one in row + extra] for row in ids])
        vectors = VECTORS.get(self.fault, np.asarray)(vectors)
        if request.url.path == "/embed":
            return JSONResponse(vectors.tolist())
        places = [*range(len(vectors))]
        if self.fault == "any order":
            places, vectors = places[::-1], vectors[::-1]
        if self.fault == "doubled index":
            places[1:] = places[:-1]
        if self.fault == "gap in index":
            places = [place + (place > 0) for place in places]
        coded = body["encoding_format"] == "base64"
        if coded and self.fault == "other base64":
            vectors = vectors + np.float32(0.01)
        data = [
            {
                "index": place,
                "embedding": base64.b64encode(row.tobytes()).decode() if coded else row.tolist(),
            }
            for place, row in zip(places, vectors, strict=True)
        ]
        return JSONResponse({"data": data})


class DrippingResponse(Response):
    """A response that sends a byte now and then, which no time-out of a socket ends."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:  # noqa: ARG002
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(100):
            await send({"type": "http.response.body", "body": b" ", "more_body": True})
            await anyio.sleep(0.2)


@contextmanager
def web(state: Web) -> Iterator[str]:
    """Run the server; gives its address without a route."""
    routes = [
        Route(path, state.answer, methods=["GET", "POST"])
        for path in ("/v1/embeddings", "/embed", "/tokenize", "/info")
        if not (state.fault == "no tokenize" and path == "/tokenize")
    ]
    config = uvicorn.Config(
        Starlette(routes=routes), port=0, log_level="critical", timeout_graceful_shutdown=0
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(5)
