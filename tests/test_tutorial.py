"""docs/tutorial.md: all of its commands, in their order, in one folder, by bash.

The model is a tiny one of MiniLM's name in a cache of the hub, and the store is a bucket of moto's.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from models.folders.tiny_folders import CONFIG, write_bert, write_sentence_transformers
from support.hub.hub_cache import write_cache
from test_docs import REPOSITORY, TUTORIAL, check_requirement

pytestmark = pytest.mark.slow

pytest.importorskip("huggingface_hub", reason='pip install ".[hub]"')
server = pytest.importorskip("moto.server", reason="moto is missing: run nox -s exchange")
s3fs = pytest.importorskip("s3fs", reason="s3fs is missing: run nox -s exchange")

#: A program ``polybake`` that verifies one language, whose packages are quickly installed.
PROGRAM = """\
#!/bin/sh
if [ "$1" = verify ]; then set -- "$@" --language python; fi
exec "{python}" -m polybake.cli.main "$@"
"""

#: What a run prints anew: sizes, times, digests.
_VARIES = re.compile(r"\S*\d\S*")


def blocks() -> list[tuple[str, str]]:
    """The language and the code of each fenced block; one in a list is indented."""
    page = TUTORIAL.read_text(encoding="utf-8")
    found = re.finditer(r"^( *)```(\w+)\n(.*?)^\1```$", page, re.DOTALL | re.MULTILINE)
    return [(one[2], re.sub(rf"^{one[1]}", "", one[3], flags=re.MULTILINE)) for one in found]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A machine on which polybake is installed, and whose cache has the model's commit."""
    pooling = {"word_embedding_dimension": 384, "pooling_mode_mean_tokens": True}
    model = tmp_path / "model"
    write_sentence_transformers(model, ("Pooling", pooling), ("Normalize", {}))
    write_bert(model, CONFIG | {"hidden_size": 384, "num_attention_heads": 12})
    source = re.search(r"hub:(\S+)@([0-9a-f]{40})", TUTORIAL.read_text(encoding="utf-8"))
    assert source
    write_cache(tmp_path / "hub", source[1], model, source[2])
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
        "AWS_ACCESS_KEY_ID": "a",
        "AWS_SECRET_ACCESS_KEY": "b",
        "AWS_DEFAULT_REGION": "us-east-1",
        "COLUMNS": "200",
    }  # fmt: skip


def test_every_command_runs(tmp_path: Path, environment: dict[str, str]) -> None:
    """What a text block shows is printed; the lines of code are those of the clients' READMEs."""
    s3 = server.ThreadedMotoServer(port=0)
    s3.start()
    try:
        host, port = s3.get_host_and_port()
        environment["AWS_ENDPOINT_URL"] = f"http://{host}:{port}"
        s3fs.S3FileSystem(key="a", secret="b", endpoint_url=environment["AWS_ENDPOINT_URL"]).mkdir(
            "our-models"
        )
        (tmp_path / "shop").mkdir()
        run_blocks(tmp_path / "shop", environment)
    finally:
        s3.stop()


def run_blocks(folder: Path, environment: dict[str, str]) -> None:
    """Each block in the folder."""
    printed = ""
    for language, code in blocks():
        if language == "sh":
            lines = code.strip().splitlines()
            if lines[0].startswith("pip install "):
                check_requirement(shlex.split(lines[0])[2])
                continue
            printed = run_block(code, folder, environment)
        elif language == "text":
            shown = {_VARIES.sub("#", line) for line in code.splitlines()}
            assert shown <= {_VARIES.sub("#", line) for line in printed.splitlines()}, printed
        elif language == "toml":
            begun = (folder / "polybake.toml").read_text(encoding="utf-8")
            assert code.startswith(begun)  # what init wrote
            (folder / "polybake.toml").write_text(code, encoding="utf-8")
        elif language == "yaml":
            action = yaml.safe_load((REPOSITORY / "action.yml").read_text(encoding="utf-8"))
            (step,) = (one for one in yaml.safe_load(code) if "with" in one)
            assert step["with"].keys() <= action["inputs"].keys()
        else:
            client = {"ruby": "ruby", "js": "node"}[language]
            readme = (folder / "clients" / client / "README.md").read_text(encoding="utf-8")
            assert code.replace("build/minilm", "minilm") in readme


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
