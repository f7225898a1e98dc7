"""Numbers for Prometheus."""

from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from polybake.serving.models import Models


class Metrics:
    """What a service did, and what waits."""

    def __init__(self, models: Models) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "polybake_requests", "Requests.", ["path", "status"], registry=self._registry
        )
        self._seconds = Histogram(
            "polybake_request_seconds", "Seconds of a request.", ["path"], registry=self._registry
        )
        waiting = Gauge(
            "polybake_waiting_tokens", "Tokens that wait.", ["model"], registry=self._registry
        )
        facts = Gauge(
            "polybake_model", "Models served.", ["model", "fingerprint"], registry=self._registry
        )
        for model in models:
            waiting.labels(model.name).set_function(partial(getattr, model, "waiting"))
            facts.labels(model.name, model.manifest.fingerprint).set(1)

    def took(self, path: str, status: int, seconds: float) -> None:
        """Count a request."""
        self._requests.labels(path, str(status)).inc()
        self._seconds.labels(path).observe(seconds)

    def text(self) -> bytes:
        """All numbers, in Prometheus' own format."""
        return generate_latest(self._registry)
