"""A corpus becomes a file of vectors."""

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from models.files.every_feed import expected, tokenizer
from polybake.base.texts import open_corpus, window
from polybake.base.texts.source import TextSource
from polybake.bulk.embed.embed import embed
from polybake.bulk.embed.machine import Machine
from polybake.errors import CheckFailed, InputError
from polybake.runtime.processors import processors
from polybake.runtime.prompt import Prompt
from polybake.runtime.runner import Runner

pytest.importorskip("pyarrow")

TEXTS = [letter * count for count in range(1, 9) for letter in ("a", "b c ", "", "d, e.")]


@pytest.fixture(autouse=True)
def small_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(window, "MOST_ROWS", 5)


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(TEXTS), encoding="utf-8")
    return path


def run(model: Path, texts: Path, out: str, prompt: Prompt = Prompt(), **more: Any) -> str:  # noqa: B008
    """The text that a run shows."""
    stream = io.StringIO()
    console = Console(file=stream)
    arguments = {"prompt": prompt, "machine": Machine(), "console": console} | more
    embed(model, open_corpus(texts), texts.with_name(out), **arguments)
    return stream.getvalue()


def by_hand(texts: list[str], before: str, value: int) -> np.ndarray:
    rows = [tokenizer().encode(before + text).ids for text in texts]
    return np.stack([expected(row, value, "right") for row in rows])


def test_each_row_gets_its_vector(every_feed: Path, texts: Path) -> None:
    """Vectors keep the order of the texts, also empty ones, and a record names the model."""
    run(every_feed, texts, "out.npy")
    assert np.load(texts.with_name("out.npy")) == pytest.approx(by_hand(TEXTS, "", 0), abs=1e-6)
    record = json.loads(texts.with_name("out.npy.json").read_text())
    assert record["model"]["name"] == "every-feed"
    assert len(record["model"]["fingerprint"]) == 64
    assert record["texts"]["rows"] == len(TEXTS)
    names = {path.name for path in texts.parent.iterdir()}
    assert names == {"texts.txt", "out.npy", "out.npy.json"}


@pytest.mark.parametrize(
    ("prompt", "name", "before", "value"),
    [
        (Prompt(), "document", "passage: ", 2),
        (Prompt("query"), "query", "query: ", 1),
        (Prompt(role="query"), "query", "query: ", 1),
        (Prompt(role="document"), "document", "passage: ", 2),
    ],
)
def test_the_prompt_counts(
    every_feed_default: Path, texts: Path, prompt: Prompt, name: str, before: str, value: int
) -> None:
    """A prompt changes the text, the graph's input and the record."""
    run(every_feed_default, texts, "out.npy", prompt)
    found = np.load(texts.with_name("out.npy"))
    assert found == pytest.approx(by_hand(TEXTS, before, value), abs=1e-6)
    record = json.loads(texts.with_name("out.npy.json").read_text())
    assert record["model"]["prompt"] == name


def test_threads_change_no_bit(every_feed_int8: Path, texts: Path) -> None:
    """Files made with one thread and with all are equal; an int8 model's vectors are int8."""
    for threads in (1, processors()):
        run(every_feed_int8, texts, f"{threads}.npy", machine=Machine(threads=threads))
    one, all_of_them = (texts.with_name(f"{n}.npy") for n in (1, processors()))
    assert one.read_bytes() == all_of_them.read_bytes()
    assert np.load(one).dtype == np.int8


@pytest.mark.parametrize("suffix", [".npy", ".jsonl", ".parquet"])
def test_no_rows_give_a_file_without_rows(every_feed: Path, tmp_path: Path, suffix: str) -> None:
    """An empty corpus gives an empty file of each format, and leaves no folder of parts."""
    (tmp_path / "texts.txt").touch()
    run(every_feed, tmp_path / "texts.txt", f"out{suffix}")
    assert (tmp_path / f"out{suffix}").exists()
    assert not (tmp_path / f"out{suffix}.parts").exists()
    if suffix == ".npy":
        assert np.load(tmp_path / "out.npy").shape == (0, 7)


class Stopped(Exception):
    """Ends a run."""


@contextmanager
def stopped(runs: int) -> Iterator[list[int]]:
    """Let the model run for so many windows; the rows of those that ran."""
    ran: list[int] = []
    through = Runner.embed

    def counted(runner: Runner, rows: Any, **more: Any) -> Any:
        if len(ran) == runs:
            raise Stopped
        ran.append(len(rows))
        return through(runner, rows, **more)

    with pytest.MonkeyPatch.context() as patch, suppress(Stopped):
        patch.setattr(Runner, "embed", counted)
        yield ran


@pytest.mark.parametrize("suffix", [".npy", ".jsonl", ".parquet"])
def test_the_same_call_goes_on(every_feed: Path, texts: Path, suffix: str) -> None:
    """A second call embeds only what is missing, and the file is the same, byte for byte."""
    run(every_feed, texts, f"whole{suffix}")
    with stopped(3):
        run(every_feed, texts, f"out{suffix}")
    assert not texts.with_name(f"out{suffix}").exists()
    with stopped(99) as ran:
        shown = run(every_feed, texts, f"out{suffix}")
    assert sum(ran) == len(TEXTS) - 15
    assert shown.startswith("going on after the 3 parts in ")
    out, whole = (texts.with_name(f"{name}{suffix}").read_bytes() for name in ("out", "whole"))
    assert out == whole


def test_what_is_kept_is_told(every_feed: Path, texts: Path) -> None:
    """A run that ends early says where its parts are; a folder's name is not read as markup."""
    stream = io.StringIO()
    with stopped(2):
        run(every_feed, texts, "[bold].npy", console=Console(file=stream))
    assert f"2 parts are kept in {texts.parent}/[bold].npy.parts; the same" in stream.getvalue()


def test_another_jobs_parts_are_refused(
    every_feed: Path, every_feed_default: Path, texts: Path
) -> None:
    """Parts of another model, prompt or text are refused; --force begins anew."""
    with stopped(3):
        run(every_feed, texts, "out.npy")
    with pytest.raises(InputError, match=r'model\.name was "every-feed", and is "every-feed-def'):
        run(every_feed_default, texts, "out.npy")
    with pytest.raises(InputError, match=r'model\.prompt was null, and is "query"'):
        run(every_feed, texts, "out.npy", Prompt("query"))
    texts.write_text("\n".join([*TEXTS, "one more"]), encoding="utf-8")
    with pytest.raises(InputError, match=r"texts\.sha256 was .* and is .*--force"):
        run(every_feed, texts, "out.npy")
    run(every_feed, texts, "out.npy", force=True)
    assert len(np.load(texts.with_name("out.npy"))) == len(TEXTS) + 1


@pytest.mark.parametrize("lines", [3, 99])
def test_a_file_that_changes_is_refused(
    every_feed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: int
) -> None:
    """Every row read has one row written, and reading a file that grows for ever ends."""
    texts, through = tmp_path / "texts.txt", TextSource.sha256
    texts.write_text("a\n" * 32)

    def changing(source: TextSource) -> str:
        digest = through(source)
        texts.write_text("a\n" * lines)
        return digest

    monkeypatch.setattr(TextSource, "sha256", changing)
    with pytest.raises(InputError, match=r"had 32 rows and then \d+; give a file that nobody"):
        run(every_feed, texts, "out.npy")
    assert not texts.with_name("out.npy").exists()


def test_what_is_no_number_is_named(
    every_feed: Path, texts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """NaN is refused with its row, as a vector store would never find it again."""

    def damaged(_: Runner, rows: Any, **more: Any) -> Any:  # noqa: ARG001
        vectors = np.zeros((len(rows), 7), np.float32)
        vectors[3, 2] = np.nan
        return vectors

    monkeypatch.setattr(Runner, "embed", damaged)
    with pytest.raises(CheckFailed, match="line 4: its embedding holds NaN or infinity; drop"):
        run(every_feed, texts, "out.npy")
    assert [path.name for path in texts.parent.iterdir()] == ["texts.txt"]


def test_a_record_that_was_left_alone_is_replaced(every_feed: Path, texts: Path) -> None:
    """A run that is killed between its two files can go on; any other file is refused."""
    run(every_feed, texts, "out.npy")
    texts.with_name("out.npy").unlink()
    run(every_feed, texts, "out.npy")
    texts.with_name("out.npy").unlink()
    texts.with_name("out.npy.json").write_text('{"mine": 1}')
    with pytest.raises(InputError, match=r"out\.npy\.json: exists already"):
        run(every_feed, texts, "out.npy")


def test_the_texts_are_never_overwritten(every_feed: Path, tmp_path: Path) -> None:
    """An output that is the file of texts is refused, by name and through a link."""
    path = tmp_path / "texts.jsonl"
    path.write_text('{"text": "a"}\n')
    (tmp_path / "link.jsonl").symlink_to(path)
    for name in ("texts.jsonl", "link.jsonl"):
        with pytest.raises(InputError, match="holds the texts themselves; choose another output"):
            run(every_feed, path, name, force=True)
    assert path.read_text() == '{"text": "a"}\n'
