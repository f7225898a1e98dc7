"""A local Ray cluster that tells nobody of itself."""

import os
import secrets
from collections.abc import Iterator

import pytest

# Both are read when Ray is imported, by its workers, too.
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)  # else Ray keeps one in the home


@pytest.fixture(scope="session")
def cluster() -> Iterator[None]:
    """Three workers at a time, and their data in their order."""
    import ray
    import ray.data

    ray.init(
        num_cpus=3, include_dashboard=False, log_to_driver=False, object_store_memory=200 * 2**20
    )
    context = ray.data.DataContext.get_current()
    context.execution_options.preserve_order = True
    context.enable_progress_bars = False
    yield
    ray.shutdown()
