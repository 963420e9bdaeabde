"""A remote execution engine on this machine: BuildGrid, PostgreSQL and buildbox, on the loopback interface alone."""

from __future__ import annotations

import contextlib
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator

from tests.remote import processes

# What an action asks of a worker.
PLATFORM = {"ISA": os.uname().machine.replace("_", "-"), "OSFamily": "linux"}

_RUNFILES = pathlib.Path(__file__).absolute().parents[3]
_ENVIRONMENT = {
    "HOME": "/nonexistent",
    "LANG": "C.UTF-8",
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "PYTHONDONTWRITEBYTECODE": "1",
}

# The store is casd's: BuildGrid's own cache of actions would be lost with the process. The queue is PostgreSQL's.
# A worker that says nothing for 30 seconds has failed, and another one gets its actions.
_BUILDGRID = """\
server:
  - !channel
    address: "127.0.0.1:{port}"
    insecure-mode: true
connections:
  - !sql-connection &sql
    connection-string: "{database}"
    pool-size: 10
    max-overflow: 20
storages:
  - !remote-storage &store
    url: "http://127.0.0.1:{store_port}"
    instance-name: ""
caches:
  - !remote-action-cache &actions
    url: "http://127.0.0.1:{store_port}"
    instance-name: ""
schedulers:
  - !sql-scheduler &scheduler
    sql: *sql
    storage: *store
    action-cache: *actions
    poll-interval: 0.1
    bot-poll-interval: 0.1
    bot-session-keepalive-timeout: 30
    max-execution-timeout: 7200
    property-set:
      !dynamic-property-set
        match-property-keys: [ISA, OSFamily]
        wildcard-property-keys: [Pool]
    assigners:
      - !priority-age-assigner
        count: 1
        interval: 0.05
        jitter-factor: 0.1
instances:
  - name: ""
    services:
      - !action-cache
        cache: *actions
      - !execution
        scheduler: *scheduler
      - !cas
        storage: *store
      - !bytestream
        storage: *store
thread-pool-size: 400
"""

# What BuildGrid writes of a file that a client has sent: its digest and size.
_WRITTEN = re.compile(r"Write request completed\..*?\b([0-9a-f]{64})/(\d+)")

# buildbox's worker ends when the scheduler is away for some seconds, or has no database; a cluster starts it anew.
_KEEP_RUNNING = """\
trap 'kill $!; wait; exit' TERM
while :; do
    "$@" &
    wait
    sleep 1
done
"""


def _runfile(repository: str, path: str) -> pathlib.Path:
    """A file of another repository, where it really is."""
    for folder in sorted(_RUNFILES.iterdir()):
        if folder.name == repository or folder.name.endswith(("~" + repository, "+" + repository)):
            return (folder / path).resolve()
    raise FileNotFoundError(f"no repository {repository} in {_RUNFILES}")


@contextlib.contextmanager
def folder() -> Iterator[pathlib.Path]:
    """A folder for an engine, removed in the end."""
    with tempfile.TemporaryDirectory(prefix="executorch_remote_") as name:
        path = pathlib.Path(name)
        path.chmod(0o755)
        yield path


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def _is_listening(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Engine:
    """The engine's processes; use as a context, which ends them.

    Started by root, the database and the workers run as `nobody`: PostgreSQL refuses root, and the store gives workers
    of another account links to its files in place of copies. So all that they read lies below the engine's folder.
    """

    def __init__(self, folder: pathlib.Path, jobs: int) -> None:
        """Makes an engine that does not run yet.

        Args:
            folder: an empty folder that all accounts can read, with a short path.
            jobs: how many actions a worker runs at once.
        """
        self.folder = folder
        self.port = _free_port()
        self.store = folder / "store"
        self.worker_names: list[str] = []
        self._store_port = _free_port()
        self._jobs = jobs
        self._account = processes.Account.without_rights()
        self._running: dict[str, processes.Process] = {}
        self._buildbox = self._copy("buildbox", "buildbox-worker")
        self._postgresql = self._copy("postgresql", "postgres")
        self._buildgrid = _runfile("buildgrid_python", "site-packages")
        self._sockets = folder / "sockets"
        self._sockets.mkdir()
        shutil.chown(self._sockets, *(self._account.options.get(kind, -1) for kind in ("user", "group")))  # type: ignore[call-overload]
        self._database = f"postgresql+psycopg2://{self._account.name}@/postgres?host={self._sockets}"

    def _copy(self, repository: str, program: str) -> pathlib.Path:
        """The repository that has a program, in the engine's folder."""
        to = self.folder / repository
        shutil.copytree(_runfile(repository, program).parent, to, symlinks=True)
        subprocess.run(["chmod", "-R", "a+rX", to], check=True)
        return to

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        for name, process in reversed(self._running.items()):
            process.stop(signal.SIGINT if name == "database" else signal.SIGTERM)

    @property
    def bazel_flags(self) -> list[str]:
        """What a build needs that runs every action here."""
        return [
            f"--remote_executor=grpc://127.0.0.1:{self.port}",
            "--remote_instance_name=",
            *(f"--remote_default_exec_properties={name}={value}" for name, value in PLATFORM.items()),
            "--spawn_strategy=remote",
            "--noremote_local_fallback",
            # BuildGrid refuses more requests at once.
            "--remote_max_connections=1",
            # Seconds for one file: those of torch have up to 400 MB, and share the connection with a hundred others.
            "--remote_timeout=600",
            # Long enough to start a server anew.
            "--remote_retries=60",
            f"--jobs={4 * self._jobs}",
            "--nolegacy_external_runfiles",
        ]

    @property
    def python(self) -> str:
        """An interpreter that the workers can run, too: this one may lie in the user's own folder."""
        try:
            subprocess.run([sys.executable, "-c", ""], check=True, cwd="/", **self._account.options)  # type: ignore[call-overload]
        except (OSError, subprocess.CalledProcessError):
            return "/usr/bin/python3"
        return sys.executable

    def bazelrc(self) -> pathlib.Path:
        """Writes the flags into a file for --bazelrc."""
        file = self.folder / "bazelrc"
        build = [*self.bazel_flags, "--//rules:python_environment=tree"]
        flags = [f"common --repo_env=EXECUTORCH_PYTHON={self.python}", *(f"build {flag}" for flag in build)]
        file.write_text("".join(f"{flag}\n" for flag in flags))
        return file

    def start(self, workers: int) -> None:
        """Starts all processes, in the order in which they need each other."""
        self.start_database()
        self._start_store()
        self.start_scheduler()
        for _ in range(workers):
            self.start_worker()

    def _start(
        self, name: str, *command: str | pathlib.Path, account: processes.Account | None = None
    ) -> processes.Process:
        process = processes.Process(
            command,
            self.folder,
            self.folder / f"{name}.log",
            account or processes.Account.own(),
            _ENVIRONMENT,
        )
        self._running[name] = process
        return process

    def start_database(self) -> None:
        """PostgreSQL, on a socket of its own; what it holds outlives its process."""
        data = self._sockets / "data"
        if not data.exists():
            initialize = [
                self._postgresql / "initdb",
                "-D",
                data,
                "-A",
                "trust",
                "-E",
                "UTF8",
                "--locale=C",
                "--no-sync",
            ]
            subprocess.run(
                [*initialize, "-U", self._account.name],
                check=True,
                capture_output=True,
                cwd=self._sockets,
                env=_ENVIRONMENT,
                **self._account.options,  # type: ignore[call-overload]
            )
        state = data / "postmaster.pid"
        state.unlink(missing_ok=True)
        settings = {
            "fsync": "off",
            "full_page_writes": "off",
            "jit": "off",
            "listen_addresses": "",
            "synchronous_commit": "off",
            "unix_socket_directories": self._sockets,
        }
        options = [argument for name, value in settings.items() for argument in ("-c", f"{name}={value}")]
        process = self._start("database", self._postgresql / "postgres", "-D", data, *options, account=self._account)
        process.wait_for(lambda: state.exists() and state.read_text().rstrip().endswith("ready"))

    def _start_store(self) -> None:
        """buildbox-casd: the contents of files, and the results of actions."""
        casd = self._buildbox / "buildbox-casd"
        process = self._start("store", casd, f"--bind=127.0.0.1:{self._store_port}", "--quota-high=30G", self.store)
        process.wait_for(lambda: _is_listening(self._store_port))

    def _buildgrid_command(self, *arguments: str | pathlib.Path) -> list[str | pathlib.Path]:
        path = f"import sys; sys.path.insert(0, {str(self._buildgrid)!r})"
        program = f"{path}; from buildgrid.server.app import cli; cli()"
        return [sys.executable, "-I", "-c", program, *arguments]

    def start_scheduler(self) -> None:
        """BuildGrid, which Bazel talks to."""
        configuration = self.folder / "buildgrid.yml"
        configuration.write_text(
            _BUILDGRID.format(database=self._database, port=self.port, store_port=self._store_port)
        )
        migrate = self._buildgrid_command("migrate", "apply", self._database)
        subprocess.run(migrate, check=True, capture_output=True, env=_ENVIRONMENT)
        process = self._start("scheduler", *self._buildgrid_command("server", "start", "-vv", configuration))
        process.wait_for(lambda: _is_listening(self.port))

    def start_worker(self) -> str:
        """A worker, which runs actions with the programs of this machine; returns its name."""
        name = f"worker{len(self.worker_names)}"
        self.worker_names.append(name)
        self._start(
            name,
            *("/bin/sh", "-c", _KEEP_RUNNING, name),
            self._buildbox / "buildbox-worker",
            f"--bots-remote=http://127.0.0.1:{self.port}",
            f"--cas-remote=http://127.0.0.1:{self._store_port}",
            f"--buildbox-run={self._buildbox / 'buildbox-run-hosttools'}",
            # An action sees the environment that it declares.
            "--runner-arg=--clearenv",
            f"--concurrent-jobs={self._jobs}",
            *(f"--platform={key}={value}" for key, value in PLATFORM.items()),
            name,
            account=self._account,
        )
        return name

    def kill(self, name: str) -> None:
        """Ends a process (database, scheduler or a worker) as a failure of its machine would."""
        self._running.pop(name).kill()

    def actions_of(self, worker: str) -> int:
        """How many actions a worker has run."""
        return (self.folder / f"{worker}.log").read_text(errors="replace").count("Runner exited with code")

    def uploads(self) -> list[tuple[str, int]]:
        """What builds have sent: the digest and the size of each file, as often as it was sent."""
        log = (self.folder / "scheduler.log").read_text(errors="replace")
        return [(digest, int(size)) for digest, size in _WRITTEN.findall(log)]
