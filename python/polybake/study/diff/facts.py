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
        "changes": [{"place": one.place, "change": one.change} for one in parts.changes],
        "modules": [_module(one) for one in modules],
        "stages": [_stage(one) for one in stages],
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
        asdict(one) | {"largest": _finite(one.largest), "cosine": _finite(one.cosine)}
        for one in change.weights
    ]
    return {
        "module": change.module,
        "equal": change.equal,
        "weights": weights,
        "operators_removed": dict(change.nodes_removed),
        "operators_added": dict(change.nodes_added),
    }


def _stage(seen: StageResult) -> dict[str, Any]:
    found = {
        "stage": str(seen.stage),
        "texts": seen.texts,
        "differing": seen.differing,
        "worst": seen.worst,
    }
    if seen.stage is Stage.TOKENIZE:
        return found
    cosines = seen.cosines
    return found | {"largest": _finite(seen.largest), "cosines": cosines and cosines._asdict()}


def _neighbours(found: Neighbours) -> dict[str, Any]:
    """Return the neighbours without the share of each text."""
    return {name: value for name, value in asdict(found).items() if name != "shares"}


def _finite(number: float | None) -> float | None:
    return number if number is not None and math.isfinite(number) else None
