"""Writing clients: nothing that a person changed is lost."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from polybake.errors import InputError
from polybake.generation.write import RECORD, Changes, changes, write_client

FILES = {"src/a.py": "a\n", "src/b.py": "b\n", "package.json": "{}\n"}
PROJECT = frozenset({"package.json"})


def test_a_first_write(tmp_path: Path) -> None:
    """Every file is written, as was said before, and a second run changes nothing."""
    expected = Changes(tmp_path, written=tuple(sorted(FILES)), unchanged=(), removed=())
    assert changes(tmp_path, FILES, PROJECT) == expected
    assert list(tmp_path.iterdir()) == []
    assert write_client(tmp_path, FILES, PROJECT) == expected
    unchanged = Changes(tmp_path, written=(), unchanged=tuple(sorted(FILES)), removed=())
    assert write_client(tmp_path, FILES, PROJECT) == unchanged


def test_an_edit_stays(tmp_path: Path) -> None:
    """A file that a person changed is theirs, and no fault, while its render is as it was."""
    write_client(tmp_path, FILES, PROJECT)
    (tmp_path / "src/b.py").write_text("mine\n")
    new = FILES | {"src/a.py": "new\n"}
    for _ in range(2):
        assert changes(tmp_path, new, PROJECT).edited == ("src/b.py",)
        assert write_client(tmp_path, new, PROJECT).edited == ("src/b.py",)
    assert (tmp_path / "src/a.py").read_text() == "new\n"
    assert (tmp_path / "src/b.py").read_text() == "mine\n"
    assert changes(tmp_path, new, PROJECT, force=True).written == ("src/b.py",)
    write_client(tmp_path, new, PROJECT, force=True)
    assert (tmp_path / "src/b.py").read_text() == "b\n"


def test_an_edit_is_not_lost_where_the_render_changed_too(tmp_path: Path) -> None:
    """The run stops before anything is written, and shows what would be lost."""
    write_client(tmp_path, FILES, PROJECT)
    (tmp_path / "src/b.py").write_text("mine\n")
    new = FILES | {"src/a.py": "new\n", "src/b.py": "other\n"}
    assert changes(tmp_path, new, PROJECT).written == ("src/a.py", "src/b.py")
    with pytest.raises(InputError, match="and what is generated changed, too") as caught:
        write_client(tmp_path, new, PROJECT)
    lost = ["--- yours", "+++ generated now", "@@ -1 +1 @@", "-mine", "+other"]
    assert str(caught.value).splitlines()[1:] == lost
    assert (tmp_path / "src/a.py").read_text() == "a\n"
    (tmp_path / "src/b.py").write_text("mine and other\n")
    write_client(tmp_path, new, PROJECT, keep=True)
    assert write_client(tmp_path, new, PROJECT).edited == ("src/b.py",)
    assert (tmp_path / "src/b.py").read_text() == "mine and other\n"
    write_client(tmp_path, new, PROJECT, force=True)
    assert (tmp_path / "src/b.py").read_text() == "other\n"


def test_both_changes_are_shown_where_git_has_what_was_written(tmp_path: Path) -> None:
    """Git's own history is the third side, also below the repository's folder, and edits on top."""
    folder = tmp_path / "clients"
    write_client(folder, FILES, PROJECT)
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for command in (["init", "-q"], ["add", "."], [*who, "commit", "-qm", "generated"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    (folder / "src/b.py").write_text("mine\n")
    subprocess.run(["git", *who, "commit", "-qam", "edited"], cwd=tmp_path, check=True)
    with pytest.raises(InputError) as caught:
        write_client(folder, FILES | {"src/b.py": "other\n"}, PROJECT)
    assert str(caught.value).splitlines()[1:] == [
        *("--- generated before", "+++ yours", "@@ -1 +1 @@", "-b", "+mine"),
        *("--- generated before", "+++ generated now", "@@ -1 +1 @@", "-b", "+other"),
    ]


def test_bytes_are_files_too(tmp_path: Path) -> None:
    """What is no text is written, compared and recorded as it is; no difference is shown."""
    files: dict[str, str | bytes] = {"a.py": "a\n", "b.wasm": b"\0\xff\r\n"}
    write_client(tmp_path, files, PROJECT)
    assert (tmp_path / "b.wasm").read_bytes() == files["b.wasm"]
    assert changes(tmp_path, files, PROJECT).written == ()
    assert changes(tmp_path, {**files, "b.wasm": b"\0"}, PROJECT).written == ("b.wasm",)
    (tmp_path / "b.wasm").write_bytes(b"mine")
    assert write_client(tmp_path, files, PROJECT).edited == ("b.wasm",)
    with pytest.raises(InputError, match=r"b\.wasm: was changed by hand.*\nits bytes differ$"):
        write_client(tmp_path, {**files, "b.wasm": b"\0"}, PROJECT)


def test_a_long_difference_is_cut(tmp_path: Path) -> None:
    """The rest of it is counted."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a.py").write_text("mine\n" * 100)
    with pytest.raises(InputError) as caught:
        write_client(tmp_path, FILES, PROJECT)
    assert str(caught.value).endswith("\n-mine\n... and 64 lines more")


def test_a_file_in_the_way_is_not_lost(tmp_path: Path) -> None:
    """A file that polybake never wrote is not overwritten either."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a.py").write_text("mine\n")
    with pytest.raises(InputError, match="changed by hand"):
        write_client(tmp_path, FILES, PROJECT)


def test_project_files_belong_to_their_owner(tmp_path: Path) -> None:
    """A project file that its owner changed is written again only with force."""
    write_client(tmp_path, FILES, PROJECT)
    (tmp_path / "package.json").write_text('{"mine": 1}\n')
    new = FILES | {"package.json": '{"new": 1}\n'}
    for _ in range(2):
        assert write_client(tmp_path, new, PROJECT).written == ()
    assert (tmp_path / "package.json").read_text() == '{"mine": 1}\n'
    assert write_client(tmp_path, new, PROJECT, force=True).written == ("package.json",)


def test_project_files_that_nobody_changed_are_refreshed(tmp_path: Path) -> None:
    """They follow the model, as what they say of it; one that no record knows is its owner's."""
    write_client(tmp_path, FILES, PROJECT)
    new = FILES | {"package.json": '{"new": 1}\n'}
    assert changes(tmp_path, new, PROJECT).written == ("package.json",)
    assert write_client(tmp_path, new, PROJECT).written == ("package.json",)
    assert (tmp_path / "package.json").read_text() == '{"new": 1}\n'
    record = json.loads((tmp_path / RECORD).read_text())
    (tmp_path / RECORD).write_text(json.dumps(record | {"project": {}}))
    assert write_client(tmp_path, FILES, PROJECT).written == ()


def test_what_is_no_longer_rendered_is_removed(tmp_path: Path) -> None:
    """A file of an earlier version goes, but one that a person changed only with force."""
    write_client(tmp_path, FILES, PROJECT)
    fewer = {path: text for path, text in FILES.items() if path != "src/b.py"}
    (tmp_path / "src/b.py").write_text("mine\n")
    with pytest.raises(InputError, match=r"src/b\.py: was changed by hand"):
        write_client(tmp_path, fewer, PROJECT)
    assert (tmp_path / "src/b.py").read_text() == "mine\n"
    assert write_client(tmp_path, fewer, PROJECT, force=True).removed == ("src/b.py",)
    assert not (tmp_path / "src/b.py").exists()
    write_client(tmp_path, FILES, PROJECT)
    assert write_client(tmp_path, fewer, PROJECT).removed == ("src/b.py",)
    assert not (tmp_path / "src/b.py").exists()


def test_changes_are_found(tmp_path: Path) -> None:
    """A missing and a differing file are both to be written."""
    write_client(tmp_path, FILES, PROJECT)
    (tmp_path / "src/a.py").unlink()
    (tmp_path / "src/b.py").write_text("x")
    new = FILES | {"src/b.py": "y"}
    assert changes(tmp_path, new, PROJECT).written == ("src/a.py", "src/b.py")


@pytest.mark.parametrize(
    "record",
    [
        "",
        "{",
        "[]",
        "{}",
        "null",
        '{"files": []}',
        "[" * 100_000,
        '{"files": {"../out.py": "0"}}',
        '{"files": {"/etc/out.py": "0"}}',
        '{"files": {"a/../../out.py": "0"}}',
    ],
)
def test_a_damaged_record_is_written_anew_with_force(tmp_path: Path, record: str) -> None:
    """One that cannot be read, or names a file outside the folder, is refused; force mends it."""
    (tmp_path / RECORD).write_text(record)
    with pytest.raises(InputError, match=r"\.polybake\.json: is damaged; .* generate --force$"):
        write_client(tmp_path, FILES, PROJECT)
    assert [path.name for path in tmp_path.iterdir()] == [RECORD]
    assert write_client(tmp_path, FILES, PROJECT, force=True).written == tuple(sorted(FILES))
    assert write_client(tmp_path, FILES, PROJECT).written == ()
