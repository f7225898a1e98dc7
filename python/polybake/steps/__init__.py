"""The post-processing steps, by the name that polybake.toml and the manifest use."""

from polybake.steps.dense import Dense
from polybake.steps.normalize import Normalize
from polybake.steps.pool import Pool
from polybake.steps.step import Step
from polybake.steps.subtract import Subtract

STEPS: dict[str, type[Step]] = {step.name: step for step in (Pool, Normalize, Subtract, Dense)}

__all__ = ["STEPS", "Dense", "Normalize", "Pool", "Step", "Subtract"]
