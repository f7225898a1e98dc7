"""Manifest and templates in, ``{path: text}`` out; nothing is written here."""

from dataclasses import dataclass, fields
from pathlib import Path

from jinja2 import TemplateError

from polybake.base.files.templates import template_environment, templates_folder
from polybake.base.modelfile.manifest import Manifest
from polybake.errors import InputError
from polybake.generation.context import Context, build_context
from polybake.generation.languages import LANGUAGES
from polybake.generation.names import names_for

_TEMPLATE = ".jinja"

#: The folders of what the clients of every task have, of tasks of single texts, and of pairs.
SHARED, TEXTS, PAIRS = "shared", "texts", "pairs"


@dataclass(frozen=True)
class RenderedClient:
    """A client's files by path, and which of them belong to its owner once changed."""

    files: dict[str, str]
    project_files: frozenset[str]


def render_client(
    manifest: Manifest,
    language: str,
    package: str | None = None,
    module: str | None = None,
    version: str = "0.1.0",
    templates: Path | None = None,
) -> RenderedClient:
    """Render the client of one language.

    A template may include one of another task by its path, such as ``embed/README.md.jinja``.
    ``__module__`` in a template's path stands for the module's name, ``__path__`` for the package
    in snake case; a file without ``.jinja`` is taken as it is.

    Args:
        manifest: Of the model.
        language: One of ``LANGUAGES``.
        package, module, version: Of the client's package, where the user chose them.
        templates: A folder of the user's own, added to the shipped ones; ``ruby/README.md.jinja``
            takes the place of the README of any task.

    Raises:
        InputError: a task that the language has no templates for, a name that it cannot use, a
            template that is not valid, or one that uses a variable that does not exist.
    """
    own = LANGUAGES[language]
    names = names_for(language, manifest.name, package=package, module=module)
    context = build_context(manifest, own, names, version)
    shipped = templates_folder() / language
    of_task = shipped / manifest.contract.task
    if shipped.is_dir() and not of_task.is_dir():
        raise InputError(
            f"{language}: has no templates for the task {manifest.contract.task!r}; leave the "
            "language out"
        )
    kind = TEXTS if manifest.contract.pair is None else PAIRS
    folders = [of_task, shipped / kind, shipped / SHARED]
    if templates is not None:
        folders.insert(0, templates / language)
    return RenderedClient(
        files={
            _target(path, context): _render(language, path, context, [*folders, shipped])
            for path in _paths(folders)
        },
        project_files=frozenset(_target(path, context) for path in own.project_files),
    )


def _render(language: str, template: str, context: Context, folders: list[Path]) -> str:
    environment = template_environment(folders)  # values are encoded by their language
    try:
        if template.endswith(_TEMPLATE):
            variables = {field.name: getattr(context, field.name) for field in fields(context)}
            return environment.get_template(template).render(variables)
        found = next(folder / template for folder in folders if (folder / template).is_file())
        return found.read_text(encoding="utf-8")
    except (TemplateError, UnicodeDecodeError) as error:
        raise InputError(
            f"template {language}/{template}: {error}; correct it or remove it"
        ) from error


def _target(path: str, context: Context) -> str:
    named = path.replace("__module__", context.module).replace("__path__", context.path)
    return named.removesuffix(_TEMPLATE)


def _paths(folders: list[Path]) -> list[str]:
    """What lies in any of the folders, relative to it."""
    files = {
        path.relative_to(folder).as_posix()
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    return sorted(files)
