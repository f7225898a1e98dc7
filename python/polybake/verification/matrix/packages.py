"""The command that puts other versions of runtime and tokenizer into a prepared client."""

from polybake.errors import InputError
from polybake.verification.harness.harness_file import Client
from polybake.verification.matrix.combination import Combination

#: Languages whose clients can run with other versions than they ask for.
LANGUAGES = ("python", "node")

#: The word in a polybake.toml for the newest version in the registry.
NEWEST = "newest"


def install_commands(client: Client, combination: Combination) -> tuple[tuple[str, ...], ...]:
    """Return the commands after the client's own prepare commands; none without a version.

    ``client`` is the client for the combination's device.

    Raises:
        InputError: A version is set, and the language is not in `LANGUAGES`.
    """
    language, runtime, tokenizer = client.language, combination.runtime, combination.tokenizer
    if runtime is None and tokenizer is None:
        return ()
    if language == "python":
        name = "onnxruntime" if combination.device == "cpu" else "onnxruntime-gpu[cuda,cudnn]"
        # The client asks for a range of versions; a separate install may leave the range.
        pip = (client.run[0], "-m", "pip", "install", "--quiet", "--upgrade")
        return ((*pip, *_wanted(((name, runtime), ("tokenizers", tokenizer)), "==", "")),)
    if language == "node":
        npm = ("npm", "install", "--no-audit", "--no-fund")
        wanted = _wanted((("onnxruntime-node", runtime), ("tokenizers", tokenizer)), "@", "@latest")
        # Its script downloads CUDA; in older versions a variable of its own controls that.
        install = (*npm, "--ignore-scripts", *wanted)
        if combination.device == "cpu":
            return (install,)
        return (install, ("npm", "rebuild", "onnxruntime-node"))
    raise InputError(
        f"verify.matrix: {language} with runtimes or tokenizers; versions can be chosen for: "
        f"{', '.join(LANGUAGES)}; leave both out for {language}"
    )


def _wanted(
    packages: tuple[tuple[str, str | None], ...], exactly: str, newest: str
) -> tuple[str, ...]:
    return tuple(
        f"{name}{newest}" if version == NEWEST else f"{name}{exactly}{version}"
        for name, version in packages
        if version is not None
    )
