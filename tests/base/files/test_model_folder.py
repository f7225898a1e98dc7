"""A model's folder: no file is read from outside it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from polybake.base.files.model_folder import ModelFolder
from polybake.base.files.validation import JsonModel
from polybake.errors import InputError


class Settings(JsonModel):
    """What a file may say."""

    size: int | None = None


def test_reads_files_by_name(tmp_path: Path) -> None:
    """A file of the folder or of one inside it is found; one that is not there is None."""
    (tmp_path / "1_Pooling").mkdir()
    (tmp_path / "1_Pooling" / "config.json").write_text('{"size": 1, "other": 2}')
    folder = ModelFolder.at(tmp_path)
    assert folder.read("1_Pooling/config.json", Settings) == Settings(size=1)
    assert folder.inner("1_Pooling").read("config.json", Settings) == Settings(size=1)
    assert folder.file("nothing") is None
    assert folder.file("1_Pooling") is None


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """Missing optional files have defaults; a missing required file is named with the remedy."""
    folder = ModelFolder.at(tmp_path)
    assert folder.read("nothing", Settings) == Settings()
    with pytest.raises(InputError, match="has no nothing; download the whole model again"):
        folder.read("nothing", Settings, needed=True)
    with pytest.raises(InputError, match=f"^{tmp_path}: has no nothing; write one$"):
        folder.needed_file("nothing", "write one")


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ('{"size": "1"}', "size: Input should be a valid integer, found '1'"),
        ('{"size": true}', "size: Input should be a valid integer, found true"),
        ("[1]", "Input should be an object"),
        ("null", "Input should be an object"),
    ],
)
def test_names_a_value_of_the_wrong_type(content: str, shown: str, tmp_path: Path) -> None:
    """The message has the file, the key, the value, what was expected and the remedy."""
    path = tmp_path / "config.json"
    path.write_text(content)
    with pytest.raises(InputError) as caught:
        ModelFolder.at(tmp_path).read("config.json", Settings, remedy="correct it")
    assert str(caught.value) == f"{path}: {shown}; correct it"


def test_identifier_is_the_same_on_every_machine(tmp_path: Path) -> None:
    """A snapshot is known by its repository, any other folder by its own name."""
    inner = tmp_path / "models--owner--a--b" / "snapshots" / "1" / "onnx"
    inner.mkdir(parents=True)
    assert ModelFolder.at(inner).identifier == ModelFolder.at(inner.parent).identifier
    assert ModelFolder.at(inner).identifier == "owner/a/b"
    assert ModelFolder.at(tmp_path / "models--owner--a--b").identifier == "models--owner--a--b"


@pytest.mark.parametrize(
    "name", ["../x", "/etc/passwd", "a/../../x", "..\\x", "C:x", "a\0b", "a/.."]
)
def test_refuses_names_that_lead_out(name: str, tmp_path: Path) -> None:
    """No name leaves the folder, in the manner of any system."""
    folder = ModelFolder.at(tmp_path)
    for look in (folder.file, folder.inner):
        with pytest.raises(InputError, match="outside the model's folder"):
            look(name)


def test_follows_links_inside(tmp_path: Path) -> None:
    """A link to another file of the folder is followed; the folder itself may be a link.

    Stores that keep equal files once are full of hard links, and nothing says where else one lies.
    """
    (tmp_path / "store").write_text("{}")
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.json").write_text("{}")
    (tmp_path / "real" / "b.json").symlink_to("a.json")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    os.link(tmp_path / "store", tmp_path / "real" / "c.json")
    for name in ("b.json", "c.json"):
        assert ModelFolder.at(tmp_path / "link").file(name) is not None


def snapshot_of(cache: Path, *places: Path) -> ModelFolder:
    """A snapshot in ``cache`` that links to the files ``places``, under their folders' names."""
    snapshot = cache / "snapshots" / "1"
    snapshot.mkdir(parents=True)
    for place in places:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("{}")
        (snapshot / f"{place.parent.name}.json").symlink_to(place)
    return ModelFolder.at(snapshot)


@pytest.mark.parametrize(("name", "revision"), [("c0ffee" + "0" * 34, True), ("main", False)])
def test_a_snapshot_has_a_revision(name: str, revision: bool, tmp_path: Path) -> None:
    """The revision is the commit in the snapshot's path, also for folders within it."""
    snapshot = tmp_path / "models--owner--name" / "snapshots" / name
    (snapshot / "inner").mkdir(parents=True)
    for folder in (ModelFolder.at(snapshot), ModelFolder.at(snapshot / "inner")):
        assert (folder.identifier, folder.revision) == ("owner/name", name if revision else None)
    assert ModelFolder.at(tmp_path).revision is None


def test_follows_a_cache_to_its_blobs(tmp_path: Path) -> None:
    """A snapshot's links may lead to its cache's blobs, and to no other folder beside it."""
    cache = tmp_path / "models--owner--name"
    folder = snapshot_of(cache, cache / "blobs" / "x", cache / "other" / "x")
    assert folder.file("blobs.json") is not None
    (tmp_path / "link").symlink_to(folder.path)
    assert ModelFolder.at(tmp_path / "link").file("blobs.json") is not None
    with pytest.raises(InputError, match=r"links to .*other/x, outside the model's folder"):
        folder.file("other.json")


def test_other_blobs_are_no_cache_s(tmp_path: Path) -> None:
    """Neither a link to anywhere by that name, nor what lies beside any other folder."""
    cache, secret = tmp_path / "models--owner--name", tmp_path / "secret" / "x"
    cache.mkdir()
    (cache / "blobs").symlink_to(tmp_path)
    with pytest.raises(InputError, match=r"links to .*secret/x, outside the model's folder"):
        snapshot_of(cache, secret).file("secret.json")
    folder = snapshot_of(tmp_path / "model", tmp_path / "model" / "blobs" / "x")
    with pytest.raises(InputError, match=r"links to .*blobs/x, outside the model's folder"):
        folder.file("blobs.json")


@pytest.mark.parametrize("content", [b"{", b"\xff\xfe\x00", b"[" * 100_000, b""])
def test_names_what_is_not_json(content: bytes, tmp_path: Path) -> None:
    """A file that is not JSON, however it is broken, is named."""
    (tmp_path / "config.json").write_bytes(content)
    with pytest.raises(InputError, match=r"config\.json: Invalid JSON: "):
        ModelFolder.at(tmp_path).read("config.json", Settings)


def test_licence_is_one_short_word(tmp_path: Path) -> None:
    """Code, long texts and lists are not taken for a licence's name."""
    for line, expected in (
        ("license: apache-2.0", "apache-2.0"),
        ('license: "mit"', "mit"),
        ("licence: cc-by-4.0", "cc-by-4.0"),
        ("license: */ evil()", None),
        (f"license: {'x' * 61}", None),
        ("license:\n- mit", None),
    ):
        (tmp_path / "README.md").write_text(f"---\n{line}\n---\n")
        assert ModelFolder.at(tmp_path).licence() == expected
