"""How much is served at once, and for how long."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """The limits of a service.

    Attributes:
        texts: The most texts of a request.
        body: The most bytes of a request.
        bodies: The most bytes of all requests that arrive or are at work.
        requests: The most requests at work; more are refused.
        connections: The most open connections; for more, connections with an unfinished request
            are closed.
        waiting: The most tokens that may wait for a model; more are refused.
        wait: Seconds that a row waits for others to fill its batch.
        head: Seconds in which the headers of a request must arrive.
        receive: Seconds in which the body of a request must arrive.
        timeout: Seconds in which a whole request must be answered.
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
