"""Sessions whose provider is the one asked for, and runs that take too long."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import numpy as np
import onnx.parser
import onnxruntime as ort
import pytest

from models.onnx.tiny_onnx import encoder, write_encoder
from polybake.errors import CheckFailed, InputError, RequirementMissing
from polybake.runtime.processors import processors
from polybake.runtime.session import TimeLimit, open_session, run


def test_opens_on_the_cpu(tmp_path: Path) -> None:
    """A path and bytes open on the CPU with the threads asked for."""
    path = write_encoder(tmp_path)
    for model in (path, path.read_bytes()):
        session = open_session(model, threads=1)
        assert session.get_providers() == ["CPUExecutionProvider"]
        assert session.get_session_options().intra_op_num_threads == 1


def test_unknown_device(tmp_path: Path) -> None:
    """A device that does not exist is an error with the choices."""
    with pytest.raises(InputError, match="unknown device 'tpu'; choose one of: cpu, cuda"):
        open_session(write_encoder(tmp_path), "tpu")


@pytest.mark.skipif(
    "CUDAExecutionProvider" in ort.get_available_providers(), reason="this runtime has CUDA"
)
def test_no_fall_back_from_cuda(tmp_path: Path) -> None:
    """CUDA that is not there is an error naming the package, never a run on the CPU."""
    with pytest.raises(RequirementMissing, match=r"CUDAExecutionProvider is not .*onnxruntime-gpu"):
        open_session(write_encoder(tmp_path), "cuda")


def test_what_fails_on_a_gpu_is_not_repeated_on_the_cpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ONNX Runtime would by default repeat it, and print so to standard output."""
    told = {}

    def opened(*_: object, **keywords: object) -> object:
        told.update(keywords)
        raise RuntimeError("no GPU")

    monkeypatch.setattr(ort, "get_available_providers", lambda: ["CUDAExecutionProvider"])
    monkeypatch.setattr(ort, "InferenceSession", opened)
    with pytest.raises(InputError, match="no GPU"):
        open_session(write_encoder(tmp_path), "cuda")
    [(provider, settings)] = told["providers"]
    assert (provider, settings["use_tf32"]) == ("CUDAExecutionProvider", "0")
    assert told["enable_fallback"] == 0


def test_names_a_model_that_does_not_load(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A file that ONNX Runtime refuses is one line with its reason, and nothing on the console."""
    path = tmp_path / "broken.onnx"
    path.write_bytes(encoder().SerializeToString()[:-30])
    with pytest.raises(InputError, match=r"broken\.onnx: ONNX Runtime .* does not load") as raised:
        open_session(path)
    assert "\n" not in str(raised.value)
    with pytest.raises(InputError, match=r"^models/own: ONNX Runtime .* does not load"):
        open_session(path, name="models/own")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("threads", [0, -1, processors() + 1, 100_000])
def test_threads_are_those_that_can_run(tmp_path: Path, threads: int) -> None:
    """A request for a hundred thousand threads would take a machine down."""
    shown = rf"threads is {threads}; expected 1 to {processors()}, the processors that"
    with pytest.raises(InputError, match=shown):
        open_session(write_encoder(tmp_path), threads=threads)


def test_waiting_threads_do_not_spin(tmp_path: Path) -> None:
    """Spinning threads would take half the throughput of a busy machine."""
    options = open_session(write_encoder(tmp_path)).get_session_options()
    assert options.get_session_config_entry("session.intra_op.allow_spinning") == "0"


def test_a_limited_process_has_as_many_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ONNX Runtime's own default is made of the whole machine's processors."""
    path = write_encoder(tmp_path)
    assert open_session(path).get_session_options().intra_op_num_threads == 0
    monkeypatch.setattr("polybake.runtime.session.limited", lambda: True)
    monkeypatch.setattr("polybake.runtime.session.processors", lambda: 1)
    assert open_session(path).get_session_options().intra_op_num_threads == 1


ENDLESS = """
<ir_version: 8, opset_import: ["" : 18]>
endless (int64[1] x) => (int64[1] y) {
    always = Constant <value = bool {1}> ()
    y = Loop (, always, x) <body = loop (int64 i, bool go, int64[1] a) => (bool go_on, int64[1] b) {
        go_on = Identity (go)
        b = Identity (a)
    }>
}
"""


FAILING = """
<ir_version: 8, opset_import: ["" : 18]>
failing (int64[1] x) => (NODE
"""


@pytest.mark.parametrize(
    ("node", "x", "remedy"),
    [
        ("float[2] y) <float[3, 2] t = {1, 2, 3, 4, 5, 6}> { y = Gather (t, x) }", 7, "tokenizer"),
        ("float[n] y) { y = ConstantOfShape (x) }", 2**45, "memory"),
        ("int64[2] y) <int64[1] s = {2}> { y = Reshape (x, s) }", 1, "export it again"),
    ],
)
def test_a_run_that_fails_says_what_helps(node: str, x: int, remedy: str) -> None:
    """Only wrong ids are blamed on the tokenizer; a lack of memory is named as such."""
    session = open_session(
        onnx.parser.parse_model(FAILING.replace("NODE", node)).SerializeToString()
    )
    with pytest.raises(CheckFailed, match=r"does not run on x \[1\] \(.+\); ") as raised:
        run(session, ["y"], {"x": np.array([x])})
    told = str(raised.value).rpartition("; ")[2]
    assert [word for word in ("tokenizer", "memory", "export it again") if word in told] == [remedy]


def test_a_run_without_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """A graph may come from anywhere, and hold a loop that goes on for ever."""
    model = onnx.parser.parse_model(ENDLESS)
    session = open_session(model.SerializeToString())
    monkeypatch.setattr("polybake.runtime.session.TIME_LIMIT", TimeLimit(0.5))
    with pytest.raises(CheckFailed, match=r"does not end on x \[1\] within 0.5 seconds; export"):
        run(session, ["y"], {"x": np.zeros(1, np.int64)})


def ended(options: ort.RunOptions) -> bool:
    """Whether a run is ended within a few seconds."""
    last = time.monotonic() + 9
    while not options.terminate and time.monotonic() < last:
        time.sleep(0.01)
    return options.terminate


def test_ends_what_takes_longer() -> None:
    """Each run is ended by its own time, whatever others do, and one thread looks after all."""
    limit = TimeLimit(0.2)
    with limit.options() as long:
        threads = threading.active_count()
        assert ended(long)
        with limit.options() as short:
            assert not short.terminate
            assert threading.active_count() == threads


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_is_watched() -> None:
    """A forked process has no thread of its parent, so it starts its own."""
    limit = TimeLimit(0.1)
    with limit.options():
        pass
    child = os.fork()
    if not child:
        with limit.options() as options:
            os._exit(0 if ended(options) else 1)
    assert os.waitpid(child, 0)[1] == 0
