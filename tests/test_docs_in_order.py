"""Pages whose commands need those before them: all run in their order, in one folder, by bash.

The model is a tiny one of MiniLM's name, in a folder and in a cache of the hub. The store is a
folder, which a web server shows as well.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from models.folders.tiny_folders import CONFIG, write_bert, write_sentence_transformers
from support.hub.hub_cache import write_cache
from support.servers.shown import shown
from test_docs import IN_ORDER, REPOSITORY, check_requirement

pytestmark = pytest.mark.slow

pytest.importorskip("huggingface_hub", reason='pip install ".[hub]"')
#: A program ``polybake`` that verifies one language, whose packages are quickly installed.
PROGRAM = """\
#!/bin/sh
if [ "$1" = verify ]; then set -- "$@" --language python; fi
exec "{python}" -m polybake.cli.main "$@"
"""

#: What a run prints anew: sizes, times, digests.
_VARIES = re.compile(r"\S*\d\S*")


def blocks(path: Path) -> list[tuple[str, str]]:
    """The language and the code of each fenced block; one in a list is indented."""
    page = path.read_text(encoding="utf-8")
    found = re.finditer(r"^( *)```(\w+)\n(.*?)^\1```$", page, re.DOTALL | re.MULTILINE)
    return [(one[2], re.sub(rf"^{one[1]}", "", one[3], flags=re.MULTILINE)) for one in found]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of a user's own with the model, and a cache of the hub that has its commit."""
    pooling = {"word_embedding_dimension": 384, "pooling_mode_mean_tokens": True}
    model = tmp_path / "shop" / "models" / "all-MiniLM-L6-v2"
    write_sentence_transformers(model, ("Pooling", pooling), ("Normalize", {}))
    write_bert(model, CONFIG | {"hidden_size": 384, "num_attention_heads": 12})
    pages = "".join(page.read_text(encoding="utf-8") for page in IN_ORDER)
    for source, commit in set(re.findall(r"hub:([\w./-]+)@([0-9a-f]{40})", pages)):
        write_cache(tmp_path / "hub", source, model, commit)
    return tmp_path / "shop"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A machine on which polybake is installed, with Git."""
    program = tmp_path / "bin" / "polybake"
    program.parent.mkdir()
    program.write_text(PROGRAM.format(python=sys.executable))
    program.chmod(0o755)
    git = {
        f"GIT_{role}_{key}": value
        for role in ("AUTHOR", "COMMITTER")
        for key, value in (("NAME", "nobody"), ("EMAIL", "nobody@localhost"))
    }
    return os.environ | git | {
        "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(sys.path),
        "HF_HUB_CACHE": str(tmp_path / "hub"),
        "HF_HUB_OFFLINE": "1",
        "COLUMNS": "200",
    }  # fmt: skip


@pytest.fixture
def address(folder: Path) -> Iterator[str]:
    """That of a web server which shows the folder ``store``."""
    with shown(folder / "store") as found:
        yield found


@pytest.mark.weekly
@pytest.mark.parametrize("page", IN_ORDER, ids=lambda page: page.stem)
def test_every_command_runs(
    page: Path, folder: Path, environment: dict[str, str], address: str
) -> None:
    """What a text block shows is printed; the lines of code are those of the clients' READMEs."""
    printed = ""
    for language, code in blocks(page):
        if language == "sh":
            lines = code.strip().splitlines()
            if lines[0].startswith("pip install "):
                check_requirement(shlex.split(lines[0])[2])
                continue
            if "curl " in code:
                shutil.rmtree(folder / "build")
                code = code.replace("https://models.example.org", address)
            printed = run_block(code, folder, environment)
            assert "Warning" not in printed
        elif language == "text":
            shown = {_VARIES.sub("#", line) for line in code.splitlines()}
            assert shown <= {_VARIES.sub("#", line) for line in printed.splitlines()}, printed
        elif language == "toml":
            config = folder / "polybake.toml"
            if config.exists():  # what init wrote is its beginning
                begun, whole = tomllib.loads(config.read_text()), tomllib.loads(code)
                assert begun["model"] == whole["model"]
                assert begun["steps"] == whole["steps"][: len(begun["steps"])]
                assert begun["clients"].keys() == whole["clients"].keys() >= {*required(begun)}
                code += f"[verify]\nrequire = {required(begun)}\n"
            config.write_text(code, encoding="utf-8")
        elif language == "yaml":
            action = yaml.safe_load((REPOSITORY / "action.yml").read_text(encoding="utf-8"))
            (step,) = (one for one in yaml.safe_load(code) if "with" in one)
            assert step["with"].keys() <= action["inputs"].keys()
        else:
            client = {"ruby": "ruby", "js": "node"}[language]
            readme = (folder / "clients" / client / "README.md").read_text(encoding="utf-8")
            assert code.replace("build/minilm", "minilm") in readme


def required(config: dict[str, Any]) -> list[str]:
    found: list[str] = config["verify"]["require"]
    return found


def run_block(code: str, folder: Path, environment: dict[str, str]) -> str:
    """Run a block as bash does, and return what it prints.

    Its exit code is 0, or the one that the block names, or diff's answer.
    """
    named = re.search(r"# exit code (\d)", code)
    bash = shutil.which("bash")
    assert bash
    done = subprocess.run(
        [bash, "-euo", "pipefail", "-c", code],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    expected = {int(named[1])} if named else {0, 1} if code.startswith("polybake diff") else {0}
    assert done.returncode in expected, f"{code}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr
