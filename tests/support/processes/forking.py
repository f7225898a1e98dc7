"""A process that has imported ONNX's libraries, and runs each command of polybake in a fork.

These libraries take two seconds to import, most of them in sympy. Nothing of polybake and no
runtime is imported before the fork, so that a fork can be without them.

A request is a line of JSON: ``arguments``, ``hidden`` packages, ``folder``, ``environment``, and
the paths ``out`` and ``err`` of files for what the command prints. The answer is a line with its
exit code.
"""

from __future__ import annotations

import json
import os
import runpy
import sys

import onnx  # noqa: F401
import onnxscript  # noqa: F401


def become(request: dict[str, object]) -> None:
    """Turn this fork into a command that was just started; it ends as Python itself ends."""
    for number, path in ((1, request["out"]), (2, request["err"])):
        file = os.open(str(path), os.O_WRONLY)
        os.dup2(file, number)
        os.close(file)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.environ.clear()
    os.environ.update(request["environment"])  # type: ignore[call-overload]
    os.chdir(str(request["folder"]))
    sys.argv = ["polybake", *request["arguments"]]  # type: ignore[misc]
    sys.modules.update(dict.fromkeys(request["hidden"]))  # type: ignore[call-overload]
    runpy.run_module("polybake.cli.main", run_name="__main__", alter_sys=True)


def main() -> None:
    """Answer requests until there are no more."""
    while request := sys.stdin.buffer.readline():
        child = os.fork()
        if not child:
            become(json.loads(request))
            return
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
