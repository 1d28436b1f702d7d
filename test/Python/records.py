"""A launch record and arrays for it, as the tests' starting point."""

from headrace.runtime.arrays import DeviceArray

#: An address that is aligned to 256 bytes.
BASE = 0x7F0000000000


def gemm_record(**changes) -> dict:
    """The parsed JSON of a bf16 product's record; `changes` replace top-level fields."""
    matrix = {"kind": "array", "dtype": "bf16", "shape": [None, None], "strides": [None, 1]}
    tma = {"dtype": "bf16", "dims": [1, 0], "box": [64, 128], "swizzle": 128, "l2_promotion": 256}
    tiles = ["mul", ["ceildiv", ["dim", 2, 0], 128], ["ceildiv", ["dim", 2, 1], 256]]
    record = {
        "version": 1,
        "kernel": "gemm",
        "target": "sm_90a",
        "threads": 384,
        "cluster": [1, 1, 1],
        "shared_bytes": 213248,
        "min_ctas_per_sm": 1,
        "grid": {"x": tiles, "y": 1, "z": 1, "persistent": True},
        "args": [
            {"name": "A", **matrix},
            {"name": "B", **matrix},
            {"name": "C", **matrix},
            {"name": "alpha", "kind": "scalar", "dtype": "f32"},
            {"name": "groups", "kind": "scalar", "dtype": "i32"},
        ],
        "params": [
            {"kind": "tensor_map", "map": 0},
            {"kind": "tensor_map", "map": 1},
            {"kind": "pointer", "arg": 2},
            {"kind": "stride", "arg": 2, "dim": 0, "type": "i64"},
            {"kind": "dim", "arg": 0, "dim": 0, "type": "i32"},
            {"kind": "scalar", "arg": 3, "type": "f32"},
            {"kind": "scalar", "arg": 4, "type": "i32"},
        ],
        "tensor_maps": [{"arg": 0, **tma}, {"arg": 1, **tma}],
        "contract": [
            {"what": "pointer_multiple", "arg": 0, "bytes": 16, "because": "TMA load of A"},
            {"what": "stride_multiple", "arg": 0, "dim": 0, "bytes": 16, "because": "TMA load of A"},
            {"what": "dim_multiple", "arg": 2, "dim": 1, "of": 8, "because": "C is stored 16 bytes at a time"},
            {"what": "scalar_multiple", "arg": 4, "of": 2, "because": "groups are handled in pairs"},
        ],
    }
    return {**record, **changes}


def array(shape, strides=None, dtype="bf16", ptr=BASE, device=None) -> DeviceArray:
    """A DeviceArray at a made-up address."""
    return DeviceArray(ptr, shape, strides, dtype, device)


def gemm_arguments(m=300, n=520, k=64, **changes) -> list:
    """Arguments that satisfy gemm_record's contract; `changes` replace them by name."""
    named = {"A": array((m, k)), "B": array((n, k)), "C": array((m, n)), "alpha": 0.5, "groups": 4}
    return list({**named, **changes}.values())
