"""Each construct of the language computes what numpy does: on the simulator, which also looks for races."""

from __future__ import annotations

import numpy as np
import pytest
from language_kernels import CASES
from language_tools import use_tools

#: One target without asynchronous copies of tiles, one with TMA and wgmma.
TARGETS = ("sm_80", "sm_90a")


@pytest.fixture(autouse=True)
def _tools(monkeypatch, tmp_path):
    use_tools(monkeypatch, tmp_path)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", CASES)
def test_agrees_with_numpy(name, target):
    case = CASES[name]
    values = case.make(np.random.default_rng())
    copies = {key: value.copy() if isinstance(value, np.ndarray) else value for key, value in values.items()}
    expected = case.expected(**copies)
    case.kernel.run_on("sim", target=target, **values)
    for key, wanted in expected.items():
        np.testing.assert_allclose(
            values[key].astype(np.float64),
            wanted.astype(np.float64),
            rtol=case.tolerance,
            atol=case.tolerance,
            err_msg=key,
        )


def test_parts_of_arrays_keep_their_strides():
    case = CASES["tiles_over_the_edge"]
    x = np.arange(40 * 60, dtype=np.float32).reshape(40, 60)[::2, 5:50]
    z = np.full((20, 99), -1, np.float32)[:, :90:2]
    case.kernel.run_on("sim", x, z, target="sm_80")
    np.testing.assert_array_equal(z, x * 2)
    assert (z.base[:, 1::2] == -1).all()
