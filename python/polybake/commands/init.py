"""``polybake init``: write a polybake.toml from a source, or a template of a step."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from polybake.commands.target import EncoderOption, name_from, usable_name
from polybake.errors import InputError
from polybake.files.atomic import replacing
from polybake.files.encoder_maker import EncoderMaker
from polybake.files.hub_reference import is_hub

if TYPE_CHECKING:
    from polybake.sources.source import Source

#: What ``--step`` writes: a module that the bake runs, here read as text only.
_STEP_TEMPLATE = Path(__file__).with_name("step_template.py")


def init(
    source: Annotated[
        Path | None,
        typer.Argument(help="A model folder, hub:owner/name@revision, or an .onnx file."),
    ] = None,
    output: Annotated[Path, typer.Option(help="The file to write.")] = Path("polybake.toml"),
    name: Annotated[str | None, typer.Option(help="The model's name, a-z, 0-9, hyphen.")] = None,
    encoder: EncoderOption = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    step: Annotated[
        Path | None, typer.Option(help="Write a template of a python step to this file instead.")
    ] = None,
) -> None:
    """Write a polybake.toml from a source, or a template of a step.

    Example: polybake init models/all-MiniLM-L6-v2
    """
    if (source is None) == (step is None):
        raise InputError("give a source, for its polybake.toml, or --step FILE, for a template")
    _check_free(step or output, force=force)
    if step is not None:
        _write(step, _STEP_TEMPLATE.read_text(encoding="utf-8"))
        typer.echo(
            f'wrote {step}; next, in polybake.toml: step = "python", file = {_toml(str(step))}'
        )
    if source is not None:
        from polybake.sources import open_source

        maker = encoder or EncoderMaker.NATIVE
        opened = open_source(source, maker)
        text = settings_text(opened, source, name or name_from(source), output.parent, maker)
        _write(output, text)
        typer.echo(f"wrote {output}; next: polybake build {output}")


def _check_free(path: Path, *, force: bool) -> None:
    if path.exists() and not force:
        raise InputError(f"{path}: exists already; edit it, or overwrite it with --force")


def _write(path: Path, text: str) -> None:
    with replacing(path) as file:
        file.write(text.encode("utf-8"))


def settings_text(
    opened: Source, source: Path, name: str, folder: Path, encoder: EncoderMaker
) -> str:
    """A polybake.toml that says in full what the source's own files say."""
    lines = [
        "[model]",
        f"name = {_toml(usable_name(name))}",
        f"source = {_toml(_relative(source, folder))}",
        f"output = {_toml(f'build/{name}.onnx')}",
    ]
    if encoder is not EncoderMaker.NATIVE:
        lines.append(f"encoder = {_toml(encoder)}")
    if opened.default_prompt is not None:
        lines.append(f"default_prompt = {_toml(opened.default_prompt)}")
    if not opened.recipe:
        lines += ["", "# The source names no steps. Add them in order, for example:"]
        lines += ["# [[steps]]", '# step = "pool"', '# mode = "mean"']
    for spec in opened.recipe:
        lines += ["", "[[steps]]"]
        tables = {key: value for key, value in spec.items() if isinstance(value, dict)}
        lines += [f"{key} = {_toml(value)}" for key, value in spec.items() if key not in tables]
        for key, table in tables.items():
            lines += ["", f"[steps.{key}]"]
            lines += [f"{_toml(name)} = {_toml(value)}" for name, value in table.items()]
    if opened.prompts:
        lines += ["", "[prompts]"]
        lines += [f"{_toml(key)} = {_toml(value)}" for key, value in opened.prompts.items()]
    return "\n".join(lines) + "\n"


def _relative(source: Path, folder: Path) -> str:
    if is_hub(source):
        return source.as_posix()
    base = folder.resolve()
    resolved = source.resolve()
    return str(resolved.relative_to(base) if resolved.is_relative_to(base) else resolved)


def _toml(value: object) -> str:
    """A TOML value; JSON's strings, numbers and lists are TOML's once surrogate pairs are gone.

    Steps, which are tables, stand one on a line.
    """
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{key} = {_toml(one)}' for key, one in value.items())} }}"
    if isinstance(value, list | tuple) and any(isinstance(one, dict) for one in value):
        return "\n".join(["[", *(f"    {_toml(one)}," for one in value), "]"])
    return json.dumps(value, ensure_ascii=False)
