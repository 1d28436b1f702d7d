"""Choosing a kernel's constants by measuring, and measuring by itself: `autotune`, `search_space`, `bench`.

Nothing here is loaded before it is used, and none of it needs torch.
"""

from headrace.tuning.autotune import TunedKernel, autotune
from headrace.tuning.bench import bench
from headrace.tuning.results import Result, Results
from headrace.tuning.space import SearchSpace, search_space
from headrace.tuning.timing import Timing

__all__ = ["Result", "Results", "SearchSpace", "Timing", "TunedKernel", "autotune", "bench", "search_space"]
