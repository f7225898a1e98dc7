"""``/embed``, ``/rerank``, ``/predict`` and their like, as of text-embeddings-inference."""

from typing import Annotated, Any, Literal

import numpy as np
from fastapi import APIRouter, Query
from pydantic import StrictBool, StrictStr
from starlette.responses import Response

from polybake import __version__
from polybake.runtime.prompt import Prompt
from polybake.serving.answer import answer
from polybake.serving.json_body import JsonRoute
from polybake.serving.models import Served
from polybake.serving.ranking import ranking
from polybake.serving.refusal import Refusal
from polybake.serving.request_body import Batch, InputRows, RequestBody, Texts
from polybake.serving.served_model import Answered, ServedModel

router = APIRouter(route_class=JsonRoute, tags=["text-embeddings-inference"])

_Name = Annotated[str | None, Query(alias="model", description="Which model, where several fit.")]


class _InferenceRequest(RequestBody):
    """What every request may say of texts that are too long: the file cuts them as it must."""

    truncate: StrictBool | None = None
    truncation_direction: Literal["Left", "Right", "left", "right"] | None = None


class EmbedRequest(_InferenceRequest):
    """Texts, or rows of token ids; whether vectors have unit length the file decides."""

    inputs: InputRows
    normalize: StrictBool | None = None
    prompt_name: StrictStr | None = None


class PredictRequest(_InferenceRequest):
    """A text, or a batch of texts, each in a list of its own."""

    inputs: Batch
    raw_scores: StrictBool = False


class RerankRequest(_InferenceRequest):
    """A query with the texts that may answer it."""

    query: StrictStr
    texts: Texts
    raw_scores: StrictBool = False
    return_text: StrictBool = False


@router.post("/", include_in_schema=False)  # where huggingface_hub's InferenceClient asks
@router.post("/embed")
async def embed(body: EmbedRequest, models: Served, name: _Name = None) -> Response:
    """A vector for each text."""
    model = models.of("embed", name)
    if body.normalize is not None and body.normalize != model.normalized:
        has = "are normalized" if model.normalized else "are not normalized"
        raise Refusal("validation", f"the vectors of {model.name} {has}; leave normalize out")
    return answer([*(await _embedded(model, body)).single], model)


@router.post("/embed_all")
async def embed_all(body: EmbedRequest, models: Served, name: _Name = None) -> Response:
    """Return a vector for each token of each text."""
    model = models.of("multi-vector", name)
    reply = await _embedded(model, body)
    return answer([[*rows] for rows in reply.vectors], model)


@router.post("/embed_sparse")
async def embed_sparse(body: EmbedRequest, models: Served, name: _Name = None) -> Response:
    """Return the tokens of each text that weigh something."""
    model = models.of("sparse", name)
    rows = (await _embedded(model, body)).single
    content = [
        [{"index": int(index), "value": row[index]} for index in np.flatnonzero(row)]
        for row in rows
    ]
    return answer(content, model)


@router.post("/predict")
async def predict(body: PredictRequest, models: Served, name: _Name = None) -> Response:
    """The labels of each text, best first."""
    model = models.of("classify", name)
    is_single = isinstance(body.inputs, str)
    texts = [[body.inputs]] if isinstance(body.inputs, str) else body.inputs
    if any(len(text) != 1 for text in texts):
        raise Refusal("validation", f"{model.name} takes single texts, not pairs; give each alone")
    _check_side(model, body)
    _check_raw(model, body.raw_scores)
    singles = [text for (text,) in texts]
    rows = (await model.of_texts(singles, cut=body.truncate is not False)).single
    labels = model.contract.settings["labels"]
    assert isinstance(labels, list)  # noqa: S101 - the task's settings
    content = [
        [{"score": score, "label": labels[index]} for index, score in ranking(row)] for row in rows
    ]
    return answer(content[0] if is_single else content, model)


@router.post("/rerank")
async def rerank(body: RerankRequest, models: Served, name: _Name = None) -> Response:
    """The places of texts with their scores, best first."""
    model = models.of("rerank", name)
    _check_side(model, body)
    _check_raw(model, body.raw_scores)
    pairs = [(body.query, text) for text in body.texts]
    reply = await model.of_texts(pairs, cut=body.truncate is not False)
    content = [
        {"index": index, "score": score} | ({"text": body.texts[index]} if body.return_text else {})
        for index, score in ranking(reply.single[:, 0])
    ]
    return answer(content, model)


@router.get("/info")
async def info(models: Served, name: _Name = None) -> dict[str, Any]:
    """What is served, and within which limits."""
    model = next((model for model in models if name in (None, model.name)), None)
    if model is None:
        raise Refusal("not_found", f"unknown model {name!r}; GET /v1/models lists all")
    return {
        "model_id": model.name,
        "model_sha": model.manifest.fingerprint,
        "model_dtype": model.manifest.precision,
        "model_type": {model.contract.task: {}},
        "max_input_length": model.contract.max_length,
        "max_client_batch_size": model.most,
        "max_batch_tokens": model.embedder.runner.budget,
        "auto_truncate": True,
        "version": __version__,
    }


async def _embedded(model: ServedModel, body: EmbedRequest) -> Answered:
    _check_side(model, body)
    inputs = [body.inputs] if isinstance(body.inputs, str) else [*body.inputs]
    return await model.of_inputs(inputs, Prompt(body.prompt_name), cut=body.truncate is not False)


def _check_side(model: ServedModel, body: _InferenceRequest) -> None:
    side = body.truncation_direction
    if side is not None and side.title() != model.cuts:
        cuts = f"{model.name} cuts texts on the {model.cuts.lower()}"
        raise Refusal("validation", f"{cuts}; leave truncation_direction out")


def _check_raw(model: ServedModel, raw: bool) -> None:
    if raw:
        raise Refusal("validation", f"{model.name} holds its activation; leave raw_scores out")
