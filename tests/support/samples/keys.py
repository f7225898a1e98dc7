"""Keys for signatures, made anew for each test."""

from __future__ import annotations

from pathlib import Path


def write_keys(folder: Path, name: str = "key", password: bytes | None = None) -> tuple[Path, Path]:
    """A private and a public elliptic key, as PEM files."""
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    encryption = form.BestAvailableEncryption(password) if password else form.NoEncryption()
    private, public = folder / f"{name}.pem", folder / f"{name}.pub.pem"
    private.write_bytes(key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, encryption))
    public.write_bytes(
        key.public_key().public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo)
    )
    return private, public
