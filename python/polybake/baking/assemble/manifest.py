"""Describe a bake in its manifest: all that templates and clients may know."""

from collections.abc import Sequence

from polybake import __version__
from polybake.baking.assemble.contract import Built
from polybake.baking.assemble.precision import stored
from polybake.baking.sources.prefixed_encoder import PrefixedEncoder
from polybake.baking.sources.source import Encoder, Source
from polybake.baking.steps import Step
from polybake.base.modelfile import container, manifest
from polybake.base.modelfile.manifest import Deviation, Manifest
from polybake.base.modelfile.weights import Weights
from polybake.config import ModelTable


def describe(
    source: Source,
    encoder: Encoder,
    steps: Sequence[Step],
    built: Built,
    settings: ModelTable,
    tail: str,
    weights: Weights | None,
    deviation: Deviation | None,
) -> Manifest:
    """Return the manifest of a bake."""
    source_settings = source.folder.settings
    tokenizer = container.sha256(built.tokenizer.json.encode("ascii"))
    return Manifest(
        name=settings.name,
        description=settings.description,
        contract=built.contract,
        similarity="hamming" if built.contract.output.packed_bits else source.similarity,
        precision=settings.precision,
        storage=stored(settings),
        deviation=deviation,
        steps=tuple(map(str, steps)),
        encoder=encoder.name,
        opset=built.opset,
        source=manifest.Provenance(
            identifier=source.folder.identifier,
            revision=source.folder.revision,
            licence=source.folder.licence(),
            allow_unknown=source_settings.allow_unknown,
            attention=source_settings.attention,
            adapter=source_settings.adapter,
        ),
        generator=__version__,
        fingerprint=manifest.fingerprint(
            tail, tokenizer, built.contract, None if weights is None else weights.sha256
        ),
        verified=encoder.proves,
        exposed=settings.expose,
        dropped_tokens=built.dropped_tokens,
        tokenizer_differs=source.tokenizer.differs,
        cached=manifest.CachedPrompts(tokens=encoder.tokens, bytes=encoder.cache.nbytes)
        if isinstance(encoder, PrefixedEncoder)
        else None,
        weights=weights,
    )
