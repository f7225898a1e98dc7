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
    from polybake.base.files.model_folder import Attention, Pickle
    from polybake.config import Config, EncoderMaker

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
EncoderOption = Annotated[
    Literal["native", "torch"] | None,
    typer.Option(help="Who makes the encoder's graph: polybake (native) or PyTorch's exporter."),
]
DequantizeOption = Annotated[
    bool,
    typer.Option(
        "--dequantize", help="Rebuild in float32 an .onnx file that was quantized dynamically."
    ),
]
PickleOption = Annotated[
    Literal["refused", "tensors"] | None,
    typer.Option(help="Weights that are only a pickle: refuse them, or read their tensors alone."),
]
AttentionOption = Annotated[
    Literal["both", "causal"] | None,
    typer.Option(help="To which side a decoder's tokens attend, if its files do not say."),
]
AdapterOption = Annotated[
    str | None,
    typer.Option(help="The adapter to merge into the weights, if the checkpoint holds several."),
]
AllowUnknownOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KEY",
        help="An unknown key of the model's files that, as you say, changes no vector. May be "
        "given again.",
    ),
]
TaskOption = Annotated[
    str | None,
    typer.Option(
        help="The task, such as classify; else the config's, or embed if it lists steps, "
        "or what the model was trained for."
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def config_for(
    target: Path,
    *,
    name: str | None = None,
    output: Path | None = None,
    encoder: EncoderMaker | None = None,
    dequantize: bool = False,
    pickle: Pickle | None = None,
    attention: Attention | None = None,
    adapter: str | None = None,
    allow_unknown: Sequence[str] | None = None,
) -> Config:
    """Return the settings of a polybake.toml, or the defaults for a source."""
    from polybake.config import Config, ModelTable, load_config

    source = parse_source(target)
    if isinstance(source, Path) and source.suffix == ".toml":
        config = load_config(source)
        changes = {
            "name": name,
            "output": output,
            "encoder": encoder,
            "dequantize": dequantize or None,
            "pickle": pickle,
            "attention": attention,
            "adapter": adapter,
            "allow_unknown": None if allow_unknown is None else tuple(allow_unknown),
        }
        chosen = {key: value for key, value in changes.items() if value is not None}
        usable_name(name or config.model.name)
        return config.model_copy(update={"model": config.model.model_copy(update=chosen)})
    if isinstance(source, Path) and not source.exists():
        raise InputError(
            f"{target}: no such file or folder; "
            "give a polybake.toml, a model folder or an .onnx file"
        )
    chosen_name = usable_name(name or model_name(source))
    model = ModelTable(
        name=chosen_name,
        source=source,
        output=output or Path("build") / f"{chosen_name}.onnx",
        encoder=encoder or "native",
        dequantize=dequantize,
        pickle=pickle or "refused",
        attention=attention,
        adapter=adapter,
        allow_unknown=tuple(allow_unknown or ()),
    )
    return Config(model=model)


def usable_name(name: str) -> str:
    """Return ``name`` if it can name packages, modules and classes."""
    from polybake.base.modelfile.manifest import checked_name
    from polybake.generation.names import names_for

    try:
        names_for("python", checked_name(name))
    except ValueError as error:
        raise InputError(f"{error}; choose one with --name") from error
    return name
