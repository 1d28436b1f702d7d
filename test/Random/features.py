"""What random programs consist of, with a weight for each: 0 switches a feature off."""

from __future__ import annotations

#: Weights of actions in a block, and chances (in percent) of what goes by a name with a dash.
DEFAULT = {
    # actions
    "load": 4, "load1d": 2, "elementwise": 8, "dot": 5, "select": 2, "cast": 3, "broadcast": 3, "store": 2,
    "for": 4, "if": 2, "while": 1, "constant": 1, "approximate": 1, "f8": 2, "chained-dot": 1, "register-dot": 1,
    "iota": 2, "transpose": 2, "reshape": 2, "reduce": 3, "scan": 1, "gather": 2, "scatter": 1, "reduce_store": 1,
    "scalar": 1, "read-back": 1, "assert": 1,
    # in percent
    "scf-for": 15, "specialize": 50, "persistent": 15, "fill": 20, "unaligned": 25, "odd-extent": 40, "warps": 20,
    "empty-loop": 8, "more-dimensions": 10, "column-major": 5, "swap": 25, "f64-dot": 4, "f8-programs": 12,
    "guarded-load": 15, "tensor-core": 45, "scaled-dot": 8,
}  # fmt: skip


def parse(text: str) -> dict[str, int]:
    """`NAME=WEIGHT,...` on top of the default; `all` switches on everything, `none` everything off."""
    weights = dict(DEFAULT)
    for part in filter(None, text.split(",")):
        name, _, weight = part.partition("=")
        if name == "all":
            weights.update({each: max(value, 2) for each, value in weights.items()})
        elif name == "none":
            weights.update(dict.fromkeys(weights, 0))
        elif name in weights:
            weights[name] = int(weight or 5)
        else:
            raise ValueError(f"unknown feature '{name}'; known: {', '.join(weights)}")
    return weights
