#!/usr/bin/env bash
# Makes the files of a release and prints its notes. The reusable workflow that release.yml calls runs this script with
# the tag, at this path.
set -euo pipefail

files=$(mktemp -d)
tools/bazel run //tools/release -- --tag="$1" --repository="$GITHUB_REPOSITORY" --output="$files" >&2
cp "$files"/rules_executorch*.tar.gz .
cat "$files/release_notes.md"
