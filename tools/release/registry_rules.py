"""What the central registry accepts, as data: the rules of bazelbuild/bazel-central-registry and of its CI.

Each table names the file of the registry, or of the tools that publish to it, that the table comes from.
"""

from __future__ import annotations

import re

# docs/README.md (Structure) and metadata.schema.json. Every maintainer needs the number of the GitHub account, by which
# tools/bcr_validation.py recognizes an account that was renamed.
METADATA_FIELDS = {
    "$schema": str,
    "deprecated": str,
    "homepage": str,
    "maintainers": list,
    "repository": list,
    "versions": list,
    "website": str,
    "yanked_versions": dict,
}
METADATA_REQUIRED = ("homepage", "maintainers", "repository", "versions")
MAINTAINER_FIELDS = {"do_not_notify": bool, "email": str, "github": str, "github_user_id": int, "name": str}
MAINTAINER_REQUIRED = ("github", "github_user_id")
GITHUB_NAME = re.compile(r"[a-zA-Z0-9]+(?:-[a-zA-Z0-9]+)*")

# Fields of a source.template.json for an archive; docs/stardoc.md has `docs_url`. A type other than `archive`, patches
# and overlays are for modules whose sources need changes.
SOURCE_FIELDS = frozenset({"docs_url", "integrity", "strip_prefix", "url"})
# What publish-to-bcr replaces (its templates/README.md).
PLACEHOLDERS = frozenset({"OWNER", "REPO", "TAG", "VERSION"})
# tools/bcr_validation.py accepts files of releases; it warns of archives that GitHub makes, whose bytes change.
RELEASE_URL = "https://github.com/{OWNER}/{REPO}/releases/download/{TAG}/"

# https://bazel.build/external/module#version_format
MODULE_VERSION = re.compile(r"\d+(?:\.[0-9A-Za-z]+)*(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?")
MODULE_NAME = re.compile(r"[a-z]([a-z0-9._-]*[a-z0-9])?")

# The platforms of `presubmit.yml`, and the `python3` of each, as a minor version of Python 3; None where the machine's
# image does not come from a distribution. bazelbuild/continuous-integration: buildkite/docker and bazelci.py.
PLATFORMS: dict[str, int | None] = {
    "debian10": 7,
    "debian11": 9,
    "debian12": 11,
    "debian13": 13,
    "fedora39": 12,
    "fedora40": 12,
    "fedora43": 14,
    "macos": None,
    "macos_arm64": None,
    "rockylinux8": 6,
    "ubuntu2004": 8,
    "ubuntu2004_arm64": 8,
    "ubuntu2204": 10,
    "ubuntu2404": 12,
    "windows": None,
}
# A track (`8.x`), or a release. The registry refuses a task without one; words such as `latest` change their meaning.
BAZEL_VERSION = re.compile(r"(?P<major>\d+)\.(?:x|\*|\d+\.\d+)")
# docs/README.md of the registry, and buildkite/README.md of bazelbuild/continuous-integration.
TASK_FIELDS = frozenset(
    {
        "batch_commands",
        "bazel",
        "build_flags",
        "build_targets",
        "environment",
        "name",
        "platform",
        "run_targets",
        "shell_commands",
        "test_flags",
        "test_targets",
    }
)
