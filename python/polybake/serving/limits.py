"""How much is served at once, and for how long."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Limits of a service.

    Attributes:
        texts: Of a request.
        body: Bytes of a request.
        requests: At work at a time; more are refused.
        waiting: Tokens of each model that may wait; more are refused.
        wait: Seconds that a row waits for others to fill its batch.
        timeout: Seconds of a request.
    """

    texts: int = 2048
    body: int = 16 * 2**20
    requests: int = 1024
    waiting: int = 131_072
    wait: float = 0.002
    timeout: float = 60.0
