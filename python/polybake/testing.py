"""The golden cases of a model file, for tests of a service of your own.

    import polybake.testing

    for case in polybake.testing.golden_cases("minilm.onnx"):
        case.check(service.embed(case.texts, prompt=case.prompt))

``pytest polybake.toml`` runs each verdict of verify as a test, without this module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from polybake.verification.testing.cases import ServiceCase, golden_cases

__all__ = ["ServiceCase", "golden_cases"]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for."""
    if name not in __all__:
        raise AttributeError(f"module 'polybake.testing' has no attribute {name!r}")
    from polybake.verification.testing import cases

    return getattr(cases, name)
