"""The record of the oracle: what its libraries gave for tiny folders, and how to make these again.

``nox -s oracle -- --record`` writes ``fixtures/oracle/<test file>.json.xz``; with names of tests
or ``-k`` it writes the entries of these alone. `tests/oracle/test_recorded.py` bakes each folder
again and judges it by the record, without the libraries; the session `oracle` runs them and fails
where they differ from the record now. An entry holds

- the files of the folder. Numbers that `models.folders.seeded` drew are kept by the draw's name
  alone, all others as they are, each once a file. A digest says whether the files are the same;
- the arguments of `polybake.bake`;
- golden cases by the library: ids, types and answers of all, and vectors as far as `ROOM` goes;
- the versions of all that took part.
"""

from __future__ import annotations

import base64
import hashlib
import json
import lzma
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from polybake.base.modelfile.fixture import Case
    from support.oracle.agreement import Agreement, Baking

Json = dict[str, Any]

REMEDY = "nox -s oracle -- --record"
#: Below the repository.
RECORD = Path("fixtures", "oracle")

#: Test files whose rows have no entry, and why.
UNRECORDED = {
    "test_foreign_exports": "other tools export these files, in an environment of their own",
    "test_golden_oracle": "fixtures/all-minilm-l6-v2 is the record of real weights",
    "test_torch_source": "PyTorch makes the graph during the bake",
}

_PACKAGES = {
    "model2vec": "model2vec",
    "numpy": "numpy",
    "sentence_transformers": "sentence-transformers",
    "tokenizers": "tokenizers",
    "torch": "torch",
    "transformers": "transformers",
}
#: Characters of an entry's vectors. Models that give each token a row would need six times as many.
ROOM = 64_000
#: Of which cases vectors are kept first: batches with padding, and the longest texts.
_FIRST = {"batch", "truncation"}

#: Files that may hold drawn numbers.
_NUMBERS = {".safetensors", ".bin", ".pt", ".onnx", ".data"}
#: Bytes at the beginning of drawn numbers, by which they are found.
_KEY = 16


def stem_of(test: str) -> str:
    """The test file of a test's name, such as ``test_pooling``."""
    return PurePath(test.partition("::")[0]).stem


def entry_of(kind: str, source: str, found: Agreement) -> Json:
    """What the record keeps of a proof beside the folder's `files_of`."""
    from support.oracle.agreement import BAKINGS

    baking = BAKINGS[found.baked]
    return {
        "kind": kind,
        "source": source,
        "bake": _encoded({"source": baking.source, **baking.settings}, baking.folder),
        "cases": [*_cases(found.expected)],
        "versions": _versions(),
    }


def files_of(folder: Path) -> Json:
    """What a folder is made again of; `blobs` are contents of its files."""
    contents = dict(_contents(folder))
    blobs: dict[str, list[str]] = {}
    return {
        "files": {name: [*_parts(name, one, blobs)] for name, one in contents.items()},
        "digest": digest_of(contents),
        "blobs": blobs,
    }


def make(entry: Json, folder: Path) -> Baking:
    """Make the folder of an entry again; return how it is baked.

    Raises:
        AssertionError: It is not the folder that was recorded.
    """
    from support.oracle.agreement import Baking

    folder.mkdir()
    for name, parts in entry["files"].items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"".join(_content(one, entry["blobs"]) for one in parts))
    made = digest_of(dict(_contents(folder)))
    assert made == entry["digest"], f"the folder made again is another one; record anew: {REMEDY}"
    settings = _decoded(entry.get("bake", {}), folder)
    return Baking(folder, settings.pop("source", folder), settings)


def cases_of(entry: Json) -> list[Case]:
    """The golden cases of an entry; those whose vectors are not kept have `UNKNOWN` ones."""
    from polybake.base.modelfile.fixture import Case
    from support.oracle.agreement import UNKNOWN

    unknown = {"embeddings": UNKNOWN}
    return [Case.model_validate(unknown | one) for one in entry["cases"]]


def drift(name: str, now: Json, recorded: Json | None) -> str | None:
    """How the libraries differ from an entry now; None if they do not."""
    from polybake.base.modelfile.tolerance import LIMIT
    from support.oracle.agreement import difference

    if recorded is None:
        return f"{name} has no entry in the record; {REMEDY}"
    shown = f"record: {_shown(recorded)}; now: {_shown(now)}; {REMEDY}"
    for key in ("kind", "source", "bake"):
        if now.get(key) != recorded.get(key):
            return f"{name}: {key} is {now.get(key)}, in the record {recorded.get(key)}; {shown}"
    try:
        largest = difference(cases_of(now), cases_of(recorded))
    except AssertionError as error:
        return f"{name}: differs from its entry in {str(error).splitlines()[0]}; {shown}"
    if largest <= LIMIT:
        return None
    return f"{name}: differs from its entry by {largest:.2e}; {shown}"


def digest_of(contents: Mapping[str, bytes]) -> str:
    """A digest of files by name."""
    return _digest({name: hashlib.sha256(one).hexdigest() for name, one in contents.items()})


def _digest(value: Json) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


@cache
def entries(path: Path) -> dict[str, Json]:
    """The entries of a test file by the test's name; none if there is no record."""
    if not path.is_file():
        return {}
    data: Json = json.loads(lzma.decompress(path.read_bytes()))
    return {name: {**one, "blobs": data["blobs"]} for name, one in data["entries"].items()}


def write(path: Path, listed: Mapping[str, Json]) -> None:
    """Write entries: the same bytes for the same entries."""
    blobs = {key: one for entry in listed.values() for key, one in entry["blobs"].items()}
    used = {
        part
        for entry in listed.values()
        for parts in entry["files"].values()
        for part in parts
        if isinstance(part, str)
    }
    kept = {
        name: {key: value for key, value in sorted(one.items()) if key != "blobs"}
        for name, one in sorted(listed.items())
    }
    data = {"blobs": {key: blobs[key] for key in sorted(used)}, "entries": kept}
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME}]
    path.write_bytes(lzma.compress(text.encode(), check=lzma.CHECK_CRC32, filters=filters))
    entries.cache_clear()


def _contents(folder: Path) -> Iterator[tuple[str, bytes]]:
    """The files of a folder but for pages of text, which no bake reads."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix != ".md":
            yield path.relative_to(folder).as_posix(), path.read_bytes()


def _cases(cases: Sequence[Case]) -> Iterator[Json]:
    """Cases without the vectors for which there is no room."""
    room, kept = ROOM, set()
    for case in sorted(cases, key=lambda case: not _FIRST.intersection(case.flags)):
        size = sum(len(one.data or "") for one in case.vectors)
        if size <= room:
            room -= size
            kept.add(case.id)
    for case in cases:
        dropped = None if case.id in kept else {"embeddings", "further"}
        yield case.model_dump(mode="json", exclude_none=True, exclude=dropped)


def _parts(name: str, content: bytes, blobs: dict[str, list[str]]) -> Iterator[str | list[Any]]:
    """The draws in a file, and keys of what stands between them."""
    begin = 0
    if name.endswith(".safetensors"):
        begin = 8  # the length of a header, which is text
        yield _blob(content[:begin], blobs)
    for start, end, draw in _draws(content) if PurePath(name).suffix in _NUMBERS else ():
        if start > begin:
            yield _blob(content[begin:start], blobs)
        yield draw
        begin = end
    if begin < len(content) or not content:
        yield _blob(content[begin:], blobs)


def _draws(content: bytes) -> Iterator[tuple[int, int, list[Any]]]:
    """Where each draw stands that this process made, and what makes it again."""
    starts = _starts()
    place = 0
    while place <= len(content) - _KEY:
        found = starts.get(content[place : place + _KEY])
        stored = found and found[0].stored(found[1], transposed=found[2])
        if found and stored and content.startswith(stored, place):
            draw, dtype, transposed = found
            yield (
                place,
                place + len(stored),
                [draw.name, draw.shape, draw.mean, dtype, transposed],
            )
            place += len(stored)
        else:
            place += 1


_STARTS: dict[bytes, Any] = {}
_SEEN: set[Any] = set()


def _starts() -> dict[bytes, Any]:
    """The beginnings of all draws of this process in each form that a file may have."""
    from models.folders.seeded import MADE, TYPES

    for draw in MADE.keys() - _SEEN:
        _SEEN.add(draw)
        for dtype in TYPES:
            for transposed in (False, True)[: len(draw.shape)]:
                start = draw.stored(dtype, transposed=transposed)[:_KEY]
                if len(start) == _KEY:
                    _STARTS.setdefault(start, (draw, dtype, transposed))
    return _STARTS


def _content(part: str | list[Any], blobs: Mapping[str, list[str]]) -> bytes:
    from models.folders.seeded import Draw

    if isinstance(part, str):
        form, text = blobs[part]
        return text.encode() if form == "text" else base64.b64decode(text)
    name, shape, mean, dtype, transposed = part
    return Draw(name, tuple(shape), mean).stored(dtype, transposed=transposed)


def _blob(content: bytes, blobs: dict[str, list[str]]) -> str:
    key = hashlib.sha256(content).hexdigest()[:16]
    try:
        blobs[key] = ["text", content.decode()]
    except UnicodeDecodeError:
        blobs[key] = ["base64", base64.b64encode(content).decode()]
    return key


def _encoded(value: Any, folder: Path) -> Any:
    """Arguments as JSON, in which a path is one of the folder."""
    if isinstance(value, dict):
        return {key: _encoded(one, folder) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_encoded(one, folder) for one in value]
    if isinstance(value, Path):
        return {"path": value.relative_to(folder).as_posix()}
    return value


def _decoded(value: Any, folder: Path) -> Any:
    if isinstance(value, dict):
        if value.keys() == {"path"}:
            return folder / value["path"]
        return {key: _decoded(one, folder) for key, one in value.items()}
    return [_decoded(one, folder) for one in value] if isinstance(value, list) else value


def _versions() -> dict[str, str]:
    return {name: version(name) for key, name in _PACKAGES.items() if key in sys.modules}


def _shown(entry: Json) -> str:
    return ", ".join(f"{name} {one}" for name, one in entry["versions"].items())


def names(paths: Iterable[Path]) -> list[tuple[Path, str]]:
    """The file and the name of every entry."""
    return [(path, name) for path in paths for name in entries(path)]
