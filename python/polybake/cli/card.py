"""``polybake card``: what a model file says of itself, for people and for tools that audit."""

from pathlib import Path
from typing import Annotated

import typer


def card(
    model: Annotated[Path, typer.Argument(help="A baked model file.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to write to.")],
) -> None:
    """Write a model card and a bill of materials of what the file itself says.

    Example: polybake card build/minilm.onnx --output build/card
    """
    from polybake.baking.tasks import TASKS
    from polybake.base.files.atomic import replacing
    from polybake.base.modelfile.container import check_digest, read_head, tail_digest
    from polybake.shipping.bill_of_materials import bill_of_materials
    from polybake.shipping.model_card import model_card

    head = read_head(model)
    check_digest(head)
    digest = tail_digest(model)  # from its first byte on
    task = TASKS.get(head.manifest.contract.task)
    tag = None if task is None else task.hub_tag
    files = {
        f"{head.manifest.name}.md": model_card(head, digest, tag),
        f"{head.manifest.name}.cdx.json": bill_of_materials(head, digest),
    }
    for name, text in files.items():
        with replacing(output / name) as file:
            file.write(text.encode())
        typer.echo(f"wrote {output / name}")
