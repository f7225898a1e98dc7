"""The templates that polybake ships, and how each of them is rendered."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined


def templates_folder() -> Path:
    """The shipped templates: inside the wheel, or the repository's for an editable install."""
    package = Path(__file__).resolve().parents[2]
    shipped = package / "templates"
    return shipped if shipped.is_dir() else package.parents[1] / "templates"


def template_environment(
    folders: Path | Sequence[Path],
    *,
    autoescape: bool = False,
    finalize: Callable[[Any], Any] | None = None,
) -> Environment:
    """Return an environment for templates; a variable that does not exist is an error."""
    return Environment(
        loader=FileSystemLoader(folders),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=autoescape,  # noqa: S701 - set by the caller
        finalize=finalize,
    )
