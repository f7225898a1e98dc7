"""Bodies of requests: how they arrive, what parsing them costs, and what they may say."""

import asyncio
import json
import tracemalloc
from collections.abc import Awaitable

import pytest
from pydantic import Field, ValidationError
from starlette.types import Message, Receive

from polybake.serving.gate import Bodies
from polybake.serving.json_body import parsed
from polybake.serving.limits import Limits
from polybake.serving.refusal import Refusal
from polybake.serving.request_body import Batch, InputRows, RequestBody, RowOrRows, Texts

LIMITS = Limits(body=100, bodies=150, receive=0.2)


def pieces(*sizes: int, whole: bool = False) -> Receive:
    """The pieces of a body, and then nothing or its end."""
    left = [*sizes]

    async def receive() -> Message:
        if not left:
            await (asyncio.sleep(0) if whole else asyncio.Event().wait())
            return {"type": "http.request", "body": b"", "more_body": False}
        return {"type": "http.request", "body": b"a" * left.pop(0), "more_body": True}

    return receive


async def size(bodies: Bodies, receive: Receive, during: Awaitable[object] | None = None) -> int:
    async with bodies.received(receive) as body:
        if during:
            await during
        return len(body)


async def dripping() -> Message:
    await asyncio.sleep(0.01)
    return {"type": "http.request", "body": b"", "more_body": True}


async def gone() -> Message:
    return {"type": "http.disconnect"}


@pytest.mark.parametrize(
    ("receive", "status", "shown"),
    [
        (dripping, 408, "did not arrive within 0.2 seconds; send fewer"),
        (gone, 400, "ends early"),
    ],
)
@pytest.mark.anyio
async def test_half_a_body_is_none(receive: Receive, status: int, shown: str) -> None:
    """Not one that drips in for ever, and not one whose sender left."""
    with pytest.raises(Refusal, match=shown) as refused:
        await size(Bodies(LIMITS), receive)
    assert refused.value.status == status


@pytest.mark.anyio
async def test_the_largest_unfinished_body_makes_room() -> None:
    """A small body gets the room of the largest unfinished one, and room comes back."""
    bodies = Bodies(LIMITS)
    held = [asyncio.create_task(size(bodies, pieces(*sizes))) for sizes in ([40, 30], [60])]
    await asyncio.sleep(0)
    assert await size(bodies, pieces(50, whole=True)) == 50
    found = await asyncio.gather(*held, return_exceptions=True)
    assert [one.status for one in found if isinstance(one, Refusal)] == [429, 408]
    for _ in range(5):
        assert await size(bodies, pieces(100, whole=True)) == 100


@pytest.mark.anyio
async def test_bodies_at_work_count() -> None:
    """A body counts until it is answered; once it is whole, nothing of it is taken back."""
    bodies, begun, answered = Bodies(LIMITS), asyncio.Event(), asyncio.Event()

    async def working() -> None:
        begun.set()
        await answered.wait()

    work = asyncio.create_task(size(bodies, pieces(90, whole=True), working()))
    await begun.wait()
    with pytest.raises(Refusal, match="bodies of 150 bytes are held; ask again") as full:
        await size(bodies, pieces(61, whole=True))
    assert (full.value.status, full.value.headers) == (429, {"Retry-After": "1"})
    answered.set()
    assert await work == 90
    assert await size(bodies, pieces(61, whole=True)) == 61


@pytest.mark.parametrize("one", ["{}", "[]", "null", "0", "[0]", '"a"', '{"text":"a"}', '"\\""'])
def test_what_costs_more_than_its_bytes_is_refused(one: str) -> None:
    """Such a body is refused before objects are made, so a few copies of it are the most."""
    body = ('{"input":[' + ",".join([one] * (10**6 // len(one))) + "]}").encode()
    tracemalloc.start()
    with pytest.raises(Refusal, match="more than 100 texts") as refused:
        parsed(body, 100, 512)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert refused.value.status == 413
    assert peak < 5 * len(body)


@pytest.mark.parametrize(
    "given",
    [
        ["[{" * 1000, '"' * 5000, "\\" * 4999, '\\"', "a\\", ",,,,", "\u4e2d\n"],
        [[1] * 512] * 100,
        {"documents": [{"text": '"[,', "title": "a", "of": "b", "by": "c", "at": "d"}] * 100},
    ],
)
def test_what_a_request_may_say_is_parsed(given: object) -> None:
    """Brackets and quotes within texts do not count as structure."""
    for body in (json.dumps(given), json.dumps(given, ensure_ascii=False)):
        assert parsed(body.encode(), 100, 512) == given


@pytest.mark.parametrize(
    ("body", "status", "shown"),
    [
        (b"", 400, "no valid JSON (Input is a zero-length"),
        (b"{'input': 1}", 400, "no valid JSON (unexpected character"),
        (b"[" * 100 + b"]" * 99, 400, "no valid JSON ("),
        (b"[" + b"9" * 6000 + b"]", 400, "no valid JSON ("),
        (b'["\\ud800"]', 422, "a text is not valid Unicode; repair or drop it"),
        (b'["\xff"]', 422, "a text is not valid Unicode; repair or drop it"),
    ],
)
def test_what_is_no_json_is_named_so(body: bytes, status: int, shown: str) -> None:
    with pytest.raises(Refusal) as refused:
        parsed(body, 100, 512)
    assert refused.value.status == status
    assert shown in refused.value.message


class Body(RequestBody):
    """A body with one field of each kind."""

    rows: InputRows = ""
    row: RowOrRows = ""
    batch: Batch = ""
    texts: Texts = Field(default_factory=list)


@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [
        ("rows", None, "is null; expected a text, texts, or rows of token ids"),
        ("rows", 1, "is a number; expected"),
        ("rows", [1, 2], "element 0 is a number; expected a text, texts, or rows of token ids"),
        ("rows", ["a", {}], "element 1 is an object; expected"),
        ("rows", [[1], [1, "a"]], "element 1 is a list with a text; expected"),
        ("rows", [[1], [True]], "element 1 is a list with a truth value; expected"),
        ("row", [1, "a"], "element 1 is a text; expected a text, texts, token ids, or rows of"),
        ("row", [1.5], "element 0 is a number; expected"),
        ("batch", ["a"], "element 0 is a text; expected a text, or lists of one text each"),
        ("batch", [["a"], [None]], "element 1 is a list with null; expected"),
        ("dimension", 1, "'dimension': unknown key; choose one of: rows, row, batch, texts"),
        ("text", [], "one of: rows, row, batch, texts (did you mean texts?)"),
        ("a" * 10**6, 1, "'" + "a" * 50 + "': unknown key; choose one of"),
        ("texts", [None] * 5000, ""),
    ],
)
def test_what_is_wrong_is_named(key: str, value: object, shown: str) -> None:
    """One error has the place and the kind of a wrong value, and never its text."""
    with pytest.raises(ValidationError) as refused:
        Body.model_validate({key: value})
    (error,) = refused.value.errors()
    assert shown in error["msg"]


@pytest.mark.parametrize(
    "given",
    [
        {"rows": "a"},
        {"rows": ["a", "b"]},
        {"rows": [[1, 2], [3]]},
        {"rows": []},
        {"row": [1, 2]},
        {"batch": [["a"], ["b"]]},
        {"texts": ["a"]},
    ],
)
def test_what_may_be_asked_stays_as_it_is(given: dict[str, object]) -> None:
    """Clients send null for options that they leave open."""
    found = Body.model_validate({**given, "rank_fields": None})
    assert found.model_dump(exclude_unset=True) == given
