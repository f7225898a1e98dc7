"""``polybake export``: a model file in the forms that other runtimes and servers take."""

from pathlib import Path
from typing import Annotated, Literal

import typer


def export(
    form: Annotated[
        Literal["triton", "ort"],
        typer.Argument(
            metavar="FORMAT", help="triton: a model repository; ort: ONNX Runtime's own format."
        ),
    ],
    model: Annotated[Path, typer.Argument(help="A baked model file.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The new folder, or the .ort file.")
    ],
) -> None:
    """Write a model file in another form, if that form reproduces the golden cases.

    Example: polybake export triton build/minilm.onnx --output build/triton
    """
    if form == "triton":
        from polybake.shipping.export.triton import export_triton

        largest = export_triton(model, output)
    else:
        from polybake.shipping.export.ort_format import export_ort

        largest = export_ort(model, output)
    typer.echo(f"wrote {output}: every golden case, largest difference {largest:.1e}")
