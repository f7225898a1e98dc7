"""The post-processing steps, for `polybake.bake` and for steps of one's own.

Example: ``steps=[polybake.steps.Pool(mode="mean"), polybake.steps.Normalize()]``
"""

from polybake.baking.steps import *  # noqa: F403 - `__all__` of that room is what is public
