"""A request's JSON, parsed at a cost that is known before it is paid."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import orjson
from fastapi import Request, Response
from fastapi.routing import APIRoute

from polybake.serving.models import Models
from polybake.serving.refusal import Refusal

#: The lists, objects and strings of a request beside those of its texts.
_BESIDE = 64

#: The most strings per text, which may be an object with other strings.
_STRINGS = 16

#: A body of up to this many bytes is parsed at once, as another thread would take longer.
_SHORT = 65_536


class JsonRoute(APIRoute):
    """A route whose body is parsed within bounds; a long body is parsed in another thread."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return a handler that gets the parsed body."""
        handle = super().get_route_handler()

        async def handled(request: Request) -> Response:
            if self.body_field is None:
                return await handle(request)
            body = b"".join([part async for part in request.stream()])
            models: Models = request.app.state.models
            bounds = (models.most, models.longest)
            if len(body) <= _SHORT:
                content = parsed(body, *bounds)
            else:
                content = await asyncio.to_thread(parsed, body, *bounds)
            del body
            return await handle(_Parsed(request, content))

        return handled


class _Parsed(Request):
    """A request whose JSON is parsed already."""

    def __init__(self, request: Request, content: object) -> None:
        super().__init__(request.scope, request.receive)
        self._content = content

    async def body(self) -> bytes:
        return b"{}"  # any body will do

    async def json(self) -> Any:
        return self._content


def parsed(body: bytes, texts: int, longest: int) -> object:
    """Parse a body.

    A Python object takes 30 times the bytes of its JSON, so the number of objects is bounded
    before any is made.
    """
    plain = body
    if b"\\" in body:  # without escapes, the only quotes left are those around strings
        plain = body.replace(rb"\\", b"").replace(rb"\"", b"")
    most = texts + _BESIDE
    if plain.count(b'"') > 2 * _STRINGS * most:
        raise _too_many(texts)
    around = b"".join(plain.split(b'"')[::2])
    if around.count(b"[") + around.count(b"{") > most:
        raise _too_many(texts)
    rows = around.replace(b"{", b"[").split(b"[")
    if any(row.count(b",") > max(texts, longest) + _BESIDE for row in rows):
        raise _too_many(texts)
    del plain, around, rows
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        if "surrogate" in error.msg:
            raise Refusal("validation", "a text is not valid Unicode; repair or drop it") from error
        message = f"the body is no valid JSON ({error}); send an object of JSON"
        raise Refusal("validation", message, status=400) from error


def _too_many(texts: int) -> Refusal:
    message = f"more than {texts} texts, or lists and objects that are none; expected 1 to {texts}"
    return Refusal("validation", message, status=413)
