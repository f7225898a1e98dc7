"""polybake generate: what polybake.toml decides, and what is printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.processes.commandline import polybake

pytestmark = pytest.mark.slow


@pytest.fixture
def project(every_feed: Path, tmp_path: Path) -> Path:
    """A folder whose polybake.toml puts one client into a folder of its own."""
    (tmp_path / "polybake.toml").write_text(
        f'[model]\nname = "every-feed"\nsource = "none"\noutput = "{every_feed}"\n'
        '[clients.ruby]\noutput = "gems/search"\nmodule = "Search"\nversion = "1.2.3"\n'
    )
    return tmp_path


def test_polybake_toml_says_where_a_client_goes(project: Path) -> None:
    """Output, module and version are the file's; nothing else is written."""
    printed = polybake("generate", cwd=project)
    assert printed.startswith("gems/search: ")
    assert printed.endswith(" written, 0 unchanged, 0 removed\n")
    assert {path.name for path in project.iterdir()} == {"polybake.toml", "gems"}
    assert "module Search" in (project / "gems/search/lib/every_feed.rb").read_text()
    assert polybake("generate", "--check", cwd=project) == "fresh: ruby\n"
    printed = polybake("generate", "--language", "node", cwd=project, code=2)
    assert printed == "polybake: language 'node': choose one of: ruby\n"


def test_clients_takes_the_place_of_its_output(project: Path) -> None:
    """The folder of --clients holds one folder a language; other settings of the file stay."""
    polybake("generate", "--clients", "other", cwd=project)
    assert "module Search" in (project / "other/ruby/lib/every_feed.rb").read_text()
    assert not (project / "gems").exists()


def test_a_stale_file_ends_with_one(project: Path) -> None:
    """--check names it and writes nothing; force is the way back, also from a damaged record."""
    polybake("generate", cwd=project)
    (project / "gems/search/harness.json").unlink()
    printed = polybake("generate", "--check", cwd=project, code=1)
    assert printed == "polybake: not fresh: gems/search/harness.json; run: polybake generate\n"
    (project / "gems/search/.polybake.json").write_text("[]")
    assert "generate --force" in polybake("generate", cwd=project, code=2)
    polybake("generate", "--force", cwd=project)
    assert polybake("generate", "--check", cwd=project) == "fresh: ruby\n"
