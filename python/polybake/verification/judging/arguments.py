"""What a client does with arguments that no golden case has: arguments.json, as requests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

from polybake.base.modelfile.fixture import Fixture
from polybake.base.modelfile.manifest import NO_LIMIT, Contract
from polybake.verification.harness.protocol import Answer, Errored, Places, Skipped
from polybake.verification.judging.answers import compare_answers
from polybake.verification.judging.calls import ClientCall, client_calls


@dataclass(frozen=True)
class ArgumentCase:
    """A request, and the kind of error that it must get, or the answer.

    Attributes:
        index: The place of the text in its list, where the error says it.
        answer: What is expected where ``kind`` is None.
    """

    id: str
    request: dict[str, Any]
    kind: str | None = None
    index: int | None = None
    answer: Any = None

    def judge(self, found: Answer, places: Places = "code_points") -> str:
        """Return what is wrong with a client's answer; nothing if it is right."""
        if isinstance(found, Skipped):
            # Strings of some languages cannot hold such a text.
            return "" if self.kind == "invalid_text" else f"skipped: {found.reason}"
        if isinstance(found, Errored):
            if self.kind is None:
                return f"{found.kind}: {found.message}; expected an answer"
            if (found.kind, found.index) == (self.kind, self.index):
                return ""
            return f"{_error(found.kind, found.index)}, expected {_error(self.kind, self.index)}"
        if self.kind is not None:
            return f"an answer, expected {_error(self.kind, self.index)}"
        golden = ClientCall(self.request, self.answer)
        return compare_answers(golden.answer_in(places), found.results, top=golden.top) or ""


def argument_cases(contract: Contract, fixture: Fixture) -> tuple[ArgumentCase, ...]:
    """Return the cases of a model's task.

    A request is the call of the task ``with`` other arguments, or that of a ``golden`` case, of
    whose ranked answers it ``takes`` so many. ``$…`` stands for what depends on the contract.
    """
    data = json.loads(resources.files(__package__).joinpath("arguments.json").read_text("ascii"))
    calls = [call for case in fixture.cases for call in client_calls(case)]
    unlimited = contract.max_length == NO_LIMIT
    stand_ins = _stand_ins(contract, 0 if unlimited else contract.max_length + 1)
    cases = []
    for case in data["cases"]:
        if contract.task not in case["of"] or (unlimited and "$long" in json.dumps(case)):
            continue
        if "golden" not in case:
            request = data["calls"][contract.task] | case["with"]
            expected = case.get("answer")
        elif calls:
            golden = max(calls, key=_entries)
            request = {"cmd": "call", **golden.arguments, **case["golden"]}
            expected = _first(golden.answer, case["takes"])
        else:
            continue
        cases.append(
            ArgumentCase(
                case["id"],
                _filled(request, stand_ins),
                case.get("kind"),
                case.get("index"),
                _filled(expected, stand_ins),
            )
        )
    return tuple(cases)


def _stand_ins(contract: Contract, too_many: int) -> dict[str, Any]:
    output = contract.output
    return {
        "$long text": "a " * too_many,
        "$long row": [0] * too_many,
        "$vocab size": contract.vocab_size,
        "$no rows": {"dtype": output.dtype, "shape": [0, output.dimension], "data": ""},
    }


def _filled(value: Any, stand_ins: Mapping[str, Any]) -> Any:
    if isinstance(value, dict):
        return {key: _filled(item, stand_ins) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, stand_ins) for item in value]
    return stand_ins.get(value, value) if isinstance(value, str) else value


def _entries(call: ClientCall) -> int:
    """How many ranked entries the answer to a golden call has."""
    return sum(len(entry) if isinstance(entry, list) else 1 for entry in call.answer)


def _first(answer: Any, count: int) -> Any:
    """The first entries of each ranked list of an answer."""
    if all(isinstance(entry, dict) for entry in answer):
        return answer[:count]
    return [_first(entry, count) for entry in answer]


def _error(kind: str, index: int | None) -> str:
    return f"an error of kind {kind}" + ("" if index is None else f" at index {index}")
