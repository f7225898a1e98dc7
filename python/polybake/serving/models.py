"""The model files that are served."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

from fastapi import Depends, Request

from polybake.errors import InputError
from polybake.runtime.embedder import Embedder
from polybake.serving.refusal import Refusal
from polybake.serving.served_model import ServedModel

#: The most token ids of a text in JSON, if its model has no limit.
_LONGEST = 2**20


class Models:
    """Model files by name."""

    def __init__(self, models: Sequence[ServedModel]) -> None:
        self._models = {model.name: model for model in models}
        if len(self._models) < len(models):
            names = ", ".join(model.name for model in models)
            raise InputError(f"two models have one name ({names}); give each a name of its own")

    @classmethod
    def opened(
        cls, paths: Sequence[Path], *, device: str, threads: int, most: int, matryoshka: list[str]
    ) -> Models:
        """Open files, and check that each reproduces its golden cases."""
        embedders = [Embedder(path, device=device, threads=threads) for path in paths]
        names = [embedder.manifest.name for embedder in embedders]
        if unknown := sorted({*matryoshka} - {*names}):
            raise InputError(
                f"--matryoshka {unknown[0]}: no model of this name; choose of: {', '.join(names)}"
            )
        for embedder in embedders:
            embedder.self_check()
        return cls(
            [
                ServedModel(embedder, most=most, matryoshka=name in matryoshka)
                for name, embedder in zip(names, embedders, strict=True)
            ]
        )

    def __iter__(self) -> Iterator[ServedModel]:
        return iter(self._models.values())

    @property
    def most(self) -> int:
        """Texts of a request, at most."""
        return max(model.most for model in self)

    @property
    def longest(self) -> int:
        """Token ids of a text, at most."""
        return min(_LONGEST, max(model.contract.max_length for model in self))

    @property
    def ready(self) -> bool:
        """Whether all take requests."""
        return all(model.ready for model in self)

    def of(self, task: str, name: str | None = None) -> ServedModel:
        """Return the model of this name, or the only model for a task."""
        able = [model for model in self if model.contract.task == task]
        known = ", ".join(model.name for model in able)
        if not able:
            tasks = ", ".join(sorted({model.contract.task for model in self}))
            message = f"no model here is for the task {task!r}, but for {tasks}; serve one that is"
            raise Refusal("not_found", message)
        if name is None:
            if len(able) > 1:
                raise Refusal("validation", f"several models are for {task!r}; name one: {known}")
            return able[0]
        for model in able:
            if model.name == name:
                return model
        raise Refusal("not_found", f"unknown model {name!r}; choose one of: {known}")


def _of_app(request: Request) -> Models:
    models: Models = request.app.state.models
    return models


#: The parameter type by which an endpoint gets the models.
Served = Annotated[Models, Depends(_of_app)]
