"""Turn a list of step specifications, as in polybake.toml, into steps."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from polybake.baking.recipe.step_files import read_files
from polybake.baking.sources.source import Source
from polybake.baking.steps import STEPS, Route, Step
from polybake.base.files.validation import choices, expected, first, key_path, unknown_key
from polybake.errors import InputError

#: Stands in a recipe for the layers that the model itself has behind its encoder.
HEAD = "head"


def resolve(
    specs: Sequence[Step | Mapping[str, object]], *, base: Path, source: Source
) -> list[Step]:
    """Check each specification, read the files that it names, and return the steps in order."""
    return _steps("steps", specs, base, source)


def _steps(
    where: str,
    specs: Sequence[Step | Mapping[str, object]],
    base: Path,
    source: Source,
    before: Sequence[Step] = (),
) -> list[Step]:
    steps: list[Step] = []
    for index, spec in enumerate(specs):
        if isinstance(spec, Step):
            steps.append(spec)
        elif spec.get("step") == HEAD:
            steps += _head(f"{where}[{index}]", spec, source)
        else:
            steps.append(_step(f"{where}[{index}]", spec, base, source, [*before, *steps]))
    return steps


def _head(where: str, spec: Mapping[str, object], source: Source) -> list[Step]:
    """The layers that the model itself has behind its encoder."""
    for key in spec.keys() - {"step"}:
        raise InputError(f"{where}.{key}: unknown key; {HEAD} has none")
    if source.head is None:
        raise InputError(
            f"{where}.step: the model has no {HEAD}; give one that was saved as …ForSequence"
            "Classification, …ForTokenClassification, …ForQuestionAnswering or …ForMaskedLM, or "
            "list the steps that stand in its place"
        )
    return source.head.steps()


def _step(
    where: str,
    spec: Mapping[str, object],
    base: Path,
    source: Source,
    before: Sequence[Step],
) -> Step:
    name = spec.get("step")
    if not isinstance(name, str) or name not in STEPS:
        raise InputError(
            f"{where}.step: unknown step {name!r}; {choices(str(name), [*STEPS, HEAD])}"
        )
    values = {key: value for key, value in spec.items() if key != "step"}
    if "fit" in values:
        raise InputError(
            f"{where}.fit: a step of polybake.toml's own list is fitted, by: polybake build; here "
            "name the files of its arrays"
        )
    parameters = read_files(
        where, STEPS[name], values, base=base, model=source.folder, before=before
    )
    if STEPS[name] is Route:
        routes = values.get("routes")
        parameters["routes"] = _routes(f"{where}.routes", routes, base, source, before)
    try:
        return STEPS[name](**parameters)
    except ValidationError as error:
        fault = first(error)
        key = key_path((where, *fault["loc"]))
        raise InputError(f"{key}: {_reason(STEPS[name], fault)}") from error


def _routes(
    where: str, routes: object, base: Path, source: Source, before: Sequence[Step]
) -> dict[str, list[Step]]:
    if not isinstance(routes, dict) or not all(
        isinstance(specs, list | tuple) and all(isinstance(spec, dict) for spec in specs)
        for specs in routes.values()
    ):
        raise InputError(f"{where}: expected a list of steps for each route, found {routes!r}")
    return {
        name: _steps(f"{where}.{name}", specs, base, source, before)
        for name, specs in routes.items()
    }


def _reason(step: type[Step], fault: ErrorDetails) -> str:
    if fault["type"] == "extra_forbidden":
        return unknown_key(str(fault["loc"][-1]), step.model_fields)
    if fault["type"] == "missing":
        return "is missing; add it"
    return expected(fault)
