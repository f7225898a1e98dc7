"""``/v1/embeddings`` and ``/v1/models``, as OpenAI's own clients ask for them."""

import base64
from typing import Annotated, Any, Literal

import numpy as np
from fastapi import APIRouter
from numpy.typing import NDArray
from pydantic import Field, StrictStr
from starlette.responses import Response

from polybake.runtime.prompt import Prompt
from polybake.serving.answer import answer
from polybake.serving.json_body import JsonRoute
from polybake.serving.models import Served
from polybake.serving.refusal import Refusal
from polybake.serving.request_body import RequestBody, RowOrRows
from polybake.serving.served_model import ServedModel

router = APIRouter(route_class=JsonRoute, tags=["OpenAI"])


class EmbeddingsRequest(RequestBody):
    """Texts, or rows of the model's own token ids, special tokens included."""

    input: RowOrRows
    model: StrictStr
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: Annotated[int, Field(gt=0)] | None = None
    user: StrictStr | None = None
    prompt_name: Annotated[
        StrictStr | None, Field(description="One of the model's prompts; beyond OpenAI's schema.")
    ] = None
    input_type: Annotated[
        Literal["query", "document"] | None,
        Field(description="What the texts are, by which a prompt is chosen; beyond the schema."),
    ] = None


@router.post("/v1/embeddings")
async def embeddings(body: EmbeddingsRequest, models: Served) -> Response:
    """A vector for each text."""
    model = models.of("embed", body.model)
    if body.prompt_name is not None and body.input_type is not None:
        raise Refusal("validation", "prompt_name and input_type exclude each other; give one")
    prompt = Prompt(body.prompt_name, body.input_type)
    reply = await model.of_inputs(_inputs(body), prompt)
    vectors = _cut(model, reply.single, body.dimensions)
    data = [
        {"object": "embedding", "index": index, "embedding": _encoded(row, body.encoding_format)}
        for index, row in enumerate(vectors)
    ]
    usage = {"prompt_tokens": reply.tokens, "total_tokens": reply.tokens}
    content = {"object": "list", "data": data, "model": model.name, "usage": usage}
    return answer(content, model)


@router.get("/v1/models")
async def list_models(models: Served) -> dict[str, Any]:
    """The models that are served."""
    data = [
        {"id": model.name, "object": "model", "created": 0, "owned_by": "polybake"}
        for model in models
    ]
    return {"object": "list", "data": data}


def _inputs(body: EmbeddingsRequest) -> list[str | list[int]]:
    """Return the texts or rows of token ids as a list; a single one becomes a list of one."""
    if isinstance(body.input, str):
        return [body.input]
    ids = [item for item in body.input if isinstance(item, int)]
    return [ids] if ids else [item for item in body.input if not isinstance(item, int)]


def _cut(model: ServedModel, vectors: NDArray[Any], dimensions: int | None) -> NDArray[Any]:
    """Cut a Matryoshka model's vectors; they get unit length if the whole vectors have it."""
    size = model.contract.output.dimension
    if dimensions is None or dimensions == size:
        return vectors
    if not model.matryoshka or dimensions > size:
        known = f"{size} or less" if model.matryoshka else str(size)
        raise Refusal("validation", f"dimensions is {dimensions}; expected {known}")
    cut = vectors[:, :dimensions]
    if not model.normalized:
        return cut
    length = np.linalg.norm(cut, axis=1, keepdims=True)
    unit: NDArray[Any] = (cut / np.maximum(length, 1e-12)).astype(vectors.dtype)
    return unit


def _encoded(row: NDArray[Any], encoding: str) -> object:
    """A vector as numbers, or as base64 of float32, lowest byte first."""
    if encoding == "base64":
        return base64.b64encode(row.astype("<f4").tobytes()).decode("ascii")
    return row
