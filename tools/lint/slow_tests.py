"""Finds tests that neither `bazel test //...` nor `bazel test //:slow` runs, and that have no reason here.

A test with the tag `manual` is not part of `//...`. A slow test has the tag `slow`, too, and is in //:slow.
"""

from __future__ import annotations

import fnmatch
import pathlib
import subprocess
from collections.abc import Iterator

_TESTS = 'kind("_test rule", //...)'
# Patterns of the other tests with the tag `manual`, and what runs these instead.
ELSEWHERE = {
    "//examples/models:*_full_size_test": "take minutes each: //examples/models:full_size",
    "//examples/xnnpack:*_undelegated_test": "//tools/bench:backend_bench has the programs",
    "//export/graph_passes/rewrites/tests:*": "single files of :pass_tests",
    "//kernels/optimized/tests:*_sample_test": "tools/sanitize --sample",
    "//kernels/optimized/tests:op_*": "single files of :op_tests, and of :op_tests_of_all_sets for other sets",
    "//kernels/optimized/tests:op_packed_convolution_quick_test": "//:quick",
    "//kernels/portable/tests:op_*": "single files of :op_tests, and tools/sanitize --sample",
    "//kernels/quantized/tests:op_*": "single files of :op_tests",
    "//rules/tests:*": "analysis tests look at these targets",
    "//runtime/aten/tests:all_operators_test": "compiles for minutes: docs/documents.md",
    "//runtime/tests:both_methods": ":runner_test runs the program",
    "//tests/compiled/examples:*": ":all_models: tools/check --everything",
    "//tests/compiled:*_with_little_scratch_check": ":memory_test runs the programs",
    "//tests/downstream:*": "single files of the groups of tests",
    "//tests/platforms:*": ":linux_arm64_test runs the programs",
    "//tools/bench/compiled:*": "//tools/bench has the programs",
    "//tools/bench/peers:alone_test": "needs all processors: tools/check --everything",
    "//tools/bench/web:*": "//tools/bench has the programs",
    "//tools/launcher:install_test": "installs packages",
}


def findings(manual: set[str], tagged: set[str], suite: set[str]) -> Iterator[str]:
    """Yields a line for each test that is in the wrong list, and for each pattern without a test.

    Args:
        manual: the tests with the tag `manual`.
        tagged: the tests with the tag `slow`.
        suite: the tests of //:slow.
    """
    for test in sorted(tagged - suite):
        yield f"{test}: has the tag slow, and is not in //:slow"
    for test in sorted(suite - tagged):
        yield f"{test}: is in //:slow, and has not the tag slow"
    for test in sorted(tagged - manual):
        yield f"{test}: has the tag slow without the tag manual, so that //... runs the test"
    others = manual - tagged
    used = {pattern: fnmatch.filter(others, pattern) for pattern in ELSEWHERE}
    for test in sorted(others.difference(*used.values())):
        yield f"{test}: has the tag manual, so that neither //... nor //:slow runs the test: {__name__} has no reason"
    for pattern, tests in used.items():
        if not tests:
            yield f"{pattern}: {__name__} has a reason for a test that does not exist"


def check(tree: pathlib.Path) -> Iterator[str]:
    """Yields the findings of the tests of a tree, which Bazel lists."""
    lists = []
    for expression in (*(rf'attr(tags, "\b{tag}\b", {_TESTS})' for tag in ("manual", "slow")), "tests(//:slow)"):
        command = ["tools/bazel", "query", "--noshow_progress", expression]
        run = subprocess.run(command, cwd=tree, capture_output=True, text=True)
        if run.returncode != 0:
            yield f"tools/bazel query failed: {run.stderr.strip()}"
            return
        lists.append(set(run.stdout.split()))
    yield from findings(*lists)
