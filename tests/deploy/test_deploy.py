"""deploy/: what it says of polybake, of the service and of the image is true."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path, PurePosixPath

import pytest
from packaging.requirements import Requirement

from polybake.serving.app import create_app
from polybake.serving.limits import Limits
from polybake.serving.models import Models
from support.processes.commandline import run
from support.servers.deployment import (
    DEPLOY,
    instructions,
    resources,
    serve_default,
    services,
    words,
)


def test_it_installs_the_wheel_beside_it() -> None:
    """The wheel is installed by path, as a name on a registry may be anybody's."""
    assert "polybake-*.whl /build/" in instructions("COPY")
    (install,) = (line for line in instructions("RUN") if "polybake-*.whl" in line)
    assert install.endswith("--no-deps /build/polybake-*.whl")


def test_without_a_model_it_says_where_one_is_missing(tmp_path: Path) -> None:
    """The command as it stands in the image, options included, is one that polybake takes."""
    command = words("ENTRYPOINT") + words("CMD")
    arguments = command[command.index("polybake") + 1 :]
    assert not Path(arguments[-1]).exists()
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"polybake: {arguments[-1]}: cannot be read")


def test_it_listens_where_it_says() -> None:
    """A container's address is not known, so it listens on all, at the default port of serve."""
    command = words("ENTRYPOINT")
    assert command[command.index("--host") + 1] == "0.0.0.0"  # noqa: S104
    assert instructions("EXPOSE") == [str(serve_default("port"))]


def test_nobody_in_it_is_root() -> None:
    """The last stage, which is kept, sets a user by number, so that Kubernetes can check it."""
    assert instructions("FROM")[-1] == "scratch"
    assert re.fullmatch(r"([1-9]\d+):([1-9]\d+)", instructions("USER")[-1])


def test_the_builder_is_sent_nothing_else() -> None:
    """Models and secrets that lie in the folder for compose.yaml stay out of every layer."""
    rules = (DEPLOY / ".dockerignore").read_text(encoding="utf-8").split()
    assert rules == ["*", "!requirements.txt", "!*.whl"]


PINS = (DEPLOY / "requirements.txt").read_text(encoding="utf-8")


def test_each_requirement_is_met(repository: Path) -> None:
    """An image without a package that pyproject.toml requires would build and not start."""
    project = tomllib.loads((repository / "pyproject.toml").read_text("utf-8"))["project"]
    pinned = dict(re.findall(r"^([\w-]+)==(\S+)", PINS, re.MULTILINE))
    for text in project["dependencies"] + project["optional-dependencies"]["serve"]:
        wanted = Requirement(text)
        assert wanted.specifier.contains(pinned[wanted.name]), text


def test_each_has_a_digest() -> None:
    """Pip refuses a file in which one digest is missing, which only a build would show."""
    for pin in re.split(r"\n(?=\w)", PINS)[1:]:
        assert re.search(r"--hash=sha256:[0-9a-f]{64}$", pin.strip()), pin


def test_what_downloads_models_is_left_out() -> None:
    """The hub's client comes with tokenizers; a service opens files that are there."""
    assert "huggingface" not in PINS


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


def test_compose_gives_time_to_drain() -> None:
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


POD = resources()["Deployment"]["spec"]["template"]["spec"]
(SERVE,) = POD["containers"]
PROBES = ["startupProbe", "readinessProbe", "livenessProbe"]


def test_its_schema() -> None:
    """Every resource is valid, and has no field that Kubernetes does not know."""
    kubernetes_validate = pytest.importorskip(
        "kubernetes_validate", reason="the schemas are missing; run nox -s container"
    )
    for resource in resources().values():
        kubernetes_validate.validate(resource, "1.30", strict=True)


def test_probes_ask_for_paths_that_there_are() -> None:
    """Probes ask whether it takes requests; a busy service is not killed for refusing some."""
    routes = create_app(Models([]), limits=Limits()).openapi()["paths"]
    paths = {probe: SERVE[probe]["httpGet"]["path"] for probe in PROBES}
    assert set(paths.values()) <= routes.keys()
    assert paths == dict.fromkeys(PROBES, "/health/ready") | {"livenessProbe": "/health/live"}


def test_one_port() -> None:
    """The container's port is the image's, and probes and Service call it by name."""
    (port,) = SERVE["ports"]
    assert str(port["containerPort"]) in instructions("EXPOSE")
    (outside,) = resources()["Service"]["spec"]["ports"]
    named = [SERVE[probe]["httpGet"]["port"] for probe in PROBES] + [outside["targetPort"]]
    assert set(named) == {port["name"]}


def test_labels_meet() -> None:
    """A selector that finds no pod is no error anywhere."""
    found = resources()
    labels = found["Deployment"]["spec"]["template"]["metadata"]["labels"]
    assert found["Deployment"]["spec"]["selector"]["matchLabels"] == labels
    assert found["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"] == labels
    assert found["Service"]["spec"]["selector"] == labels


def test_its_arguments_are_serves() -> None:
    """The arguments replace CMD; every option exists, and the file of keys is the secret's."""
    model, *options = SERVE["args"]
    assert [model] == words("CMD")
    given = dict(zip(options[::2], options[1::2], strict=True))
    for option in given:
        serve_default(option.removeprefix("--").replace("-", "_"))
    (mount,) = SERVE["volumeMounts"]
    assert given["--api-key-file"].startswith(mount["mountPath"] + "/")


def test_a_pod_has_time_to_drain() -> None:
    """A pod killed before --drain is over would leave requests without an answer."""
    before = SERVE["lifecycle"]["preStop"]["sleep"]["seconds"]
    assert POD["terminationGracePeriodSeconds"] > before + serve_default("drain")


def test_it_may_do_nothing_else() -> None:
    """The container has no root, no rights, nothing to write, and no more CPU than it counts."""
    context = POD["securityContext"]
    user = f"{context['runAsUser']}:{context['runAsGroup']}"
    assert [user] == instructions("USER")
    assert context["runAsNonRoot"]
    assert context["seccompProfile"] == {"type": "RuntimeDefault"}
    assert SERVE["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert SERVE["resources"]["requests"] == SERVE["resources"]["limits"]
