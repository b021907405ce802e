"""How often runs under `--collectives auto` decide alike, from their logs."""

from collections import Counter

from tests.helpers import scripts

(decisions,) = scripts.load("bench/regret", "decisions")

LOG = """\
ranktree: 4 ranks on 1 node: allreduce 8-16: shared:ring | native 4 us dropped | shared:ring 3 us (model 1 us) | for now
ranktree: 4 ranks on 1 node: allreduce 8-16: native | native 4 us | shared:ring 5 us (model 1 us) dropped | for 64 calls
ranktree: 4 ranks on 1 node: barrier: shared:flat | native 9 us dropped | shared:flat 8 us (model 2 us) | for 1024 calls
ranktree: 2 ranks on 1 node: barrier: native | native 9 us | no other variant
ranktree: 4 ranks on 1 node: calls: allreduce 8 of 96 not by the MPI, barrier 3 of 96 not by the MPI
ranktree: 4 ranks on 1 node: spent: set-up 1 ms, agreements 17 us, trials 4 us; allowed 6 ms in 250 ms
ranktree: 4 ranks: all calls by the MPI: its set-up was never affordable; spent: set-up 0 us
"""


def test_the_last_decision_of_each_kind_counts() -> None:
    assert decisions.last_decisions(LOG) == {
        "4 ranks on 1 node, allreduce 8-16": "native",
        "4 ranks on 1 node, barrier": "shared:flat",
        "2 ranks on 1 node, barrier": "native",
    }
    assert decisions.last_decisions("") == {}


def test_a_run_without_a_decision_stays_native() -> None:
    counts = decisions.by_kind([{"barrier": "shared:flat"}, {}, {"barrier": "native"}])
    assert counts == {"barrier": Counter({"native": 2, "shared:flat": 1})}
    assert decisions.text_of(counts["barrier"]) == "native 2, shared:flat 1"


def test_one_of_twenty_runs_may_end_with_another_variant() -> None:
    assert decisions.is_steady(Counter({"native": 20}))
    assert decisions.is_steady(Counter({"native": 10, "shared:flat": 10}))
    one = Counter({"shared:flat": 19, "messages:ring": 1})
    assert (decisions.flips(one), decisions.is_steady(one)) == (1, True)
    two = Counter({"native": 10, "shared:flat": 8, "messages:ring": 2})
    assert (decisions.flips(two), decisions.is_steady(two)) == (2, False)
