"""What functions of a workload and a few sizes gave: a search asks for the same again and again, with other layouts."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Concatenate

if TYPE_CHECKING:
    from collections.abc import Callable

    from dcplan.training.step import Workload


def remembered[**Sizes, Answer](
    function: Callable[Concatenate[Workload, Sizes], Answer],
) -> Callable[Concatenate[Workload, Sizes], Answer]:
    """The same function, worked out once for each workload and sizes; its answers live as long as the workload.

    The sizes are hashable and given by position, and the function may depend on nothing else: what takes a few sizes of
    a layout takes them one by one or as a `Tile`, never the layout.
    """

    @wraps(function)
    def once(workload: Workload, /, *args: Sizes.args, **kwargs: Sizes.kwargs) -> Answer:
        known, key = workload.answers, (function, args)
        try:
            return known[key]  # type: ignore[return-value]
        except KeyError:
            found = known[key] = function(workload, *args, **kwargs)
            return found

    return once
