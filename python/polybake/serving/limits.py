"""How much is served at once, and for how long."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Limits of a service.

    Attributes:
        texts: Of a request.
        body: Bytes of a request.
        bodies: Bytes of all requests that arrive or are at work.
        requests: At work at a time; more are refused.
        connections: Open at a time; for more, ones are closed whose request is not whole.
        waiting: Tokens of each model that may wait; more are refused.
        wait: Seconds that a row waits for others to fill its batch.
        head: Seconds that the headers of a request have to arrive.
        receive: Seconds that its body has.
        timeout: Seconds of a request that is whole.
    """

    texts: int = 2048
    body: int = 16 * 2**20
    bodies: int = 64 * 2**20
    requests: int = 1024
    connections: int = 2048
    waiting: int = 131_072
    wait: float = 0.002
    head: float = 10.0
    receive: float = 30.0
    timeout: float = 60.0
