"""The code that a client's README shows."""

import re
from pathlib import Path


def blocks(client: Path, language: str, model: Path | None = None) -> list[str]:
    """The blocks of a language, with the path of a model in the place of its name."""
    readme = (client / "README.md").read_text(encoding="utf-8")
    found = re.findall(rf"^```{language}\n(.*?)^```$", readme, re.DOTALL | re.MULTILINE)
    return [block.replace(model.name, str(model)) if model else block for block in found]
