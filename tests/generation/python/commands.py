"""What an environment runs in a Python client's folder: scripts, checkers, and its own tests."""

from pathlib import Path

from support.clients.rendered import run

#: Tests of what depends on the model; the others are run with one model alone.
OF_VECTORS = ("tests/test_embedder.py", "tests/test_session.py", "tests/test_self_check.py")


def run_script(
    python: Path, client: Path, script: str, *arguments: str | Path, **environment: str
) -> str:
    """Run a script beside the client's package, two minutes at most; everything that it prints."""
    command = ["timeout", "--kill-after=5", "120", python, "-c", script, *arguments]
    return run(*command, cwd=client, PYTHONPATH="src", **environment)


def check_clean(python: Path, client: Path, *, types: bool = True) -> None:
    """Ruff has nothing to change or to say, and mypy nothing of types."""
    run(python, "-m", "ruff", "format", "--check", ".", cwd=client)
    run(python, "-m", "ruff", "check", ".", cwd=client)
    if types:
        cache = f"--cache-dir={python.parent}/mypy-cache"
        run(python, "-m", "mypy", cache, "src", "harness", cwd=client)


def run_its_tests(python: Path, client: Path, model: Path, *tests: str) -> str:
    environment = {"POLYBAKE_MODEL": str(model), "PYTHONPATH": "src"}
    return run(python, "-m", "pytest", "-q", "-x", *(tests or ["tests"]), cwd=client, **environment)
