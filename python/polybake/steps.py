"""The post-processing steps, for `polybake.bake` and for steps of one's own.

import polybake

steps = [polybake.steps.Normalize(), polybake.steps.Truncate(dimension=128)]
"""

from polybake.baking.steps import *  # noqa: F403 - `__all__` of that room is what is public
