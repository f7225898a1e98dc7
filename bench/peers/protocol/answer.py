"""How a Python runner answers the driver: one line of JSON for each line that asks.

``{"texts": [...], "calls": 3, "vectors": "file" or null}`` is answered by ``{"seconds": [...]}``,
the time of each call alone. The first line is the runner's own: the versions of what it runs.
"""

import json
import sys
import time
from collections.abc import Callable
from importlib.metadata import version

import numpy as np


def answer(embed: Callable[[list[str]], object], packages: list[str]) -> None:
    """Embed what is asked for, until the driver closes the pipe."""
    say({"versions": {name: version(name) for name in packages}})
    for line in sys.stdin:
        request = json.loads(line)
        seconds, vectors = [], None
        for _ in range(request["calls"]):
            begin = time.perf_counter()
            vectors = embed(request["texts"])
            seconds.append(time.perf_counter() - begin)
        if request["vectors"]:
            np.asarray(vectors, "<f4").tofile(request["vectors"])
        say({"seconds": seconds})


def say(message: dict[str, object]) -> None:
    """Write one line."""
    print(json.dumps(message), flush=True)
