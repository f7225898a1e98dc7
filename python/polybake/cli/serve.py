"""``polybake serve``: answers over HTTP."""

from pathlib import Path
from typing import Annotated

import typer


def serve(
    models: Annotated[list[Path], typer.Argument(metavar="MODEL...", help="Baked model files.")],
    host: Annotated[str, typer.Option(help="The address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 8080,
    api_key_file: Annotated[
        Path | None, typer.Option(help="A file of keys, one a line; each request must send one.")
    ] = None,
    matryoshka: Annotated[
        list[str] | None,
        typer.Option(help="Name of a model whose vectors requests may shorten; may be repeated."),
    ] = None,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    threads: Annotated[
        int, typer.Option(help="Threads per batch; as many batches run at once as fill the CPU.")
    ] = 1,
    texts: Annotated[int, typer.Option(min=1, help="Texts of a request, at most.")] = 2048,
    waiting: Annotated[
        int, typer.Option(min=1, help="Tokens that may wait for a model; more get HTTP 429.")
    ] = 131_072,
    wait_ms: Annotated[
        float, typer.Option(min=0, help="Milliseconds that a text waits for others.")
    ] = 2.0,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds to answer a request.")] = 60.0,
    drain: Annotated[
        int, typer.Option(min=0, help="Seconds to finish open requests after a signal to end.")
    ] = 30,
) -> None:
    """Serve models over HTTP, in the schemas of OpenAI, text-embeddings-inference and Cohere.

    Example: polybake serve build/minilm.onnx --port 8080
    """
    from polybake.serving.app import create_app
    from polybake.serving.limits import Limits
    from polybake.serving.models import Models
    from polybake.serving.server import run

    keys = _keys(api_key_file) if api_key_file else []
    limits = Limits(texts=texts, waiting=waiting, wait=wait_ms / 1000, timeout=timeout)
    opened = Models.opened(
        models, device=device, threads=threads, most=texts, matryoshka=matryoshka or []
    )
    app = create_app(opened, limits=limits, keys=keys)
    run(app, host, port, limits=limits, drain=drain)


def _keys(path: Path) -> list[str]:
    from polybake.errors import InputError

    try:
        text = path.read_text("utf-8-sig")  # editors of Windows put a BOM before it
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read ({error}); give a file of keys") from error
    keys = [line.strip() for line in text.splitlines() if line.strip()]
    if not keys:
        raise InputError(f"{path}: holds no key; write one a line")
    for index, key in enumerate(keys, start=1):
        if not all("!" <= character <= "~" for character in key):
            raise InputError(
                f"{path}: key {index} holds a blank or what is not ASCII, which no header carries; "
                "write keys of letters, digits and punctuation"
            )
    return keys
