"""``polybake export``: a model file in the form that another server takes."""

from pathlib import Path
from typing import Annotated, Literal

import typer


def export(
    form: Annotated[  # noqa: ARG001 - a repository of Triton's is the only form
        Literal["triton"], typer.Argument(metavar="FORMAT", help="triton: a model repository.")
    ],
    model: Annotated[Path, typer.Argument(help="A baked model file.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The new folder.")],
) -> None:
    """Write a model file in another form, if that form reproduces the golden cases.

    Example: polybake export triton build/minilm.onnx --output build/triton
    """
    from polybake.shipping.triton import export_triton

    largest = export_triton(model, output)
    typer.echo(f"wrote {output}: every golden case, largest difference {largest:.1e}")
