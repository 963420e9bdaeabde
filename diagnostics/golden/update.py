"""Rewrites the goldens: the words of all messages that tests assert, diagnostics/golden/<id>.txt.

    tools/bazel run //diagnostics/golden:update

Runs the tests that have goldens. What has no test any more goes, too.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from absl import app

from diagnostics.golden import golden

# Tests with a library `case`: //diagnostics/golden:case, or one that is made of it. With rdeps(), Bazel would load all
# that any target depends on.
_TESTS = r'kind("_test rule", attr(deps, ":case\b", //...))'


def collect(logs: Path, tests: Sequence[str]) -> dict[str, str]:
    """The goldens by their ids, of what tests have written to their outputs."""
    messages: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    for test in tests:
        folder = logs / test.lstrip("/").replace(":", "/")
        for path in (*folder.glob("test.outputs/*.txt"), *folder.glob("shard_*/test.outputs/*.txt")):
            messages[path.stem] += golden.read(path)
    return {id_: golden.document(of_id) for id_, of_id in messages.items()}


def rewrite(folder: Path, goldens: dict[str, str]) -> None:
    """Writes the goldens, and deletes all others."""
    for path in folder.glob("*.txt"):
        if path.stem not in goldens:
            path.unlink()
    for id_, text in goldens.items():
        (folder / f"{id_}.txt").write_text(text)


def main(argv: Sequence[str]) -> None:
    if len(argv) > 1:
        raise app.UsageError(f"unknown argument: {argv[1]}")
    root = os.environ.get("BUILD_WORKSPACE_DIRECTORY")
    if not root:
        sys.exit(f"update: not run by Bazel; run it with: {golden.COMMAND}")

    def bazel(*arguments: str) -> str:
        run = subprocess.run(["tools/bazel", *arguments], cwd=root, check=True, stdout=subprocess.PIPE, text=True)
        return run.stdout

    tests = bazel("query", _TESTS).split()
    flags = [f"--test_env={golden.UPDATE}=1", "--nozip_undeclared_test_outputs"]
    if subprocess.run(["tools/bazel", "test", *flags, *tests], cwd=root).returncode != 0:
        sys.exit("update: tests fail for another reason than their goldens; nothing is rewritten")
    rewrite(Path(root) / "diagnostics" / "golden", collect(Path(bazel("info", "bazel-testlogs").strip()), tests))


if __name__ == "__main__":
    app.run(main)
