"""A remote execution engine on this machine, for trying remote builds: runs until Ctrl-C, and leaves nothing.

    tools/bazel run //tests/remote:serve               # prints FILE
    tools/bazel --bazelrc=FILE test //examples/...     # in another terminal

The engine listens on the loopback interface alone, and asks nobody for a password: every program of this machine can
have commands run by the engine's account.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence

from absl import app, flags

from tests.remote import engine, processes

_JOBS = flags.DEFINE_integer("jobs", 2, "How many actions a worker runs at once.", lower_bound=1)
_WORKERS = flags.DEFINE_integer("workers", 1, "How many workers there are.", lower_bound=1)


def main(argv: Sequence[str]) -> None:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected argument {argv[1]}")
    # As Ctrl-C: the contexts end.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with engine.folder() as folder, engine.Engine(folder, _JOBS.value) as running:
            running.start(_WORKERS.value)
            print(f"serve: runs up to {_WORKERS.value * _JOBS.value} actions at once; Ctrl-C ends it")
            print(f"tools/bazel --bazelrc={running.bazelrc()} test ...", flush=True)
            signal.pause()
    except processes.ProcessError as error:
        sys.exit(f"serve: {error}")
    except KeyboardInterrupt:
        print("serve: ended")


if __name__ == "__main__":
    app.run(main)
