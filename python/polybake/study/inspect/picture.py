"""Write the picture of a model's graph to a file, by the file's extension."""

from pathlib import Path

from polybake.base.files.atomic import replacing
from polybake.base.modelfile.container import is_baked, read_head
from polybake.errors import InputError
from polybake.study.inspect.boxes import picture_of
from polybake.study.inspect.graph import read_graph
from polybake.study.inspect.page import page
from polybake.study.inspect.svg import svg

_EXTENSIONS = (".svg", ".html")


def write_picture(path: Path, out: Path) -> None:
    """Draw the graph of ``path``, a baked model file or any ``.onnx`` file, to ``out``.

    Raises:
        InputError: ``out`` is no .svg or .html file or cannot be written, or ``path`` has no graph.
    """
    if out.suffix.lower() not in _EXTENSIONS:
        raise InputError(
            f"{out}: a picture has the extension {' or '.join(_EXTENSIONS)}, "
            f"found {out.suffix or 'none'}; name it so"
        )
    model = read_graph(path)
    manifest = read_head(path).manifest if is_baked(path) else None
    steps = manifest.steps if manifest else ()
    name = manifest.name if manifest else path.name
    facts = {
        "encoder": manifest.encoder if manifest else "",
        "steps": " → ".join(steps),
        "opset": str(model.graph.opset_imports.get("", "unknown")),
        "operators": str(model.graph.num_nodes()),
        "weights": str(len(model.graph.initializers)),
    }
    facts = {key: value for key, value in facts.items() if value}
    line = ", ".join(f"{key} {value}" for key, value in facts.items() if key != "steps")
    text = svg(picture_of(model, steps), name, line)
    if out.suffix.lower() == ".html":
        text = page(model, text, name, facts)
    with replacing(out) as file:
        file.write(text.encode("utf-8"))
