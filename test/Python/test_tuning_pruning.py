"""Which configurations are left out, by the compiler's table, before they become code."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from headrace.runtime import record as reader
from headrace.tuning.candidates import Candidate
from headrace.tuning.prediction import bound_of, wave_share
from headrace.tuning.pruning import prune
from records import gemm_arguments, gemm_record


def loop(ii=1024.0, matmul=1024.0, copy=0.0, **more) -> dict:
    return {
        "line": 7,
        "stages": 3,
        "asked_stages": -1,
        "ii_bound": ii,
        "cycles": {"matmul": matmul, "copy": copy},
        **more,
    }


def candidate(name: str, text: str | None = None, loops=(), families=("wgmma",)) -> Candidate:
    matmuls = [{"family": family, "why_not_faster": "M = 60" if family == "fma" else ""} for family in families]
    report = {"loops": list(loops), "matmuls": matmuls}
    return Candidate({"name": name}, SimpleNamespace(plain=text or name), None, report)


def reasons(candidates, rule=None) -> dict[str, str]:
    kept, left_out = prune(candidates, rule)
    assert len(kept) + len(left_out) == len(candidates)
    assert all(result.status == "pruned" for result in left_out)
    return {result.config["name"]: result.reason for result in left_out}


def test_good_configurations_stay():
    assert not reasons([candidate("a", loops=[loop()]), candidate("b", families=("mma_sync",))])


def test_the_same_program_once():
    assert reasons([candidate("a", "x"), candidate("b", "y"), candidate("c", "x")]) == {
        "c": "the same program as name=a"
    }


def test_no_tensor_cores_where_others_have_them():
    slow = candidate("slow", families=("wgmma", "fma"))
    assert reasons([candidate("a"), slow]) == {"slow": "matmul without tensor cores: M = 60"}
    assert not reasons([slow, candidate("other", families=("fma",))])


NOT_PIPELINED = {"stages": 1, "not_pipelined": "shared memory has room for one stage only"}


def test_no_room_to_pipeline_where_others_have_it():
    full = candidate("full", loops=[loop(), loop(**NOT_PIPELINED)])
    assert reasons([candidate("a", loops=[loop()]), full]) == {
        "full": "loop at line 7: shared memory has room for one stage only"
    }
    assert not reasons([full])


@pytest.mark.parametrize("asked", [0, 1])
def test_one_stage_that_was_asked_for_stays(asked):
    assert not reasons(
        [candidate("a", loops=[loop()]), candidate("b", loops=[loop(**NOT_PIPELINED, asked_stages=asked)])]
    )


def test_rule_of_the_user_comes_first_and_may_leave_nothing():
    def rule(config, report):
        config["name"] = "changed"
        return f"{len(report['matmuls'])} matmuls"

    assert reasons([candidate("a"), candidate("b")], rule) == {"a": "1 matmuls", "b": "1 matmuls"}
    assert not reasons([candidate("a")], lambda config, report: "")


def test_bound_is_the_least_time_over_the_work():
    assert bound_of({"loops": [loop(1024, 1024)]}) == 1
    assert bound_of({"loops": [loop(640, 512, 512)]}) == 1.25
    assert bound_of({"loops": [loop(100, 0, 80), loop(100, 50)]}, 2.0) == pytest.approx(2 * 200 / 130)
    assert bound_of({"loops": []}) is None
    assert bound_of({"loops": [{"ii_bound": 0, "cycles": {}}]}) is None


def test_last_round_of_programs():
    record = reader.parse(gemm_record())
    assert wave_share(record, gemm_arguments(m=128 * 132, n=256), 132) == 1
    assert wave_share(record, gemm_arguments(m=128 * 133, n=256), 132) == pytest.approx(2 * 132 / 133)
    assert wave_share(record, gemm_arguments(m=128, n=256), 132) == 132
    twice = reader.parse(gemm_record(min_ctas_per_sm=2))
    assert wave_share(twice, gemm_arguments(m=128 * 264, n=256), 132) == 1


@pytest.mark.parametrize("args", [[], [1, 2, 3, 4, 5]])
def test_grid_that_cannot_be_told(args):
    assert wave_share(reader.parse(gemm_record()), args, 132) == 1


def test_no_programs():
    assert wave_share(reader.parse(gemm_record()), gemm_arguments(m=0), 132) == 1
