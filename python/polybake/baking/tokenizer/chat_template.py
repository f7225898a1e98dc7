"""Render a model's chat template in a separate process, whose program is this file.

A template is a program of whoever made the model: it may take forever, or all memory. So it gets a
process with limits, which imports only Jinja, and in it the sandbox that transformers has for it.

Source: transformers ``render_jinja_template``.
"""

import contextlib
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

#: Far more than any template takes, with the start of Python on a busy machine.
_SECONDS = 60
#: Bytes of memory, and characters of all that is rendered together.
_MEMORY, _LARGEST = 1 << 30, 1 << 20

Conversation = Sequence[Mapping[str, object]]


def rendered(
    template: str, conversations: Sequence[Conversation], variables: Mapping[str, object]
) -> list[str]:
    """Render conversations with a chat template."""
    # With -P neither the working folder nor this file's is searched for modules.
    command = [sys.executable, "-P", str(Path(__file__))]
    request = json.dumps([template, conversations, variables])
    try:
        done = subprocess.run(  # noqa: S603 - this file
            command, input=request.encode(), capture_output=True, timeout=_SECONDS
        )
        answer = (
            json.loads(done.stdout) if done.stdout else "it ended early, or took too much memory"
        )
    except subprocess.TimeoutExpired:
        answer = f"it took more than {_SECONDS} seconds"
    if isinstance(answer, str):
        raise ValueError(answer)
    texts: list[str] = answer
    return texts


def _fail(message: str) -> None:
    raise ValueError(message)


def _render(template: str, conversations: Sequence[Conversation], more: Any) -> list[str]:
    from jinja2.ext import loopcontrols
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    jinja = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols]
    )
    # Jinja's own tojson escapes HTML.
    jinja.filters["tojson"] = lambda value, **options: json.dumps(
        value, **({"ensure_ascii": False} | options)
    )
    jinja.globals["raise_exception"] = _fail
    jinja.globals["strftime_now"] = lambda _: _fail("it writes the day on which it is rendered")
    renderer = jinja.from_string(template)
    texts, room = [], _LARGEST
    for messages in conversations:
        parts = []
        for part in renderer.generate(messages=messages, **more):
            room -= len(part)
            if room < 0:
                raise ValueError(f"it renders more than {_LARGEST} characters")
            parts.append(part)
        texts.append("".join(parts))
    return texts


if __name__ == "__main__":
    if sys.platform != "win32":  # which has no such limits
        import resource

        with contextlib.suppress(ValueError):  # macOS refuses this one
            resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    try:
        answer: object = _render(*json.load(sys.stdin))
    except Exception as error:  # whatever a template does
        answer = f"{type(error).__name__}: {error}"[:200]
    json.dump(answer, sys.stdout)
