"""generate as a function: which clients go where, and when nothing is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from polybake.base.modelfile.container import read_head
from polybake.errors import CheckFailed, InputError
from polybake.generation.generate import ClientSettings, generate
from polybake.generation.languages import DEFAULT_LANGUAGES


def test_every_default_language_gets_a_folder(every_feed: Path, tmp_path: Path) -> None:
    """Each client lies below the folder under its language's name, and a second run is fresh."""
    done = generate(every_feed, tmp_path)
    assert {name: one.folder for name, one in done.items()} == {
        name: tmp_path / name for name in DEFAULT_LANGUAGES
    }
    assert all((one.folder / "harness.json").is_file() for one in done.values())
    again = generate(str(every_feed), str(tmp_path), check=True)
    assert all((one.written, one.removed) == ((), ()) for one in again.values())


def test_settings_decide_folder_and_names(every_feed: Path, tmp_path: Path) -> None:
    """Only the languages named are made, each as its settings say, from a manifest as well."""
    settings = {"ruby": ClientSettings(tmp_path / "gem", package="search", version="1.2.3")}
    done = generate(read_head(every_feed).manifest, settings)
    assert done["ruby"].folder == tmp_path / "gem"
    assert '"1.2.3"' in (tmp_path / "gem/search.gemspec").read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["gem"]


def test_check_names_what_would_change(every_feed: Path, tmp_path: Path) -> None:
    """A missing file fails the check, one that a person edited does not, and nothing is written."""
    generate(every_feed, tmp_path, languages=["python"])
    folder = tmp_path / "python"
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    (folder / "harness.json").unlink()
    (folder / "src/every_feed/errors.py").write_text("mine")
    with pytest.raises(CheckFailed) as caught:
        generate(every_feed, tmp_path, languages=["python"], check=True)
    assert str(caught.value) == f"not fresh: {folder / 'harness.json'}; run: polybake generate"
    assert not (folder / "harness.json").exists()
    generate(every_feed, tmp_path, languages=["python"], force=True)
    assert before == {path: path.read_bytes() for path in before}


def test_a_readme_follows_its_model(every_feed: Path, tmp_path: Path) -> None:
    """What it says of the dimension is not fresh after another bake, and is written anew."""
    generate(every_feed, tmp_path)
    manifest = read_head(every_feed).manifest
    output = manifest.contract.output.model_copy(update={"dimension": 5})
    contract = manifest.contract.model_copy(update={"output": output})
    other = manifest.model_copy(update={"contract": contract})
    readmes = [tmp_path / name / "README.md" for name in DEFAULT_LANGUAGES]
    with pytest.raises(CheckFailed, match=r"another contract: contract\.output\.dimension: 7 -> 5"):
        generate(other, tmp_path, check=True)
    generate(other, tmp_path)
    assert all("5 dimensions" in readme.read_text(encoding="utf-8") for readme in readmes)


def test_nothing_is_written_where_one_cannot_be_rendered(every_feed: Path, tmp_path: Path) -> None:
    """A wrong name of the last client leaves no file of the first."""
    settings = {
        "python": ClientSettings(tmp_path / "python"),
        "ruby": ClientSettings(tmp_path / "ruby", module="lower"),
    }
    with pytest.raises(InputError, match=r"clients\.ruby\.module: 'lower'"):
        generate(every_feed, settings)
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_language_is_refused(every_feed: Path, tmp_path: Path) -> None:
    """The choices are those that have a client here."""
    settings = {"ruby": ClientSettings(tmp_path)}
    with pytest.raises(InputError, match=r"language 'node': choose one of: ruby$"):
        generate(every_feed, settings, languages=["node"])


@pytest.mark.parametrize("name", ["none", "README.md", "."])
def test_a_folder_without_templates_is_refused(every_feed: Path, tmp_path: Path, name: str) -> None:
    """Templates that would be passed over unnoticed are an error."""
    (tmp_path / "README.md").touch()
    with pytest.raises(InputError, match=r"holds no templates; expected .* one of: python, node"):
        generate(every_feed, tmp_path / "clients", templates=tmp_path / name)


def test_a_client_keeps_its_parts(repository: Path, tmp_path: Path) -> None:
    """Generated again into its folder, it has the parts that it was generated with."""
    manifest = repository / "fixtures/all-minilm-l6-v2/manifest.json"
    generate(manifest, tmp_path, languages=["python"], parts=["bulk"])
    again = generate(manifest, tmp_path, languages=["python"], check=True)["python"]
    assert any(path.endswith("/bulk.py") for path in again.unchanged)
    assert not any(path.endswith("/cuda.py") for path in again.unchanged)


def test_an_extracted_manifest_will_do(repository: Path) -> None:
    """clients/ is made of the manifest.json beside its fixture; a missing one says its remedy."""
    folder = repository / "fixtures/all-minilm-l6-v2"
    clients = repository / "clients"
    fresh = generate(folder / "manifest.json", clients, check=True)
    assert sorted(fresh) == sorted(path.name for path in clients.iterdir())
    with pytest.raises(InputError, match="write one with: polybake inspect MODEL --extract FOLDER"):
        generate(folder / "none.json")
