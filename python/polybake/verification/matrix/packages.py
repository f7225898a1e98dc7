"""The command that puts other versions of runtime and tokenizer into a prepared client."""

from polybake.errors import InputError
from polybake.verification.harness.harness_file import Client
from polybake.verification.matrix.combination import Combination

#: Languages whose clients take other versions than those that they ask for.
LANGUAGES = ("python", "node")

#: What a polybake.toml calls the newest version that the registry has.
NEWEST = "newest"


def install_commands(client: Client, combination: Combination) -> tuple[tuple[str, ...], ...]:
    """What to run after the client's own prepare commands; nothing without a version.

    ``client`` is the one of the combination's device.

    Raises:
        InputError: a version is given, and the language is none of `LANGUAGES`.
    """
    language, runtime, tokenizer = client.language, combination.runtime, combination.tokenizer
    if runtime is None and tokenizer is None:
        return ()
    if language == "python":
        name = "onnxruntime" if combination.device == "cpu" else "onnxruntime-gpu[cuda,cudnn]"
        # The client asks for a range of versions; what is installed by itself may leave it.
        pip = (client.run[0], "-m", "pip", "install", "--quiet", "--upgrade")
        return ((*pip, *_wanted(((name, runtime), ("tokenizers", tokenizer)), "==", "")),)
    if language == "node":
        npm = ("npm", "install", "--no-audit", "--no-fund")
        wanted = _wanted((("onnxruntime-node", runtime), ("tokenizers", tokenizer)), "@", "@latest")
        # Its script brings CUDA, and asks older versions' own variable whether to.
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
