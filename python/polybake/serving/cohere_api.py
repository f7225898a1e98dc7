"""``/v1/rerank`` and ``/v2/rerank``, as Cohere's own clients ask for them."""

import uuid
from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, FailFast, Field, StrictBool, StrictStr
from starlette.responses import Response

from polybake.serving.answer import answer
from polybake.serving.json_body import JsonRoute
from polybake.serving.models import Served
from polybake.serving.ranking import ranking
from polybake.serving.request_body import RequestBody

router = APIRouter(route_class=JsonRoute, tags=["Cohere"])


class Document(BaseModel):
    """A document that is an object."""

    text: StrictStr


class RankRequest(RequestBody):
    """A query with the documents that may answer it."""

    model: StrictStr
    query: StrictStr
    documents: Annotated[list[StrictStr | Document], FailFast()]
    top_n: Annotated[int, Field(gt=0)] | None = None
    return_documents: StrictBool = False


@router.post("/v1/rerank")
@router.post("/v2/rerank")
async def rerank(body: RankRequest, models: Served) -> Response:
    """The places of documents with their relevance, best first."""
    model = models.of("rerank", body.model)
    texts = [entry if isinstance(entry, str) else entry.text for entry in body.documents]
    reply = await model.of_texts([(body.query, text) for text in texts])
    results = [
        {"index": index, "relevance_score": score}
        | ({"document": {"text": texts[index]}} if body.return_documents else {})
        for index, score in ranking(reply.single[:, 0])[: body.top_n]
    ]
    meta = {"billed_units": {"search_units": 0}, "tokens": {"input_tokens": reply.tokens}}
    return answer({"id": str(uuid.uuid4()), "results": results, "meta": meta}, model)
