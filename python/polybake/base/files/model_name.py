"""A model's name, made of its source's own."""

import re
from pathlib import Path

from polybake.base.files.hub_reference import HubReference

_LONGEST = 50


def model_name(source: HubReference | Path) -> str:
    """The name of a folder, repository or file, in kebab case.

    ``all-MiniLM-L6-v2`` becomes ``all-minilm-l6-v2``, ``bge-small-en-v1.5`` ``bge-small-en-v1-5``.
    """
    if isinstance(source, HubReference):
        own = source.name
    else:
        resolved = source.resolve()
        own = resolved.name if resolved.is_dir() else resolved.stem
    name = "-".join(re.findall(r"[a-z0-9]+", own.lower()))[:_LONGEST].strip("-")
    return name if name[:1].isalpha() else f"model-{name}".strip("-")[:_LONGEST]
