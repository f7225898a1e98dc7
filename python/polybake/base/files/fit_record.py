"""Read fit.json: what the arrays beside it were fitted to."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from polybake.base.files.inputs import asked

#: The record's name, in the folder of the arrays.
RECORD = "fit.json"


@dataclass(frozen=True)
class Record:
    """What arrays were fitted to.

    Attributes:
        steps: The steps behind whose vectors they were fitted, as in the manifest.
        model: The name of the model file that embedded the texts.
        fingerprint: That file's.
        prompt: The prompt that the texts were embedded with.
        corpus: The SHA-256 of the file of texts.
        arrays: The shape of each array, by the name of its file.
        digests: The SHA-256 of each of these files.
    """

    steps: tuple[str, ...]
    model: str
    fingerprint: str
    prompt: str | None
    corpus: str
    arrays: dict[str, list[int]]
    digests: dict[str, str]

    def changed(self, folder: Path, name: str) -> bool:
        """Whether an array is no longer what was fitted."""
        try:
            content = (folder / name).read_bytes()
        except FileNotFoundError:
            return False  # a fit writes it again
        return hashlib.sha256(content).hexdigest() != self.digests.get(name)


def read_record(folder: Path) -> Record | None:
    """Return the record of a folder; None where there is none that can be read."""
    try:
        data = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        model, arrays = data["model"], data["arrays"]
        return Record(
            steps=tuple(map(str, model["steps"])),
            model=str(model["name"]),
            fingerprint=str(model["fingerprint"]),
            prompt=model["prompt"],
            corpus=str(data["corpus"]["sha256"]),
            arrays={str(name): [int(size) for size in shape] for name, shape in arrays.items()},
            digests={str(name): str(digest) for name, digest in data.get("sha256", {}).items()},
        )
    except (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return None


def arrays_of(folder: Path) -> set[str]:
    """Return the names of the arrays that a fit wrote to a folder; empty without a record."""
    record = read_record(folder)
    return {*record.arrays} if record else set()


def steps_before(array: Path) -> tuple[str, ...] | None:
    """Return the steps, as in the manifest, whose vectors an array was fitted to.

    Returns:
        None if no record beside the array names it.
    """
    record = read_record(asked(array.parent / RECORD).parent)
    return record.steps if record and array.name in record.arrays else None
