"""The device and the threads that embed."""

from __future__ import annotations

from pathlib import Path

import onnxruntime as ort
import pytest

from polybake.bulk.embed.machine import Machine
from polybake.errors import InputError, RequirementMissing
from polybake.runtime.processors import processors


def test_threads_are_batches_side_by_side(every_feed: Path) -> None:
    """Each batch has one thread, so that vectors do not depend on the number of processors."""
    for threads in (None, 1, processors()):
        runner = Machine(threads=threads).open(every_feed).runner
        assert runner.at_once == (threads or processors())
        assert runner.session.get_session_options().intra_op_num_threads == 1


@pytest.mark.parametrize("threads", [0, -1, 10**6])
def test_threads_beyond_the_processors_are_refused(every_feed: Path, threads: int) -> None:
    """The message says how many threads the machine allows."""
    with pytest.raises(InputError, match=f"--threads {threads}: expected 1 to {processors()}, the"):
        Machine(threads=threads).open(every_feed)


def test_another_device_is_not_replaced(every_feed: Path) -> None:
    """A device that is unknown or missing never falls back to the CPU."""
    with pytest.raises(InputError, match="unknown device 'tpu'; choose one of: cpu, cuda"):
        Machine("tpu").open(every_feed)
    if "CUDAExecutionProvider" not in ort.get_available_providers():
        with pytest.raises(RequirementMissing, match="CUDAExecutionProvider is not available"):
            Machine("cuda").open(every_feed)
