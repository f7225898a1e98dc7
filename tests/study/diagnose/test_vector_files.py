"""Vectors of other programs: in files, asked of a command, or of a service over HTTP."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest

from polybake.base.modelfile.container import read_head
from polybake.errors import CheckFailed, InputError
from polybake.runtime.embedder import Embedder
from polybake.study.diagnose.harness_vectors import golden_texts, request_vectors
from polybake.study.diagnose.vector_files import read_vectors
from support.servers.served import served

TEXTS = ["one", "two, and more", "ü"]
VECTORS = np.array([[1, 2], [3, 4.5], [-1e-7, 6]], np.float32)


def read(vectors: Path, texts: Path | None = None, **names: str) -> tuple[list[str], np.ndarray]:
    columns = {"column": "embedding", "text_column": "text"} | names
    return read_vectors(vectors, texts, **columns)


def check(found: tuple[list[str], np.ndarray]) -> None:
    assert found[0] == TEXTS
    assert found[1].dtype == np.float32
    np.testing.assert_array_equal(found[1], VECTORS)


def test_an_array_with_a_file_of_texts(tmp_path: Path) -> None:
    """Arrays of any number type and byte order are read."""
    (tmp_path / "texts.txt").write_text("\n".join(TEXTS), encoding="utf-8")
    for kind in (np.float32, np.float64, ">f4"):
        np.save(tmp_path / "v.npy", VECTORS.astype(kind))
        check(read(tmp_path / "v.npy", tmp_path / "texts.txt"))


def test_tables(tmp_path: Path) -> None:
    """Texts and vectors are read from JSON Lines, Parquet, and CSV as PostgreSQL prints it."""
    import pyarrow
    from pyarrow import parquet

    rows = [
        {"text": text, "embedding": [float(str(one)) for one in row]}
        for text, row in zip(TEXTS, VECTORS, strict=True)
    ]
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (tmp_path / "v.jsonl").write_text(lines, encoding="utf-8")
    check(read(tmp_path / "v.jsonl"))
    for opened, closed in ("[]", "{}"):
        printed = "".join(
            f'"{row["text"]}","{opened}{",".join(map(str, row["embedding"]))}{closed}"\n'
            for row in rows
        )
        (tmp_path / "v.csv").write_text(f"text,embedding\n{printed}", encoding="utf-8")
        check(read(tmp_path / "v.csv"))
    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "v.parquet")
    check(read(tmp_path / "v.parquet"))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("v.npy", b"no", r"v\.npy: cannot be read"),
        ("v.bin", b"", "is of no kind that is known; choose one of: .npy"),
        ("v.jsonl", b'{"text": "a", "vector": [1]}', "no column 'embedding'; choose by --column"),
        ("v.jsonl", b'{"text": "a", "embedding": "x"}', "row 1: 'embedding' is no list of numbers"),
        ("v.jsonl", b'{"embedding": [1]}', "a row has no text in 'text'; name the column"),
        ("v.jsonl", b"[1]", "no column 'embedding'"),
        ("v.jsonl", b"", "has no vectors"),
        ("v.jsonl", b"{", "cannot be read"),
        (
            "v.jsonl",
            b'{"text": "a", "embedding": [1]}\n{"text": "b", "embedding": [1, 2]}',
            "has vectors of 1 and of 2 elements",
        ),
    ],
)
def test_wrong_files(name: str, content: bytes, message: str, tmp_path: Path) -> None:
    """Each wrong file is named with what was expected."""
    (tmp_path / name).write_bytes(content)
    (tmp_path / "texts.txt").write_text("a")
    with pytest.raises(InputError, match=message):
        read(tmp_path / name, tmp_path / "texts.txt" if name == "v.npy" else None)


def test_one_vector_for_each_text(tmp_path: Path) -> None:
    """Fewer or more vectors than texts are refused, as nobody knows whose they are."""
    np.save(tmp_path / "v.npy", VECTORS)
    (tmp_path / "texts.txt").write_text("a\nb")
    with pytest.raises(InputError, match="has 3 vectors for 2 texts; give one for each"):
        read(tmp_path / "v.npy", tmp_path / "texts.txt")
    with pytest.raises(InputError, match="holds no texts; give them by --texts FILE"):
        read(tmp_path / "v.npy")
    np.save(tmp_path / "v.npy", VECTORS[0])
    with pytest.raises(InputError, match=r"holds \(2,\); expected numbers \[texts, dimension\]"):
        read(tmp_path / "v.npy", tmp_path / "texts.txt")


#: A harness that opens the model it is told, and takes every text for a query.
HARNESS = """
import base64, json, sys
from polybake.runtime.embedder import Embedder
for line in sys.stdin:
    request = json.loads(line)
    results = None
    if request["cmd"] == "start":
        embedder = Embedder(request["model"])
    elif request["cmd"] == "embed":
        x = embedder.embed(request["texts"], prompt="query")
        data = base64.b64encode(x.tobytes()).decode()
        results = {"dtype": "float32", "shape": list(x.shape), "data": data}
    print(json.dumps({"seq": request["seq"], "results": results}), flush=True)
"""
ASKED = ["a boat"] * 40 + ["the river"]


def command(folder: Path, code: str) -> str:
    (folder / "harness.py").write_text(code, encoding="utf-8")
    return shlex.join([sys.executable, str(folder / "harness.py")])


def test_a_command_s_vectors(prompted: Path, tmp_path: Path) -> None:
    """The command's own vectors are kept, in the order of the texts, over several requests."""
    found = request_vectors(command(tmp_path, HARNESS), prompted, ASKED, "document", 60).vectors
    own = Embedder(prompted).embed(ASKED, prompt="query")
    np.testing.assert_allclose(found, own, atol=1e-6)


def test_a_service_s_vectors(prompted: Path) -> None:
    """A service of this very file is asked for the prompt by name."""
    with served(prompted) as service:
        found = request_vectors(f"{service.url}/embed", prompted, ASKED, "document", 60)
    assert found.fingerprint == read_head(prompted).manifest.fingerprint
    np.testing.assert_allclose(
        found.vectors, Embedder(prompted).embed(ASKED, prompt="document"), atol=1e-6
    )


def test_the_golden_texts(prompted: Path) -> None:
    """Each golden text is taken once, however many cases have it."""
    texts = golden_texts(prompted)
    assert len(texts) == len(set(texts)) > 10
    assert "" in texts


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("raise SystemExit(3)", "crash: ended with exit code 3"),
        ("print('{}', flush=True); input()", "error: "),
        (HARNESS.replace('"float32"', '"float99"'), "dtype, shape and data"),
    ],
    ids=["ends", "no protocol", "no vectors"],
)
def test_who_gives_none(code: str, message: str, prompted: Path, tmp_path: Path) -> None:
    """The message says why no vectors came."""
    with pytest.raises(CheckFailed, match=message):
        request_vectors(command(tmp_path, code), prompted, ["a"], None, 60)


def test_wrong_input(prompted: Path) -> None:
    """Wrong input is refused before anything is asked."""
    with pytest.raises(InputError, match="program 'nowhere' is not there"):
        request_vectors("nowhere", prompted, ["a"], None, 60)
    with pytest.raises(InputError, match="expected seconds above 0"):
        request_vectors("true", prompted, ["a"], None, 0)
