"""Runs that take too long are ended; all others go on."""

import os
import time

import pytest

from polybake.runtime.time_limit import TimeLimit


def test_ends_what_takes_longer() -> None:
    """Each run is ended by its own time, whatever others do."""
    limit = TimeLimit(0.3)
    with limit.options() as long:
        time.sleep(0.2)
        with limit.options() as short:
            time.sleep(0.2)
        assert long.terminate
        assert not short.terminate


def test_one_thread_looks_after_all() -> None:
    """A second run starts no second thread."""
    limit = TimeLimit(60)
    with limit.options():
        first = limit._watch
    with limit.options():
        assert limit._watch is first


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_is_watched() -> None:
    """A forked process has no thread of its parent, so it starts its own."""
    limit = TimeLimit(0.2)
    with limit.options():
        pass
    child = os.fork()
    if not child:
        with limit.options() as options:
            time.sleep(0.4)
        os._exit(0 if options.terminate else 1)
    assert os.waitpid(child, 0)[1] == 0
