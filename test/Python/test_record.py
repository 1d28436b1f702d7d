"""Reading launch records: every field lands in its place, every fault is named."""

import json

import pytest

from headrace import LaunchError
from headrace.runtime.record import load, parse
from headrace.runtime.schema import Arg, Param, Requirement, TensorMap
from records import gemm_record


def test_reads_every_field(tmp_path):
    path = tmp_path / "gemm.json"
    path.write_text(json.dumps(gemm_record()))
    record = load(path)
    assert (record.kernel, record.target, record.threads) == ("gemm", "sm_90a", 384)
    assert (record.cluster, record.shared_bytes, record.min_ctas_per_sm) == ((1, 1, 1), 213248, 1)
    assert record.grid.x == ("mul", ("ceildiv", ("dim", 2, 0), 128), ("ceildiv", ("dim", 2, 1), 256))
    assert (record.grid.y, record.grid.z, record.grid.persistent) == (1, 1, True)
    assert record.args[0] == Arg("A", "array", "bf16", (None, None), (None, 1))
    assert record.args[3] == Arg("alpha", "scalar", "f32")
    assert record.params[0] == Param("tensor_map", 0)
    assert record.params[2] == Param("pointer", 2)
    assert record.params[3] == Param("stride", 2, 0, "i64")
    assert record.params[5] == Param("scalar", 3, type="f32")
    assert record.tensor_maps[1] == TensorMap(1, "bf16", (1, 0), (64, 128), 128, 256)
    assert record.contract[0] == Requirement("pointer_multiple", 0, 16, "TMA load of A")
    assert record.contract[2] == Requirement("dim_multiple", 2, 8, "C is stored 16 bytes at a time", 1)


def test_names_the_missing_file(tmp_path):
    path = tmp_path / "none.json"
    with pytest.raises(LaunchError) as caught:
        load(path)
    assert str(caught.value) == f"launch record '{path}': cannot read it: No such file or directory"


def test_names_the_file_that_is_no_json(tmp_path):
    path = tmp_path / "broken.json"
    path.write_text("{")
    with pytest.raises(LaunchError, match=r"broken\.json': expected JSON, got an error: "):
        load(path)


def test_names_the_missing_field():
    record = gemm_record()
    del record["params"][3]["dim"]
    with pytest.raises(LaunchError) as caught:
        parse(record, "r.json")
    assert str(caught.value) == "launch record 'r.json': expected field 'params[3].dim', got none"


FAULTS = [
    ({"grid": {"x": 1, "y": 1, "z": 1, "persistent": True, "trips": 0}},
     "expected 'grid.trips' to be a positive integer, got 0"),
    ({"version": 2}, "expected version 1, got 2"),
    ({"kernel": 3}, "expected 'kernel' to be a string, got 3"),
    ({"threads": 2048}, "expected 'threads' to be an integer from 1 to 1024, got 2048"),
    ({"threads": True}, "expected 'threads' to be an integer from 1 to 1024, got true"),
    ({"shared_bytes": -1}, "expected 'shared_bytes' to be an integer of at least 0, got -1"),
    ({"cluster": [1, 1]}, "expected 'cluster' to be three positive integers, got [1, 1]"),
    ({"params": {}}, "expected 'params' to be a list, got {}"),
    ({"params": [3]}, "expected 'params[0]' to be an object, got 3"),
    ({"params": [{"kind": "tensor_map", "map": 2}]}, "expected 'params[0].map' to be an integer from 0 to 1, got 2"),
    ({"params": [{"kind": "pointer", "arg": 9}]}, "expected 'params[0]' to refer to one of 5 arguments, got 9"),
    (
        {"params": [{"kind": "pointer", "arg": 3}]},
        "expected 'params[0]' to refer to array arguments only, got \"scalar 3\"",
    ),
    (
        {"params": [{"kind": "dim", "arg": 0, "dim": 2, "type": "i32"}]},
        "expected 'params[0]' to name a dimension of an array of rank 2, got 2",
    ),
    (
        {"params": [{"kind": "dim", "arg": 0, "dim": 1, "type": "f32"}]},
        "expected 'params[0].type' to be one of i32, i64, got \"f32\"",
    ),
    (
        {"contract": [{"what": "scalar_multiple", "arg": 3, "of": 2, "because": "x"}]},
        "expected 'contract[0]' to refer to an integer scalar, got \"f32\"",
    ),
]


@pytest.mark.parametrize(("changes", "message"), FAULTS, ids=lambda value: value if isinstance(value, str) else "")
def test_names_the_faulty_field(changes, message):
    with pytest.raises(LaunchError) as caught:
        parse(gemm_record(**changes), "r.json")
    assert str(caught.value) == f"launch record 'r.json': {message}"


MAP_FAULTS = [
    ("dims", [0, 0], "to be 1 to 5 different dimensions, got [0, 0]"),
    ("dims", [0, 2], "to be dimensions of an array of rank 2, got [0, 2]"),
    ("box", [64], "to be 2 integers, 1 to 256, got [64]"),
    ("box", [64, 512], "to be 2 integers, 1 to 256, got [64, 512]"),
    ("swizzle", 96, "to be one of 0, 32, 64, 128, got 96"),
    ("l2_promotion", 1, "to be one of 0, 64, 128, 256, got 1"),
]


@pytest.mark.parametrize(("field", "value", "message"), MAP_FAULTS)
def test_names_the_faulty_tensor_map(field, value, message):
    record = gemm_record()
    record["tensor_maps"][1][field] = value
    with pytest.raises(LaunchError) as caught:
        parse(record, "r.json")
    assert str(caught.value) == f"launch record 'r.json': expected 'tensor_maps[1].{field}' {message}"


def test_strides_match_the_shape():
    record = gemm_record()
    record["args"][0]["strides"] = [1]
    with pytest.raises(LaunchError, match=r"expected 'args\[0\]\.strides' to have 2 entries, as its shape, got \[1\]"):
        parse(record)
