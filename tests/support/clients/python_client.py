"""A generated Python client that runs on this Python, right or with a fault planted into it."""

from __future__ import annotations

import json
from pathlib import Path

import polybake


def write_python_client(folder: Path, model: Path, plant: tuple[str, str] | None = None) -> Path:
    """The folder of the client of a model.

    Args:
        folder: The folder of all clients.
        model: Its model file.
        plant: What stands in the client's ``session.py``, and what takes its place.
    """
    polybake.generate(model, folder, languages=["python"], parts=["bulk"])
    client = folder / "python"
    path = client / "harness.json"
    harness = json.loads(path.read_text())
    harness["prepare"] = []
    harness["run"] = ["{python}", *harness["run"][1:]]
    harness["environment"] = {"PYTHONPATH": str(client / "src")}
    path.write_text(json.dumps(harness))
    if plant:
        (session,) = client.glob("src/*/session.py")
        code = session.read_text()
        assert code.count(plant[0]) == 1
        session.write_text(code.replace(*plant))
    return client
