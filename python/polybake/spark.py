"""Embed with Spark: ``polybake.spark.embed(frame, "m.onnx", column="text")``."""

from polybake.errors import missing_package

try:
    from polybake.bulk.spark.embed_files import embed_files
    from polybake.bulk.spark.frame import embed
except ModuleNotFoundError as error:
    raise missing_package(error) or error from error

__all__ = ["embed", "embed_files"]
