"""Embed with Ray: ``ds.map_batches(polybake.ray.Embed("m.onnx", column="text"))``."""

from polybake.errors import missing_package

try:
    from polybake.bulk.ray.batches import Embed
    from polybake.bulk.ray.embed_files import embed_files
except ModuleNotFoundError as error:
    raise missing_package(error) or error from error

__all__ = ["Embed", "embed_files"]
