"""Generate a client: manifest and settings, to a context, to files."""

from polybake.generation.languages import LANGUAGES
from polybake.generation.render import RenderedClient, render_client

__all__ = ["LANGUAGES", "RenderedClient", "render_client"]
