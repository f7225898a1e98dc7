"""Signatures of model files by the user's own keys.

Source: OpenSSF Model Signing, https://github.com/sigstore/model-transparency. With own keys neither
signing nor verifying contacts Sigstore's services.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from model_signing import signing, verifying

from polybake.base.files.atomic import replacing
from polybake.base.files.scratch import Scratch
from polybake.errors import CheckFailed, InputError

_KEYS = "a PEM file of an elliptic key (P-256, P-384 or P-521)"


def sign(model: Path, private_key: Path, signature: Path) -> None:
    """Sign a model file.

    Args:
        model: The file; for a link, its target.
        private_key: A PEM file, not encrypted.
        signature: The file to write, a Sigstore bundle as JSON.

    Raises:
        InputError: The key cannot sign, or a file cannot be read or written.
    """
    if signature.resolve() in (model.resolve(), private_key.resolve()):
        raise InputError(f"{signature}: is what is signed, or the key; choose another output")
    with _usable(private_key, "private"):
        config = signing.Config().use_elliptic_key_signer(private_key=private_key)
    with Scratch() as folder:
        made = Path(folder) / "signature"
        config.sign(model.resolve(), made)
        with replacing(signature) as file:
            file.write(made.read_bytes())


def check_signature(model: Path, signature: Path, public_key: Path) -> None:
    """Check that the holder of a key signed this model file.

    Raises:
        CheckFailed: The file was changed, the key is wrong, or the signature is damaged.
        InputError: The key cannot verify, or a file cannot be read.
    """
    with _usable(public_key, "public"):
        config = verifying.Config().use_elliptic_key_verifier(public_key=public_key)
    for path in (model, signature):
        _check_readable(path)
    try:
        config.verify(model.resolve(), signature)
    except Exception as error:  # a file that is no bundle fails wherever it is first read
        raise CheckFailed(_refusal(str(error), model, signature, public_key)) from error


def _refusal(reason: str, model: Path, signature: Path, public_key: Path) -> str:
    if reason.startswith("Signature mismatch"):
        return f"{model}: is not the file that {signature} signs; copy both again"
    if reason.startswith("Key mismatch"):
        return f"{signature}: was made with another key than {public_key}; ask the signer"
    return f"{signature}: is damaged, or no signature; copy it again"


@contextmanager
def _usable(key: Path, kind: str) -> Iterator[None]:
    """Turn the library's refusals of a key into errors that say what it should be."""
    _check_readable(key)
    try:
        yield
    except TypeError as error:  # model-signing 1.1 cannot use a password: it needs bytes, takes str
        raise InputError(
            f"{key}: is encrypted; give a {kind} key without a password, from a place that keeps "
            "secrets"
        ) from error
    except Exception as error:  # cryptography names each fault by another class
        raise InputError(f"{key}: is no {kind} key that can be used; give {_KEYS}") from error


def _check_readable(path: Path) -> None:
    try:
        path.open("rb").close()
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror}); check that it exists and is yours to read"
        ) from error
