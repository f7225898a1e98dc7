"""A model's folder: no file is read from outside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from polybake.errors import InputError
from polybake.files.model_folder import ModelFolder


def test_reads_files_by_name(tmp_path: Path) -> None:
    """A file of the folder or of one inside it is found; one that is not there is None."""
    (tmp_path / "1_Pooling").mkdir()
    (tmp_path / "1_Pooling" / "config.json").write_text('{"a": 1}')
    folder = ModelFolder.at(tmp_path)
    assert folder.settings("1_Pooling/config.json") == {"a": 1}
    assert folder.inner("1_Pooling").settings("config.json") == {"a": 1}
    assert folder.file("nothing") is None
    assert folder.file("1_Pooling") is None
    assert folder.settings("nothing") == {}
    with pytest.raises(InputError, match="has no nothing; download the whole model again"):
        folder.needed_settings("nothing")


@pytest.mark.parametrize(
    "name", ["../x", "/etc/passwd", "a/../../x", "..\\x", "C:x", "a\0b", "a/.."]
)
def test_refuses_names_that_lead_out(name: str, tmp_path: Path) -> None:
    """No name leaves the folder, in the manner of any system."""
    folder = ModelFolder.at(tmp_path)
    for look in (folder.file, folder.inner):
        with pytest.raises(InputError, match="outside the model's folder"):
            look(name)


def test_refuses_a_name_that_is_too_long(tmp_path: Path) -> None:
    """A name that no file can have is refused."""
    with pytest.raises(InputError, match=r"cannot be read \(File name too long\); name a file"):
        ModelFolder.at(tmp_path).file("a" * 5000)


def test_follows_links_inside(tmp_path: Path) -> None:
    """A link to another file of the folder is followed; the folder itself may be a link."""
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.json").write_text("{}")
    (tmp_path / "real" / "b.json").symlink_to("a.json")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert ModelFolder.at(tmp_path / "link").file("b.json") is not None


def test_follows_a_cache_to_its_blobs(tmp_path: Path) -> None:
    """A snapshot's links may lead to its cache's blobs, and to no other folder beside it."""
    snapshot = tmp_path / "snapshots" / "1"
    snapshot.mkdir(parents=True)
    for name in ("blobs", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x").write_text("{}")
        (snapshot / f"{name}.json").symlink_to(tmp_path / name / "x")
    folder = ModelFolder.at(snapshot)
    assert folder.file("blobs.json") is not None
    with pytest.raises(InputError, match=r"links to .*other/x, outside the model's folder"):
        folder.file("other.json")


@pytest.mark.parametrize("content", [b"{", b"\xff\xfe\x00", b"[" * 100_000, b""])
def test_names_what_is_not_json(content: bytes, tmp_path: Path) -> None:
    """A file that is not JSON, however it is broken, is named."""
    (tmp_path / "config.json").write_bytes(content)
    with pytest.raises(InputError, match=r"config\.json: is not JSON"):
        ModelFolder.at(tmp_path).json("config.json")


def test_licence_is_one_short_word(tmp_path: Path) -> None:
    """What does not look like a licence's name is not taken for one."""
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
