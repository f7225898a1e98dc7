"""Numbers for Prometheus."""

from collections.abc import Callable
from functools import partial

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)

from polybake.serving.models import Models
from polybake.serving.work import Work

_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)


class Metrics:
    """The metrics of a service.

    Attributes:
        inside: The number of requests at work.
    """

    def __init__(self, models: Models) -> None:
        self._registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        self._requests = Counter(
            "polybake_requests", "Requests.", ["path", "status"], registry=registry
        )
        self._seconds = Histogram(
            "polybake_request_seconds", "Seconds of a request.", ["path"], registry=registry
        )
        self.inside = Gauge("polybake_requests_in_flight", "Requests at work.", registry=registry)
        self._texts = Counter("polybake_texts", "Texts done.", ["model"], registry=registry)
        self._tokens = Counter("polybake_tokens", "Tokens done.", ["model"], registry=registry)
        self._at_limit = Counter(
            "polybake_texts_at_limit",
            "Texts with as many tokens as the model takes, as those have that were cut.",
            ["model"],
            registry=registry,
        )
        self._batches = Histogram(
            "polybake_batch_texts",
            "Texts of a batch.",
            ["model"],
            buckets=_SIZES,
            registry=registry,
        )
        waiting = Gauge(
            "polybake_waiting_tokens", "Tokens that wait.", ["model"], registry=registry
        )
        facts = Gauge(
            "polybake_model", "Models served.", ["model", "fingerprint"], registry=registry
        )
        for model in models:
            waiting.labels(model.name).set_function(partial(getattr, model, "waiting"))
            facts.labels(model.name, model.manifest.fingerprint).set(1)
            for counter in (self._texts, self._tokens, self._at_limit):
                counter.labels(model.name)

    def batches(self, model: str) -> Callable[[int], None]:
        """Return a function that counts the texts of each batch of a model."""
        observe: Callable[[int], None] = self._batches.labels(model).observe
        return observe

    def took(self, path: str, status: int, seconds: float, work: Work) -> None:
        """Count a request, and the work done for it."""
        self._requests.labels(path, str(status)).inc()
        self._seconds.labels(path).observe(seconds)
        if work.model and status == 200:
            self._texts.labels(work.model).inc(work.texts)
            self._tokens.labels(work.model).inc(work.tokens)
            self._at_limit.labels(work.model).inc(work.at_limit)

    def text(self) -> bytes:
        """All numbers, in Prometheus' own format."""
        return generate_latest(self._registry)
