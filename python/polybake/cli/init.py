"""``polybake init``: write a polybake.toml from a source, its schema, or a template of a step."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polybake.base.files.atomic import replacing
from polybake.base.files.hub_reference import HubReference
from polybake.cli.bake import say_notes
from polybake.cli.target import NameOption, SetOption, config_for
from polybake.errors import InputError

if TYPE_CHECKING:
    from polybake.baking.sources.source import Source
    from polybake.base.files.published_models import Published
    from polybake.config import Config, RerankTable

#: The file that ``--step`` writes: a module that the bake runs; here it is only read as text.
_STEP_TEMPLATE = Path(__file__).with_name("step_template.py")

_NO_STEPS = "the source gives one vector a text and names no steps; add yours as [[steps]]"


def init(
    source: Annotated[
        Path | None,
        typer.Argument(help="A model folder, hub:owner/name@revision, or an .onnx file."),
    ] = None,
    output: Annotated[Path, typer.Option(help="The file to write.")] = Path("polybake.toml"),
    name: NameOption = None,
    setting: SetOption = None,
    language: Annotated[
        list[str] | None,
        typer.Option(help="Have clients in this language; may be given more than once."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    step: Annotated[
        Path | None, typer.Option(help="Write a template of a python step to this file instead.")
    ] = None,
    schema: Annotated[
        Path | None,
        typer.Option(help="Write the JSON Schema of polybake.toml, for editors, to this file."),
    ] = None,
) -> None:
    """Write a polybake.toml from a source, its JSON Schema, or a template of a step.

    Example: polybake init models/all-MiniLM-L6-v2
    """
    if sum(option is not None for option in (source, step, schema)) != 1:
        raise InputError(
            "give a source, for its polybake.toml, or --step FILE, for a template, "
            "or --schema FILE, for what editors check it by"
        )
    _check_languages(language or ())
    _check_free(schema or step or output, force=force)
    if schema is not None:
        from polybake.baking.recipe.json_schema import settings_schema

        _write(schema, json.dumps(settings_schema(), indent=2) + "\n")
        path = schema.as_posix() if schema.is_absolute() else f"./{schema.as_posix()}"
        typer.echo(f"wrote {schema}; next, as the first line of polybake.toml: #:schema {path}")
    if step is not None:
        _write(step, _STEP_TEMPLATE.read_text(encoding="utf-8"))
        typer.echo(
            f'wrote {step}; next, in polybake.toml: step = "python", file = "{step.as_posix()}"'
        )
    if source is not None:
        from polybake.baking.assemble.notes import notes
        from polybake.baking.bake_config import check_recipe
        from polybake.baking.sources import open_source
        from polybake.baking.tasks import task_of
        from polybake.generation.languages import DEFAULT_LANGUAGES

        config = config_for(source, setting, name=name)
        model = config.model
        origin = open_source(model.source, model, config.rerank)
        required = _runnable(language or DEFAULT_LANGUAGES)
        text = settings_text(origin, config, output.parent, language or (), required)
        task = task_of(origin, model.task)
        if model.encoder == "native":  # PyTorch takes minutes to export one
            check_recipe(origin, task)
        _write(output, text)
        say_notes(notes(origin, task, config.prompts, asked=model.task is not None))
        typer.echo(f"wrote {output}; next: polybake build {output}")


def _check_languages(names: Sequence[str]) -> None:
    from polybake.generation.languages import LANGUAGES

    for name in names:
        if name not in LANGUAGES:
            raise InputError(f"language {name!r}: choose one of: {', '.join(LANGUAGES)}")


def _runnable(names: Sequence[str]) -> list[str]:
    """The languages whose programs are on this machine."""
    from polybake.generation.languages import LANGUAGES

    return [name for name in names if all(map(shutil.which, LANGUAGES[name].programs))]


def _check_free(path: Path, *, force: bool) -> None:
    if path.exists() and not force:
        raise InputError(f"{path}: exists already; edit it, or overwrite it with --force")


def _write(path: Path, text: str) -> None:
    with replacing(path) as file:
        file.write(text.encode("utf-8"))


def settings_text(
    source: Source,
    config: Config,
    folder: Path,
    languages: Sequence[str] = (),
    required: Sequence[str] = (),
) -> str:
    """Return a polybake.toml with what the user said, and all that the source's own files say.

    It has a table for the client in each of ``languages``; without one the default ones count.
    ``polybake verify`` fails where one of ``required`` is missing.

    Prompts that a published model was trained with and its files do not say are a comment.
    """
    import tomlkit

    from polybake.baking.assemble.notes import steps_note, unsaid_prompts
    from polybake.baking.tasks import task_of

    tables = config.model_dump(mode="json", exclude_unset=True)
    task = task_of(source, config.model.task)
    model = tables.pop("model") | {
        "source": _relative(config.model.source, folder),
        "output": f"build/{config.model.name}.onnx",
        "task": None if task.name == "embed" else task.name,
        "default_prompt": config.model.default_prompt or source.default_prompt,
    }
    document = tomlkit.document()
    document["model"] = {key: value for key, value in model.items() if value is not None}
    listed = tables.pop("steps", None)
    recipe = task.recipe(source) if listed is None else listed
    steps = tomlkit.aot()
    for spec in recipe or source.assumed:
        steps.append(_item(spec))
    unsaid_steps = None if listed is not None else steps_note(source, task)
    if unsaid_steps is not None or not recipe:
        document.add(tomlkit.nl())
        document.add(tomlkit.comment(unsaid_steps or _NO_STEPS))
    document["steps"] = steps
    unsaid = unsaid_prompts(source, task) if config.prompts is None else None
    if source.prompts and unsaid is None:
        document["prompts"] = dict(source.prompts)
    if source.rerank is not None:
        document["rerank"] = _rerank(source.rerank)
    if languages:
        document["clients"] = {language: {} for language in languages}
    if required:
        document["verify"] = {"require": [*required]}
    for name, table in tables.items():
        if name != "rerank":
            document[name] = table
    return tomlkit.dumps(document) + (_comment(unsaid) if unsaid is not None else "")


def _comment(unsaid: Published) -> str:
    """Return a table of prompts, each line of it a comment."""
    says = [f"{unsaid.named} was trained with these prompts; they count without the # before them."]
    says += [f"Remark: {unsaid.remark}."] if unsaid.remark else []
    return "\n" + "".join(f"# {line}\n" for line in [*says, "[prompts]", *unsaid.settings()])


def _rerank(rerank: RerankTable) -> Any:
    """Return the table with a line for each text of the prompt."""
    import tomlkit

    table = tomlkit.table()
    for key, value in rerank.model_dump(exclude_none=True).items():
        table[key] = value
    lines = tomlkit.array().multiline(True)
    lines.extend(rerank.prompt)
    table["prompt"] = lines
    return table


def _item(value: object) -> Any:
    """Return a value of the document; steps within a step have a line each, in order."""
    import tomlkit

    if isinstance(value, Mapping):
        table = tomlkit.table()
        for key, item in value.items():
            table[key] = _item(item)
        return table
    if isinstance(value, list | tuple) and any(isinstance(item, Mapping) for item in value):
        array = tomlkit.array().multiline(True)
        for item in value:
            inline = tomlkit.inline_table()
            inline.update(item)
            array.append(inline)
        return array
    return value


def _relative(source: HubReference | Path, folder: Path) -> str:
    if isinstance(source, HubReference):
        return str(source)
    # Links are not resolved, as they may lead elsewhere on another machine.
    base, path = Path.cwd() / folder, Path(os.path.normpath(Path.cwd() / source))
    if source.is_absolute() and not path.is_relative_to(os.path.normpath(base)):
        return path.as_posix()
    return Path(os.path.relpath(path, base)).as_posix()
