"""Templates and a context in, ``{path: text}`` out; nothing is written here."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path, PurePosixPath

from jinja2 import Environment, FileSystemLoader, StrictUndefined, TemplateError

from polybake.errors import InputError
from polybake.generation.context import Context

_TEMPLATE = ".jinja"


def templates_folder() -> Path:
    """The shipped templates: inside the wheel, or the repository's for an editable install."""
    package = Path(__file__).resolve().parents[1]
    shipped = package / "templates"
    return shipped if shipped.is_dir() else package.parents[1] / "templates"


def render(language: str, context: Context, overrides: Path | None = None) -> dict[str, str]:
    """Render every template of a language.

    Args:
        overrides: a folder of the user's own templates; one with the path of a shipped
            template, such as ``ruby/README.md.jinja``, takes its place.

    Returns:
        Text by path. ``__module__`` in a template's path stands for the module's name,
        ``__path__`` for the package in snake case; a file without ``.jinja`` is taken as it is.

    Raises:
        InputError: a template is not valid, or uses a variable that does not exist.
    """
    shipped = templates_folder()
    folders = [folder for folder in (overrides, shipped) if folder is not None]
    environment = Environment(
        loader=FileSystemLoader(folders),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701 - values are encoded for their place in literals.py
    )
    files: dict[str, str] = {}
    for path in _paths(shipped / language):
        template = f"{language}/{path}"
        try:
            text = (
                environment.get_template(template).render(_variables(context))
                if template.endswith(_TEMPLATE)
                else _first(folders, template).read_text(encoding="utf-8")
            )
        except TemplateError as error:
            raise InputError(f"template {template}: {error}; correct it or remove it") from error
        files[_target(path, context)] = text
    return files


def target_paths(paths: frozenset[str], context: Context) -> frozenset[str]:
    """Template paths with the names of a client put in."""
    return frozenset(_target(path, context) for path in paths)


def _variables(context: Context) -> dict[str, object]:
    return {name: getattr(context, name) for name in asdict(context)}


def _target(path: str, context: Context) -> str:
    named = path.replace("__module__", context.module).replace("__path__", context.path)
    return named.removesuffix(_TEMPLATE)


def _paths(folder: Path) -> list[str]:
    return sorted(
        str(PurePosixPath(path.relative_to(folder)))
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    )


def _first(folders: list[Path], name: str) -> Path:
    return next(folder / name for folder in folders if (folder / name).is_file())
