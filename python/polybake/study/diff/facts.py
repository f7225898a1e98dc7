"""A comparison as data, for ``--json``."""

import math
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from polybake.base.modelfile.container import FileHead
from polybake.study.diff.module_change import ModuleChange
from polybake.study.diff.neighbours import Neighbours
from polybake.study.diff.parts import DECIDING, SAYING, ModelParts
from polybake.study.diff.stage_result import StageResult
from polybake.study.diff.verdict import DiffVerdict
from polybake.verification.verdict import Stage


def facts(
    parts: ModelParts,
    modules: Iterable[ModuleChange],
    stages: Iterable[StageResult],
    neighbours: Neighbours | None,
    shorter: str | None,
    verdict: DiffVerdict,
) -> dict[str, Any]:
    """Return the whole comparison, unshortened; numbers that are not finite are null."""
    return {
        "before": _file(parts.before),
        "after": _file(parts.after),
        "verdict": {**asdict(verdict), "line": str(verdict)},
        "parts": {part: not parts.differs(part) for part in (*DECIDING, *SAYING)},
        "changes": [{"place": change.place, "change": change.change} for change in parts.changes],
        "modules": [_module(module) for module in modules],
        "stages": [_stage(stage) for stage in stages],
        "neighbours": neighbours and _neighbours(neighbours),
        "shortened": shorter,
    }


def _file(head: FileHead) -> dict[str, Any]:
    return {
        "path": str(head.path),
        "name": head.manifest.name,
        "fingerprint": head.manifest.fingerprint,
    }


def _module(change: ModuleChange) -> dict[str, Any]:
    weights = [
        asdict(weight) | {"largest": _finite(weight.largest), "cosine": _finite(weight.cosine)}
        for weight in change.weights
    ]
    return {
        "module": change.module,
        "equal": change.equal,
        "weights": weights,
        "operators_removed": dict(change.nodes_removed),
        "operators_added": dict(change.nodes_added),
    }


def _stage(result: StageResult) -> dict[str, Any]:
    data = {
        "stage": str(result.stage),
        "texts": result.texts,
        "differing": result.differing,
        "worst": result.worst,
    }
    if result.stage is Stage.TOKENIZE:
        return data
    cosines = result.cosines
    return data | {"largest": _finite(result.largest), "cosines": cosines and cosines._asdict()}


def _neighbours(neighbours: Neighbours) -> dict[str, Any]:
    """Return the neighbours without the share of each text."""
    return {name: value for name, value in asdict(neighbours).items() if name != "shares"}


def _finite(number: float | None) -> float | None:
    return number if number is not None and math.isfinite(number) else None
