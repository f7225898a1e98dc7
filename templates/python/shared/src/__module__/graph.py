"""What a graph runs on: an execution provider, and so many processors."""

import math
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from .errors import DeviceError, ModelError

# From 1.29 on, onnxruntime sends telemetry unless this is set before it is imported.
if not os.environ.get("ORT_DISABLE_TELEMETRY"):
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"

try:
    import onnxruntime
except ModuleNotFoundError as error:
    raise ImportError(
        f"{__package__} needs onnxruntime, which its extras bring; "
        'in the folder of its pyproject.toml: pip install ".[cpu]", or ".[gpu]" for CUDA'
    ) from error

__all__ = ["BUDGETS", "PROVIDERS", "onnxruntime", "open_graph", "processors"]

PROVIDERS = {"cpu": "CPUExecutionProvider", "cuda": "CUDAExecutionProvider"}

#: The most tokens of one batch.
BUDGETS = {"cpu": 512, "cuda": 16_384}

_CUDA = {
    "use_tf32": "0",  # it would round the factors of a product to 10 bits
    "arena_extend_strategy": "kSameAsRequested",  # powers of two would take twice the memory
    "cudnn_conv_algo_search": "HEURISTIC",  # the default tries every algorithm at each new shape
}


def open_graph(path: str, device: str, threads: int) -> Any:
    """An onnxruntime session on the device, and on no other.

    Raises:
        ModelError: the graph cannot be loaded.
        DeviceError: the device is not there.
    """
    provider = PROVIDERS[device]
    if provider not in onnxruntime.get_available_providers():
        raise DeviceError(
            f'device "{device}" needs {provider}, which the installed onnxruntime lacks; '
            'uninstall onnxruntime, then in the folder of this client: pip install ".[gpu]"'
        )
    if device == "cuda":
        onnxruntime.preload_dlls()
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = threads
    # Threads that spin while they wait halve the speed of a busy machine.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # So that onnxruntime can be asked which provider has which node.
    options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    providers = [(provider, _CUDA if device == "cuda" else {})]
    try:
        # By itself onnxruntime would fall back to the CPU, here or at a later run.
        graph = onnxruntime.InferenceSession(path, options, providers, enable_fallback=0)
    except Exception as error:
        if device == "cpu":
            raise ModelError(f"{path}: onnxruntime cannot load the graph: {error}") from error
        raise _not_started(device, error) from error
    if graph.get_providers()[0] != provider:
        raise _not_started(device, f"onnxruntime took {graph.get_providers()[0]}")
    return graph


def _not_started(device: str, reason: object) -> DeviceError:
    remedy = "check the GPU driver and the CUDA libraries"
    return DeviceError(f'device "{device}" could not be started ({reason}); {remedy}')


def processors() -> int:
    """Those of this process's affinity mask, or fewer where its control group grants less time."""
    allowed = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    with suppress(OSError, ValueError):  # cpu.max has "150000 100000", or "max 100000" for no limit
        group = Path("/proc/self/cgroup").read_text().rpartition("0::/")[2].strip()
        quota, period = Path("/sys/fs/cgroup", group, "cpu.max").read_text().split()
        allowed = min(allowed, math.ceil(int(quota) / int(period)))
    return allowed
