"""The pytest plugin: ``pytest polybake.toml`` has a test for every stage of every case.

Every run of pytest loads this file if polybake is installed. So it imports nothing else of
polybake until a polybake.toml is among the arguments.
"""

from pathlib import Path

import pytest

PREPARE = "--polybake-prepare"

#: The modes of pytest-xdist that keep the tests of a file in one process.
_SAFE = ("no", "loadfile")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the only option; polybake.toml sets everything else."""
    parser.getgroup("polybake").addoption(
        PREPARE,
        action="store_true",
        help="First install the packages of each client of polybake.toml.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Refuse to let several processes install the packages of the same client."""
    dist = config.getoption("dist", "no")
    if config.getoption(PREPARE) and dist not in _SAFE:
        raise pytest.UsageError(
            f"{PREPARE} with --dist {dist}: expected --dist loadfile, "
            "by which one process has all tests of a polybake.toml"
        )


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a polybake.toml only if it is an argument or in ``testpaths``."""
    if file_path.name != "polybake.toml" or not parent.session.isinitpath(file_path):
        return None
    from polybake.verification.testing.client_tests import Target

    prepare = parent.config.getoption(PREPARE)
    return Target.from_parent(parent, path=file_path, prepare=prepare)
