"""Answers as JSON, with numbers as they are in the vectors."""

from typing import Any

import orjson
from starlette.responses import Response

from polybake.serving.served_model import ServedModel

#: Says which file gave the vectors: those of one fingerprint are equal everywhere.
FINGERPRINT = "X-Polybake-Fingerprint"


def answer(content: Any, model: ServedModel) -> Response:
    """An answer of a model; each float32 has as few digits as tell it from all others."""
    return Response(
        orjson.dumps(content, option=orjson.OPT_SERIALIZE_NUMPY),
        media_type="application/json",
        headers={FINGERPRINT: model.manifest.fingerprint},
    )
