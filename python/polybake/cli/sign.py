"""``polybake sign``: who receives a model file can tell that it is yours."""

from pathlib import Path
from typing import Annotated

import typer


def sign(
    model: Annotated[Path, typer.Argument(help="A baked model file.")],
    private_key: Annotated[
        Path,
        typer.Option(help="A PEM file, not encrypted: an elliptic key of P-256, P-384 or P-521."),
    ],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The signature; else MODEL.sig.")
    ] = None,
) -> None:
    """Sign a model file with a key of your own, as OpenSSF Model Signing does.

    Example: polybake sign build/minilm.onnx --private-key key.pem
    """
    from polybake.base.modelfile.container import check_digest, read_head

    check_digest(read_head(model))  # errors of the file come first
    from polybake.shipping.sign.signature import sign as sign_file

    signature = output or model.with_name(f"{model.name}.sig")
    sign_file(model, private_key, signature)
    typer.echo(f"wrote {signature}")
