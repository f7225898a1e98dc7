"""The job for GitLab: what its script runs, and what it keeps."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from faulty.subject import SubjectFiles
from support.clients.programs import RECIPES

JOB = yaml.safe_load((RECIPES / "ci/gitlab-ci.yml").read_text(encoding="utf-8"))["verify"]


@pytest.mark.slow
@pytest.mark.parametrize(("fault", "code"), [("none", 0), ("OneFloatOff", 1)])
def test_the_report_is_kept(subject: SubjectFiles, tmp_path: Path, fault: str, code: int) -> None:
    """Its last line judges the client as it stands, and writes what GitLab shows, drift or not."""
    subject.write_client(tmp_path / "clients/ruby", fault, language="ruby")
    (tmp_path / "build").mkdir()
    (tmp_path / "build/minilm.onnx").symlink_to(subject.model)
    program, *arguments = shlex.split(JOB["script"][-1])
    assert program.endswith("/bin/polybake")
    command = [sys.executable, "-m", "polybake.cli.main", *arguments]
    assert subprocess.run(command, cwd=tmp_path, check=False).returncode == code
    assert JOB["artifacts"]["when"] == "always"
    assert (tmp_path / JOB["artifacts"]["reports"]["junit"]).is_file()
