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

#: The folders with templates for clients of all tasks, of tasks on single texts, and on pairs.
SHARED, TEXTS, PAIRS = "shared", "texts", "pairs"


@dataclass(frozen=True)
class RenderedClient:
    """A client's files by path, and the files that belong to its owner once changed."""

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
    """Render a client in a language.

    A template may include another task's template by its path, as in ``embed/README.md.jinja``.
    ``__module__`` in a template's path stands for the module's name, ``__path__`` for the package
    in snake case; a file without ``.jinja`` is taken as it is.

    Args:
        manifest: The model's manifest.
        language: A name in ``LANGUAGES``.
        package, module, version: The user's choices for the client's package.
        templates: The user's own folder of templates, added to the shipped ones; its
            ``ruby/README.md.jinja`` replaces the README of any task.

    Raises:
        InputError: The language has no templates for the task, a name cannot be used, or a
            template is invalid or uses an unknown variable.
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
    """Return the paths of the files in all folders, relative to their folder."""
    files = {
        path.relative_to(folder).as_posix()
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    return sorted(files)
