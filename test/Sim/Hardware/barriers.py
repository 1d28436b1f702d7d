"""Probes of mbarriers, cluster addresses and cache policies."""

from __future__ import annotations

import numpy as np

import ptx
from probe import Array, Probe, hex_words, poisoned

_BARRIER = "%smem"
CLUSTER = 8


def _flag(index: int, wait: str, parity: int) -> str:
    """Stores 1 if the wait returned true, 0 if not."""
    return (
        f"    mbarrier.{wait}.parity.shared::cta.b64 %p1, [{_BARRIER}], {parity};\n"
        "    selp.b32 %r10, 1, 0, %p1;\n" + ptx.store_word("OUT", index, "%r10")
    )


def _flags_probe(name: str, question: str, body: str, labels: list[str]) -> Probe:
    return Probe(
        name=name,
        question=question,
        ptx=ptx.module(body, ["OUT"], threads=1),
        record=ptx.record({"OUT": ("i32", (len(labels),))}, threads=1, shared_bytes=64),
        arguments={"OUT": poisoned("i32", len(labels))},
        outputs=("OUT",),
        facts=lambda outputs: dict(zip(labels, map(int, outputs["OUT"]), strict=True)),
    )


def fresh_parity() -> Probe:
    steps = [("test_wait", 1), ("test_wait", 0), ("try_wait", 1)]
    body = f"    mbarrier.init.shared::cta.b64 [{_BARRIER}], 1;\n"
    body += "".join(_flag(i, *step) for i, step in enumerate(steps))
    body += f"    mbarrier.arrive.shared::cta.b64 _, [{_BARRIER}];\n"
    later = [("try_wait", 0), ("test_wait", 0), ("test_wait", 1)]
    body += "".join(_flag(len(steps) + i, *step) for i, step in enumerate(later))
    labels = [f"{wait} parity {parity}" for wait, parity in steps]
    labels += [f"after one phase, {wait} parity {parity}" for wait, parity in later]
    return _flags_probe("fresh-parity", "which parities does a fresh mbarrier let pass at once?", body, labels)


def fresh_try_wait() -> Probe:
    """On the simulator a deadlock: nobody else could end the phase."""
    body = f"    mbarrier.init.shared::cta.b64 [{_BARRIER}], 1;\n" + _flag(0, "try_wait", 0)
    question = "does try_wait give up on a fresh mbarrier's parity 0?"
    return _flags_probe("fresh-try-wait", question, body, ["try_wait parity 0"])


def negative_transactions() -> Probe:
    body = f"""\
    mbarrier.init.shared::cta.b64 [{_BARRIER}], 1;
    mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [{_BARRIER}], 64;
"""
    body += _flag(0, "test_wait", 0)
    body += f"    mbarrier.arrive.expect_tx.shared::cta.b64 _, [{_BARRIER}], 64;\n"
    body += _flag(1, "test_wait", 0)
    labels = ["phase over after complete_tx 64", "phase over after arrive.expect_tx 64"]
    question = "may bytes complete before they are expected, in the same phase?"
    return _flags_probe("negative-transactions", question, body, labels)


def early_bulk_copy() -> Probe:
    """The same with a copy: it has time to land before its bytes are expected."""
    body = f"""\
    mbarrier.init.shared::cta.b64 [{_BARRIER}], 1;
    fence.mbarrier_init.release.cluster;
    fence.proxy.async;
    add.s32 %r20, %smem, 128;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r20], [%IN], 128, [{_BARRIER}];
    mov.b32 %r21, 20000;
DELAY:
    sub.s32 %r21, %r21, 1;
    setp.ne.s32 %p2, %r21, 0;
    @%p2 bra DELAY;
{_flag(0, "test_wait", 0)}\
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [{_BARRIER}], 128;
{ptx.bounded_wait(_BARRIER, 0, "%r10")}\
{ptx.store_word("OUT", 1, "%r10")}\
    ld.shared.b32 %r11, [%r20+124];
{ptx.store_word("OUT", 2, "%r11")}"""
    labels = ["phase over before arrive.expect_tx", "phase over after it", "last word (31)"]
    return Probe(
        name="early-bulk-copy",
        question="may a bulk copy land before its bytes are expected?",
        ptx=ptx.module(body, ["IN", "OUT"], threads=1),
        record=ptx.record({"IN": ("i32", (32,)), "OUT": ("i32", (3,))}, threads=1, shared_bytes=512),
        arguments={"IN": Array("i32", np.arange(32, dtype=np.int32)), "OUT": poisoned("i32", 3)},
        outputs=("OUT",),
        facts=lambda outputs: dict(zip(labels, map(int, outputs["OUT"]), strict=True)),
    )


def barrier_bits() -> Probe:
    """The 64 bits of an mbarrier after each step. Opaque (PTX ISA 9.7.13.15.2): for curiosity, not to rely on."""
    steps = {
        "init 5": f"mbarrier.init.shared::cta.b64 [{_BARRIER}], 5;",
        "expect_tx 4096": f"mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [{_BARRIER}], 4096;",
        "arrive": f"mbarrier.arrive.shared::cta.b64 _, [{_BARRIER}];",
        "complete_tx 4096": f"mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [{_BARRIER}], 4096;",
        "complete_tx 16": f"mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [{_BARRIER}], 16;",
        "expect_tx 16": f"mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [{_BARRIER}], 16;",
        "arrive 4": f"mbarrier.arrive.shared::cta.b64 _, [{_BARRIER}], 4;",
    }
    body = "".join(
        f"    {step}\n    ld.shared.b64 %rd10, [{_BARRIER}];\n    st.global.b64 [%OUT+{8 * i}], %rd10;\n"
        for i, step in enumerate(steps.values())
    )
    return Probe(
        name="barrier-bits",
        question="what does an mbarrier look like?",
        ptx=ptx.module(body, ["OUT"], threads=1),
        record=ptx.record({"OUT": ("i64", (len(steps),))}, threads=1, shared_bytes=64),
        arguments={"OUT": poisoned("i64", len(steps))},
        outputs=("OUT",),
        facts=lambda outputs: dict(zip(steps, hex_words(outputs["OUT"]), strict=True)),
    )


def cluster_addresses() -> Probe:
    """Each CTA of a cluster stores 32 words: own address, mapa of every rank, and what is read at these addresses."""
    words = 32
    body = f"""\
    mul.lo.u32 %r1, %cta_x, {4 * words};
    cvt.u64.u32 %rd1, %r1;
    add.s64 %OUT, %OUT, %rd1;
    mov.u32 %r2, %cluster_ctarank;
    add.s32 %r3, %r2, 100;
    st.shared.b32 [%smem], %r3;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
{ptx.store_word("OUT", 0, "%smem")}{ptx.store_word("OUT", 1, "%r2")}\
    ld.shared::cluster.b32 %r4, [%smem];
{ptx.store_word("OUT", 2, "%r4")}\
    getctarank.shared::cluster.u32 %r5, %smem;
{ptx.store_word("OUT", 3, "%r5")}"""
    for rank in range(CLUSTER):
        body += f"""\
    mapa.shared::cluster.u32 %r6, %smem, {rank};
{ptx.store_word("OUT", 4 + rank, "%r6")}\
    ld.shared::cluster.b32 %r7, [%r6];
{ptx.store_word("OUT", 12 + rank, "%r7")}"""
    body += f"""\
    cvta.shared.u64 %rd2, %smem64;
    st.global.b64 [%OUT+80], %rd2;
    mapa.u64 %rd3, %rd2, 3;
    st.global.b64 [%OUT+88], %rd3;
    ld.b32 %r8, [%rd3];
{ptx.store_word("OUT", 24, "%r8")}\
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
"""

    def facts(outputs):
        rows = outputs["OUT"].reshape(CLUSTER, words)
        addresses = rows[:, 4:12].view(np.uint32)
        steps = np.diff(addresses.astype(np.int64), axis=1)
        return {
            "own shared::cta address": sorted(set(hex_words(rows[:, 0]))),
            "rank at own address (getctarank)": [int(v) for v in rows[:, 3]],
            "value read at own shared::cta address through shared::cluster": [int(v) for v in rows[:, 2]],
            "mapa of ranks, in rank 0": hex_words(rows[0, 4:12]),
            "mapa of ranks, in rank 5": hex_words(rows[5, 4:12]),
            "step from rank to rank": sorted({hex(step) for step in steps.ravel()}),
            "values read at mapa addresses, in rank 2": [int(v) for v in rows[2, 12:20]],
            "low words of generic own address and of mapa.u64 of rank 3, in rank 0": hex_words(rows[0, [20, 22]]),
            "value read at mapa.u64 of rank 3": sorted({int(v) for v in rows[:, 24]}),
        }

    return Probe(
        name="cluster-addresses",
        question="where does the rank sit in an address of shared::cluster, and what does an own address mean?",
        ptx=ptx.module(body, ["OUT"], threads=1),
        record=ptx.record(
            {"OUT": ("i32", (CLUSTER * words,))}, threads=1, programs=CLUSTER, cluster=CLUSTER, shared_bytes=64
        ),
        arguments={"OUT": poisoned("i32", CLUSTER * words)},
        outputs=("OUT",),
        facts=facts,
    )


def cache_policies() -> Probe:
    policies = [
        f"createpolicy.fractional.L2::evict_{kind}.b64 %rd10, {fraction}"
        for kind in ("normal", "first", "last", "unchanged")
        for fraction in ("1.0", "0.5")
    ]
    policies.append("createpolicy.fractional.L2::evict_last.L2::evict_first.b64 %rd10, 0.5")
    body = "".join(f"    {policy};\n    st.global.b64 [%OUT+{8 * i}], %rd10;\n" for i, policy in enumerate(policies))
    labels = [policy.removeprefix("createpolicy.fractional.").replace(".b64 %rd10,", "") for policy in policies]
    return Probe(
        name="cache-policies",
        question="which 64-bit constants are the L2 cache policies?",
        ptx=ptx.module(body, ["OUT"], threads=1),
        record=ptx.record({"OUT": ("i64", (len(policies),))}, threads=1),
        arguments={"OUT": poisoned("i64", len(policies))},
        outputs=("OUT",),
        facts=lambda outputs: dict(zip(labels, hex_words(outputs["OUT"]), strict=True)),
    )


def probes() -> list[Probe]:
    return [
        fresh_parity(),
        fresh_try_wait(),
        negative_transactions(),
        early_bulk_copy(),
        barrier_bits(),
        cluster_addresses(),
        cache_policies(),
    ]
