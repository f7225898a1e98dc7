"""A stream of a task's own answers, made of the calls of golden cases."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from pydantic import JsonValue

from polybake.base.modelfile.fixture import Case


@dataclass(frozen=True)
class StreamCall:
    """The arguments of a client's stream, and the expected answers."""

    arguments: dict[str, JsonValue]
    answer: JsonValue


@dataclass
class _Group:
    """Texts that differ in nothing else that is asked, each with its tokens and its answer."""

    call: dict[str, Any]
    texts: list[str] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    answers: list[Any] = field(default_factory=list)

    def add(self, case: Case) -> None:
        answer = cast(list[Any], case.answer)
        if "aggregations" in self.call:
            answer = answer[0]
        elif "documents" in self.call:
            scores = {rank["index"]: rank["score"] for rank in answer}
            answer = [scores[place] for place in range(len(answer))]
        texts = cast(list[str], cast(dict[str, Any], case.call)[_texts_of(self.call)])
        self.texts += texts
        self.answers += answer
        self.lengths += [sum(map(len, case.input_ids)) // len(texts)] * len(texts)

    def of(self, numbers: Sequence[int]) -> StreamCall:
        answers: list[Any] = [self.answers[number] for number in numbers]
        if "aggregations" in self.call:
            answers = [answers]
        elif "documents" in self.call:
            answers = [{"index": place, "score": one} for place, one in enumerate(answers)]
        texts = [self.texts[number] for number in numbers]
        return StreamCall(self.call | {_texts_of(self.call): texts}, answers)


def stream_of(
    cases: Sequence[Case], chosen: Callable[[Sequence[int]], Sequence[int]]
) -> StreamCall | None:
    """Return the stream with the most texts; None if a stream gives vectors.

    Tasks with prompts stream vectors. Other tasks stream their own answers: labels, spans, or the
    scores of a query's documents, in the order of the texts.

    Args:
        cases: The cases of a task.
        chosen: Chooses the texts' numbers, by the tokens of each.
    """
    groups: dict[str, _Group] = {}
    for case in cases:
        if case.call is None or "prompt" in case.call:
            continue
        call: dict[str, Any] = {**case.call, _texts_of(case.call): []}
        if "aggregations" in call:
            call["aggregations"] = call["aggregations"][:1]
        groups.setdefault(json.dumps(call, sort_keys=True), _Group(call)).add(case)
    if not groups:
        return None
    group = max(groups.values(), key=lambda group: len(group.texts))
    return group.of(chosen(group.lengths))


def _texts_of(call: dict[str, Any]) -> str:
    return "documents" if "documents" in call else "texts"
