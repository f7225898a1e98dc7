"""deploy/compose.yaml: what it says of the service and the image is true."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from support.servers.deployment import DEPLOY, instructions, serve_default, services, words


def test_it_builds_the_image_that_is_here() -> None:
    """A path to a missing file would show only when somebody builds."""
    build = services()["embeddings"]["build"]
    assert (DEPLOY / build["context"] / build["dockerfile"]).is_file()


def test_the_model_is_mounted_where_the_image_looks_for_it() -> None:
    """The model's folder is mounted read-only."""
    (volume,) = services()["embeddings"]["volumes"]
    _, place, rights = volume.split(":")
    assert [place] == [str(PurePosixPath(model).parent) for model in words("CMD")]
    assert rights == "ro"


def test_only_this_machine_reaches_it() -> None:
    """The service has neither keys nor TLS, so only this machine may reach it."""
    (port,) = services()["embeddings"]["ports"]
    assert port == f"127.0.0.1:8080:{instructions('EXPOSE')[0]}"
    assert "ports" not in services()["database"]


def test_there_is_time_to_drain() -> None:
    """The default of Compose, 10 seconds, is too short."""
    period = services()["embeddings"]["stop_grace_period"]
    assert int(period.removesuffix("s")) > serve_default("drain")


def test_the_image_is_run_as_it_was_made_to_be() -> None:
    """The service runs as the image's own user, on a read-only file system."""
    assert [services()["embeddings"]["user"]] == instructions("USER")
    assert services()["embeddings"]["read_only"]


@pytest.mark.parametrize("name", services())
def test_no_service_may_do_more(name: str) -> None:
    """Each service runs without root and capabilities, and reports its health."""
    service = services()[name]
    assert service["user"] not in ("root", "0")
    assert service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]
    assert service["healthcheck"]
