"""The answer to a request that is not served."""

from typing import Literal

Kind = Literal["validation", "unauthorized", "not_found", "overloaded", "timeout", "backend"]

_STATUS: dict[Kind, int] = {
    "validation": 422,
    "unauthorized": 401,
    "not_found": 404,
    "overloaded": 429,
    "timeout": 504,
    "backend": 500,
}


class Refusal(Exception):
    """A request that is not served."""

    def __init__(
        self, kind: Kind, message: str, *, status: int | None = None, retry_after: int | None = None
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.status = status or _STATUS[kind]
        self.retry_after = retry_after

    @property
    def headers(self) -> dict[str, str]:
        """The headers of the response."""
        return {} if self.retry_after is None else {"Retry-After": str(self.retry_after)}

    def body(self, path: str) -> dict[str, object]:
        """The answer, in the schema of whom the path belongs to.

        Source: OpenAI's and Cohere's HTTP interfaces; text-embeddings-inference ``ErrorResponse``.
        """
        if path in ("/v1/rerank", "/v2/rerank"):
            return {"message": self.message}
        if path.startswith("/v1/"):
            known = "invalid_request_error" if self.status < 500 else "server_error"
            error = {"message": self.message, "type": known, "param": None, "code": self.kind}
            return {"error": error}
        return {"error": self.message, "error_type": self.kind}
