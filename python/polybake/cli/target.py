"""The target of a command: a polybake.toml, a source, or a model file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from polybake.base.files.hub_reference import parse_source
from polybake.base.files.model_name import model_name
from polybake.errors import InputError

if TYPE_CHECKING:
    from polybake.config import Config

DEFAULT_CONFIG = Path("polybake.toml")

ConfigOrSource = Annotated[
    Path,
    typer.Argument(
        metavar="[CONFIG|SOURCE]",
        help="A polybake.toml, a model folder, hub:owner/name@revision, or an .onnx.",
    ),
]
ConfigOrModel = Annotated[
    Path,
    typer.Argument(metavar="[CONFIG|MODEL]", help="A polybake.toml or a baked model file."),
]
NameOption = Annotated[str | None, typer.Option(help="The model's name, a-z, 0-9, hyphen.")]
OutputOption = Annotated[Path | None, typer.Option(help="The model file to write.")]
PrecisionOption = Annotated[
    Literal["float32", "float16", "int8", "int4"] | None,
    typer.Option(help="The precision of large matmuls; int4 is that of weights alone."),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="A key of polybake.toml, such as model.encoder=torch. May be given again.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def config_for(
    target: Path,
    settings: Sequence[str] | None,
    *,
    name: str | None = None,
    output: Path | None = None,
    precision: str | None = None,
) -> Config:
    """Return the settings of a polybake.toml, or the defaults for a source, with what is said."""
    from polybake.config import config_of, load_config

    settings = [*(settings or ()), *([f"model.precision={precision}"] if precision else ())]
    source = parse_source(target)
    if isinstance(source, Path) and source.suffix == ".toml":
        config = load_config(source, settings)
        usable_name(name or config.model.name)
        places = {"name": name, "output": output}
        changes = {key: value for key, value in places.items() if value is not None}
        return config.model_copy(update={"model": config.model.model_copy(update=changes)})
    if isinstance(source, Path) and not source.exists():
        raise InputError(
            f"{target}: no such file or folder; "
            "give a polybake.toml, a model folder or an .onnx file"
        )
    name = usable_name(name or model_name(source))
    output = output or Path("build") / f"{name}.onnx"
    return config_of({"model": {"name": name, "source": source, "output": output}}, settings)


def usable_name(name: str) -> str:
    """Return ``name`` if it can name packages, modules and classes."""
    from polybake.base.modelfile.manifest import checked_name
    from polybake.generation.names import names_for

    try:
        names_for("python", checked_name(name))
    except ValueError as error:
        raise InputError(f"{error}; choose one with --name") from error
    return name
