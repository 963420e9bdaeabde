#!/bin/sh
# Runs the Python interpreter of an action: python.sh INTERPRETER ARGUMENT...
[ -x "$1" ] || {
    echo "rules_executorch: the machine that runs this action has no Python interpreter $1, or may not run it.

Likely cause: with remote execution, the interpreter was found on the PATH of the machine that runs Bazel.
Fix: name one that this machine and the workers have, of one version: --repo_env=EXECUTORCH_PYTHON=/usr/bin/python3." >&2
    exit 1
}
exec "$@"
