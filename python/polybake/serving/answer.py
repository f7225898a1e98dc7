"""JSON responses, in which each float32 has only as many digits as identify it."""

from typing import Any

import orjson
from starlette.responses import Response

from polybake.serving.served_model import ServedModel

#: The header with the fingerprint of the file that gave the vectors, which are equal everywhere.
FINGERPRINT = "X-Polybake-Fingerprint"


def answer(content: Any, model: ServedModel) -> Response:
    """Return a model's response; each float32 has as few digits as identify it."""
    return Response(
        orjson.dumps(content, option=orjson.OPT_SERIALIZE_NUMPY),
        media_type="application/json",
        headers={FINGERPRINT: model.manifest.fingerprint},
    )
