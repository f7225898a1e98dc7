"""deploy/kubernetes.yaml: what it says of the service and the image is true."""

from __future__ import annotations

import pytest

from polybake.serving.app import create_app
from polybake.serving.limits import Limits
from polybake.serving.models import Models
from support.servers.deployment import instructions, resources, serve_default, words

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


def test_there_is_time_to_drain() -> None:
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
