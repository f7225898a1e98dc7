"""Generate a client: manifest and settings, to a context, to files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from polybake.generation.context import Context, build_context
from polybake.generation.language import LANGUAGES
from polybake.generation.names import names_for
from polybake.generation.render import render, target_paths
from polybake.modelfile.manifest import Manifest

__all__ = ["LANGUAGES", "RenderedClient", "render_client"]


@dataclass(frozen=True)
class RenderedClient:
    """A client's files by path, and which of them belong to its owner once written."""

    files: dict[str, str]
    project_files: frozenset[str]
    context: Context


def render_client(
    manifest: Manifest,
    language: str,
    *,
    package: str | None = None,
    module: str | None = None,
    version: str = "0.1.0",
    templates: Path | None = None,
) -> RenderedClient:
    """Render the client of one language.

    Raises:
        InputError: a name that the language cannot use, or a template that is not valid.
    """
    names = names_for(language, manifest.name, package=package, module=module)
    context = build_context(manifest, LANGUAGES[language], names, version)
    return RenderedClient(
        files=render(language, context, templates),
        project_files=target_paths(LANGUAGES[language].project_files, context),
        context=context,
    )
