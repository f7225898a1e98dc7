"""Signatures of OpenSSF Model Signing, which its own command line takes and gives."""

import json
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from polybake.errors import CheckFailed, InputError
from support.samples.keys import write_keys

pytest.importorskip("model_signing", reason="the extra sign is not installed")

from polybake.shipping.sign.signature import check_signature, sign


@pytest.fixture
def signed(every_feed: Path, tmp_path: Path) -> tuple[Path, Path, Path]:
    """A model file, its signature, and the signer's public key."""
    model, signature = tmp_path / "model.onnx", tmp_path / "model.onnx.sig"
    shutil.copyfile(every_feed, model)
    private, public = write_keys(tmp_path)
    sign(model, private, signature)
    return model, signature, public


def model_signing(*arguments: object) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "model_signing", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_library_s_own_command_line_verifies_ours(signed: tuple[Path, Path, Path]) -> None:
    """A file can be checked without polybake, by OpenSSF's tool."""
    model, signature, public = signed
    model_signing("verify", "key", model, "--signature", signature, "--public_key", public)


def test_ours_verifies_what_its_command_line_signs(every_feed: Path, tmp_path: Path) -> None:
    """A signature need not be made by polybake."""
    private, public = write_keys(tmp_path)
    signature = tmp_path / "by-others.sig"
    model_signing("sign", "key", every_feed, "--signature", signature, "--private_key", private)
    check_signature(every_feed, signature, public)


def test_a_link_is_what_it_leads_to(signed: tuple[Path, Path, Path], tmp_path: Path) -> None:
    """The library refuses links; a folder of links is how many people keep models."""
    model, signature, public = signed
    (tmp_path / "link.onnx").symlink_to(model)
    check_signature(tmp_path / "link.onnx", signature, public)


def test_neither_model_nor_key_is_written_over(every_feed: Path, tmp_path: Path) -> None:
    """An output that is the key, or a link to the model, is refused."""
    private, _ = write_keys(tmp_path)
    (tmp_path / "link.sig").symlink_to(every_feed)
    for signature in (private, tmp_path / "link.sig"):
        with pytest.raises(InputError, match="choose another output"):
            sign(every_feed, private, signature)


def test_a_changed_file_is_named(signed: tuple[Path, Path, Path]) -> None:
    """One bit more or less is another file, wherever it stands."""
    model, signature, public = signed
    data = bytearray(model.read_bytes())
    data[-1] ^= 1
    model.write_bytes(data)
    with pytest.raises(CheckFailed, match=r"model\.onnx: is not the file that .* signs; copy both"):
        check_signature(model, signature, public)


def test_a_borrowed_hint_does_not_help(signed: tuple[Path, Path, Path], tmp_path: Path) -> None:
    """A signature by another key is refused, even if it claims to be made by ours."""
    model, signature, public = signed
    stranger, _ = write_keys(tmp_path, "stranger")
    forged = tmp_path / "forged.sig"
    sign(model, stranger, forged)
    bundle = json.loads(forged.read_text())
    bundle["verificationMaterial"] = json.loads(signature.read_text())["verificationMaterial"]
    forged.write_text(json.dumps(bundle))
    with pytest.raises(CheckFailed, match=r"forged\.sig: is damaged, or no signature"):
        check_signature(model, forged, public)


@pytest.mark.parametrize("text", ["", "{}", "no JSON", "[]", '{"verificationMaterial": {}}'])
def test_a_damaged_signature_is_named(signed: tuple[Path, Path, Path], text: str) -> None:
    """Any damage gives one line with the remedy, whatever the library makes of it."""
    model, signature, public = signed
    signature.write_text(text)
    with pytest.raises(CheckFailed, match=r"sig: is damaged, or no signature; copy it again"):
        check_signature(model, signature, public)


@pytest.mark.parametrize(
    ("private", "shown"),
    [
        ("key.pub.pem", r"key\.pub\.pem: is no private key that can be used"),
        ("locked.pem", r"locked\.pem: is encrypted; give a private key"),
        ("none.pem", r"none\.pem: cannot be read \(No such file"),
    ],
)
def test_a_key_that_cannot_sign_is_named(
    signed: tuple[Path, Path, Path], tmp_path: Path, private: str, shown: str
) -> None:
    """No signature is left behind."""
    write_keys(tmp_path, "locked", password=b"secret")
    with pytest.raises(InputError, match=shown):
        sign(signed[0], tmp_path / private, tmp_path / "new.sig")
    assert not (tmp_path / "new.sig").exists()


def test_a_key_that_did_not_sign_proves_nothing(
    signed: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    model, signature, _ = signed
    _, other = write_keys(tmp_path, "other")
    with pytest.raises(CheckFailed, match=r"another key than .*other\.pub\.pem; ask the signer"):
        check_signature(model, signature, other)
    with pytest.raises(InputError, match=r"key\.pem: is no public key that can be used"):
        check_signature(model, signature, tmp_path / "key.pem")


def test_nobody_is_asked(every_feed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither signing nor verifying with a key of one's own contacts Sigstore's services."""

    def refuse(*_: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    private, public = write_keys(tmp_path)
    sign(every_feed, private, tmp_path / "a.sig")
    check_signature(every_feed, tmp_path / "a.sig", public)
