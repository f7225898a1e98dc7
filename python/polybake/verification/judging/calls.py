"""Client calls of golden cases: one aggregation or context per call, or a stream of texts."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, cast

from polybake.base.modelfile.fixture import Case
from polybake.verification.harness.protocol import Places

#: What a golden call asks several of, and a client is asked one by one.
_SEVERAL = {"aggregations": "aggregation", "contexts": "context"}


@dataclass(frozen=True)
class ClientCall:
    """The arguments of a client's call, and the golden answer."""

    arguments: dict[str, Any]
    answer: Any

    @property
    def top(self) -> int | None:
        """How many entries of each ranked list were asked for; None stands for all."""
        return cast(int | None, self.arguments.get("top"))

    def answer_in(self, places: Places) -> Any:
        """The golden answer with places of characters as the client's strings count them."""
        if "context" in self.arguments:
            return [_placed(entry, self.arguments["context"], places) for entry in self.answer]
        if "aggregation" in self.arguments:
            pairs = zip(self.arguments["texts"], self.answer, strict=True)
            return [[_placed(span, text, places) for span in spans] for text, spans in pairs]
        return self.answer

    def cut(self, found: Any) -> Any:
        """What a client answered; of weights, which it gives in any order, the ``top`` heaviest."""
        if not isinstance(found, list):
            return found
        return [_heaviest(entry, self.top) if _weighted(entry) else entry for entry in found]


def client_calls(case: Case) -> tuple[ClientCall, ...]:
    """Return the calls of a case: none of the task ``embed``."""
    if case.call is None:
        return ()
    for several, single in _SEVERAL.items():
        if several in case.call:
            rest = {name: value for name, value in case.call.items() if name != several}
            pairs = zip(
                cast(list[Any], case.call[several]), cast(list[Any], case.answer), strict=True
            )
            return tuple(ClientCall(rest | {single: item}, answer) for item, answer in pairs)
    return (ClientCall(case.call, case.answer),)


@dataclass
class _Group:
    """Texts that differ in nothing else that is asked, each with its tokens and its answer."""

    call: dict[str, Any]
    texts: list[str] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    answers: list[Any] = field(default_factory=list)


def stream_of(
    cases: Iterable[Case], chosen: Callable[[Sequence[int]], Sequence[int]]
) -> ClientCall | None:
    """Return the stream with the most texts; None if a stream gives vectors.

    A stream is a call over windows of texts, so each text's answer is its own: ``multi-vector``,
    which compares texts with the first one, streams vectors as ``embed`` does.
    """
    groups: dict[str, _Group] = {}
    for case in cases:
        for call in client_calls(case)[:1]:
            if call.answer and "max_sim" in call.answer[0]:
                continue
            rest = call.arguments | {"texts": []}
            group = groups.setdefault(json.dumps(rest, sort_keys=True), _Group(rest))
            texts = call.arguments["texts"]
            group.texts += texts
            group.answers += call.answer
            group.lengths += [sum(map(len, case.input_ids)) // len(texts)] * len(texts)
    if not groups:
        return None
    group = max(groups.values(), key=lambda group: len(group.texts))
    numbers = chosen(group.lengths)
    texts = [group.texts[number] for number in numbers]
    return ClientCall(group.call | {"texts": texts}, [group.answers[number] for number in numbers])


def have_stream(cases: Iterable[Case]) -> bool:
    """Return whether clients stream the cases' answers: a stream is of single texts."""
    calls = [call.arguments for case in cases for call in client_calls(case)]
    texts = chain.from_iterable(call.get("texts", [None]) for call in calls)
    return all(isinstance(text, str) for text in texts)


def _placed(entry: dict[str, Any], text: str, places: Places) -> dict[str, Any]:
    return entry | {name: _count(text[: entry[name]], places) for name in ("start", "end")}


def _count(text: str, places: Places) -> int:
    if places == "code_points":
        return len(text)
    return len(text.encode()) if places == "utf-8" else len(text.encode("utf-16-le")) // 2


def _weighted(entry: Any) -> bool:
    weights = entry.get("weights") if isinstance(entry, dict) else None
    return isinstance(weights, list) and all(
        isinstance(item, dict) and {*map(type, item.values())} <= {int, float} for item in weights
    )


def _heaviest(entry: dict[str, Any], top: int | None) -> dict[str, Any]:
    ordered = sorted(entry["weights"], key=lambda row: (-row.get("score", 0), row.get("index", 0)))
    return entry | {"weights": ordered[:top]}
