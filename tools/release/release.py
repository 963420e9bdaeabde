"""Checks a version against the rules of the central registry, and writes the files of its release.

The maintainers and the repository are written to .bcr/metadata.template.json once, and are part of the commit:

    tools/bazel run //tools/release -- --repository=OWNER/NAME --maintainer=github:NAME,github_user_id:NUMBER

With --output, the folder gets the archives, the notes of the release, and a registry that has this version only:

    tools/bazel run //tools/release -- --output=/tmp/release
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from absl import app, flags

from tools.release import archive_checks, candidate, entry, presubmit_checks, template_checks
from tools.release.candidate import Candidate
from tools.release.problems import Problem, ReleaseError

_ARCHIVE = flags.DEFINE_string("archive", f"tools/release/{candidate.ARCHIVE}", "The archive of the module.")
_DOCS = flags.DEFINE_string("docs", f"tools/release/{candidate.DOCS}", "The archive of the reference.")
_TAG = flags.DEFINE_string("tag", "", "The tag of the release. Default: that of the newest version of CHANGELOG.md.")
_REPOSITORY = flags.DEFINE_string("repository", "", "The repository on GitHub that makes the release: OWNER/NAME.")
_MAINTAINER = flags.DEFINE_multi_string(
    "maintainer",
    [],
    "A maintainer, as github:NAME,github_user_id:NUMBER, also with name:, email: and do_not_notify:. These maintainers "
    "and --repository are written to .bcr/metadata.template.json.",
)
_OUTPUT = flags.DEFINE_string("output", "", "The folder for the files of the release. Default: only the checks.")

_CHECKS = (
    archive_checks.module_file,
    archive_checks.members,
    archive_checks.reference,
    template_checks.metadata,
    template_checks.source,
    presubmit_checks.tasks,
    presubmit_checks.test_module,
)


def problems(version: Candidate) -> list[Problem]:
    """All that is wrong with a version."""
    return [problem for check in _CHECKS for problem in check(version)]


def main(argv: Sequence[str]) -> int:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected argument {argv[1]}")
    root = Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."))
    archive, docs = Path(_ARCHIVE.value), Path(_DOCS.value)
    try:
        if _MAINTAINER.value:
            entry.fill_metadata(root, _REPOSITORY.value, _MAINTAINER.value)
        version = candidate.read(root, archive, docs, tag=_TAG.value, repository=_REPOSITORY.value)
        found = problems(version)
        if found:
            raise ReleaseError(found)
    except ReleaseError as error:
        print(error, file=sys.stderr)
        return 1
    if _OUTPUT.value:
        to = Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."), _OUTPUT.value)
        entry.write(version, root, [archive, docs], to)
        print(f"{to}: the files of {version.tag}")
    else:
        print(f"{version.tag}: the registry's rules are kept")
    return 0


if __name__ == "__main__":
    app.run(main)
