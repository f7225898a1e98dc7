"""Triton's own server, as nvidia-pytriton brings it: its core and its Python backend.

It has no ONNX Runtime backend, so a Python model of the same configuration stands in for that one.
"""

import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
import sysconfig
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

#: Seconds until a server is ready; Python models import NumPy first.
PATIENCE = 120

STAND_IN = """
import json
from pathlib import Path

import onnxruntime
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        path = str(Path(__file__).with_name("model.onnx"))
        self.session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        self.outputs = [one["name"] for one in json.loads(args["model_config"])["output"]]

    def execute(self, requests):
        return [self.response(request) for request in requests]

    def response(self, request):
        names = [one.name for one in self.session.get_inputs()]
        fed = {n: pb_utils.get_input_tensor_by_name(request, n).as_numpy() for n in names}
        found = zip(self.outputs, self.session.run(self.outputs, fed))
        return pb_utils.InferenceResponse([pb_utils.Tensor(*one) for one in found])
"""


@dataclass(frozen=True)
class Triton:
    """A server that is ready.

    Attributes:
        url: Where it listens.
    """

    url: str

    def infer(self, model: str, **body: Any) -> dict[str, Any]:
        """The answer to a request, or what is wrong with it under ``error``."""
        request = urllib.request.Request(  # noqa: S310 - the test's own server
            f"{self.url}/v2/models/{model}/infer", json.dumps(body).encode()
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
                return json.load(answer)
        except urllib.error.HTTPError as error:
            return json.load(error)


def server_folder() -> Path:
    """Where the server lies; skips the test where there is none."""
    found = importlib.util.find_spec("pytriton")
    if found is None or found.origin is None:
        pytest.skip("Triton's server is missing: pip install nvidia-pytriton")
    return Path(found.origin).parent / "tritonserver"


@contextmanager
def triton(repository: Path, folder: Path) -> Iterator[Triton]:
    """A server of a repository that polybake wrote, which ends with the block.

    Args:
        repository: Is left as it is.
        folder: An empty one to work in.
    """
    server = server_folder()
    models, backend = folder / "models", folder / "backends" / "python"
    shutil.copytree(repository, models)
    for encoder in models.glob("*_encoder"):
        config = encoder / "config.pbtxt"
        text = config.read_text()
        assert 'platform: "onnxruntime_onnx"' in text
        config.write_text(text.replace('platform: "onnxruntime_onnx"', 'backend: "python"'))
        (encoder / "1" / "model.py").write_text(STAND_IN)
    shutil.copytree(server / "backends" / "python", backend)
    version = "{}.{}".format(*sys.version_info)
    stub = server / "python_backend_stubs" / version / "triton_python_backend_stub"
    shutil.copyfile(stub, backend / stub.name)
    (backend / stub.name).chmod(0o755)
    libraries = [
        sysconfig.get_config_var("LIBDIR"),
        str(server.parents[1] / "nvidia_pytriton.libs"),
    ]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = folder / "log"
    with log.open("w") as lines:
        process = subprocess.Popen(
            [
                str(server / "bin" / "tritonserver"),
                f"--model-repository={models}",
                f"--backend-directory={folder / 'backends'}",
                "--http-address=127.0.0.1",
                f"--http-port={port}",
                "--allow-grpc=false",
                "--allow-metrics=false",
            ],
            stdout=lines,
            stderr=subprocess.STDOUT,
            env=os.environ
            | {
                "LD_LIBRARY_PATH": ":".join(libraries),
                "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
                "ORT_DISABLE_TELEMETRY": "1",
            },
        )
    ready = Triton(f"http://127.0.0.1:{port}")
    try:
        _wait(ready, process, log)
        yield ready
    finally:
        process.terminate()
        process.wait(60)


def _wait(server: Triton, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        try:
            urllib.request.urlopen(f"{server.url}/v2/health/ready", timeout=5).close()  # noqa: S310
        except OSError:
            time.sleep(0.2)
        else:
            return
    pytest.fail(log.read_text(errors="replace"))
