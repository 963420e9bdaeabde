"""Downloads packages of a Debian suite with a private state of apt. The machine's state is not read or changed."""

import concurrent.futures
import dataclasses
import pathlib
import platform
import re
import shutil
from collections.abc import Collection, Iterable, Mapping, Sequence

from tools.launcher import errors
from tools.launcher.debian import machine, process

# apt uses one core, and downloads one package at a time, so several processes run in parallel.
_WORKERS = 4

_KEYRINGS = ("debian-archive-keyring.gpg", "debian-archive-keyring.pgp")

# The machine's configuration of the connection (proxies, certificates) stays in force. Hooks are disabled, since they
# would change the system's state. The expiry date of a suite is not checked, since a mirror may be a snapshot.
_CONFIGURATION = """\
Dir::State "{state}";
Dir::State::Lists "{state}/lists";
Dir::State::status "{state}/status";
Dir::Cache "{state}/cache";
Dir::Cache::pkgcache "pkgcache.bin";
Dir::Cache::srcpkgcache "";
Dir::Etc::sourcelist "{state}/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Acquire::Check-Valid-Until "false";
Acquire::Retries "3";
APT::Update::Error-Mode "any";
APT::Sandbox::User "root";
Debug::NoLocking "true";
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
"""

# For each package, the list of dependencies. Each dependency is a list of packages that satisfy it.
Graph = Mapping[str, Sequence[Sequence[str]]]


@dataclasses.dataclass(frozen=True)
class Suite:
    """A suite of a Debian mirror.

    Attributes:
        name: str: the suite's codename.
        state: pathlib.Path: the folder of apt's private state.
        commands: process.Commands: runs apt's programs.
    """

    name: str
    state: pathlib.Path
    commands: process.Commands

    def update(self, architecture: machine.Architecture) -> None:
        """Downloads the suite's list of packages from the machine's Debian mirror.

        Raises:
            errors.LauncherError: no mirror is configured, has the suite, or can be reached.
        """
        for folder in ("lists/partial", "cache/archives/partial"):
            (self.state / folder).mkdir(parents=True)
        (self.state / "status").touch()
        (self.state / "apt.conf").write_text(_CONFIGURATION.format(state=self.state))
        mirrors = self._mirrors()
        if not mirrors:
            raise errors.LauncherError(
                "no Bazel >= 7 found, and no Debian mirror to install it from is configured in /etc/apt/sources.list or"
                f" /etc/apt/sources.list.d: configure one, or {errors.OTHER_WAYS}"
            )
        keyrings = [pathlib.Path("/usr/share/keyrings", name) for name in _KEYRINGS]
        signed_by = next((f" signed-by={keyring}" for keyring in keyrings if keyring.exists()), "")
        failures = []
        for mirror in mirrors:
            source = f"deb [target=Packages arch={architecture.name}{signed_by}] {mirror} {self.name} main\n"
            (self.state / "sources.list").write_text(source)
            try:
                self._apt("apt-get", "-qq", "update")
            except process.CommandError as error:
                failures.append(self._explain(error, mirror))
            else:
                return
        raise failures[0]

    def _mirrors(self) -> list[str]:
        """Returns the machine's sources that may be Debian mirrors, the most likely one first."""
        targets = self.commands.run(
            [
                "apt-get",
                "indextargets",
                "--no-release-info",
                "--format",
                "$(REPO_URI) $(RELEASE) $(COMPONENT)",
                "Created-By: Packages",
            ]
        )
        return find_mirrors(targets, platform.freedesktop_os_release().get("VERSION_CODENAME", ""))

    def dependencies(self, roots: Collection[str]) -> Graph:
        """Returns the transitive dependencies of `roots`.

        Raises:
            errors.LauncherError: the suite lacks one of `roots`.
        """
        kinds = ("recommends", "suggests", "conflicts", "breaks", "replaces", "enhances")
        options = ["--recurse", *(f"--no-{kind}" for kind in kinds)]
        try:
            listing = self._apt("apt-cache", "depends", *options, *roots)
        except process.CommandError as error:
            raise errors.LauncherError(self._lacking(roots)) from error
        graph = parse_dependencies(listing)
        missing = [root for root in roots if root not in graph]
        if missing:
            raise errors.LauncherError(self._lacking(missing))
        return graph

    def _lacking(self, packages: Collection[str]) -> str:
        return f"Debian's suite {self.name} has no package {' or '.join(packages)} (any more): {errors.OTHER_WAYS}"

    def unpack(self, packages: Collection[str], root: pathlib.Path) -> None:
        """Downloads the packages and unpacks them under `root`.

        Raises:
            errors.LauncherError: a download failed, or the disk is full.
        """
        root.mkdir(parents=True)
        parts = shares(self._sizes(packages), _WORKERS)
        with concurrent.futures.ThreadPoolExecutor(_WORKERS) as pool:
            done = [pool.submit(self._unpack_share, number, share, root) for number, share in enumerate(parts)]
            try:
                for future in concurrent.futures.as_completed(done):
                    future.result()
            finally:
                pool.shutdown(cancel_futures=True)

    def _sizes(self, packages: Collection[str]) -> dict[str, int]:
        listing = self._apt("apt-get", "-qq", "--print-uris", "download", *packages)
        sizes = dict(re.findall(r"^'\S+' ([^_\s]+)_\S+ (\d+) ", listing, re.MULTILINE))
        return {package: int(sizes.get(package, 0)) for package in packages}

    def _unpack_share(self, number: int, packages: Sequence[str], root: pathlib.Path) -> None:
        archives = self.state / f"archives-{number}"
        archives.mkdir(parents=True)
        try:
            self._apt("apt-get", "-qq", "download", *packages, cwd=archives)
        except process.CommandError as error:
            raise self._explain(error, "the Debian mirror") from error
        for archive in sorted(archives.glob("*.deb")):
            try:
                self.commands.run(["dpkg-deb", "--extract", archive, root])
            except process.CommandError as error:
                raise self._explain(error, archive.name) from error
        shutil.rmtree(archives)

    def _explain(self, error: process.CommandError, source: str) -> errors.LauncherError:
        """Returns the error to show for an error of apt or dpkg with `source`."""
        said = f"({error.program} said: {error.reason})"
        if "No space left" in error.complaint:
            return errors.LauncherError(
                f"the disk filled up while Bazel was being installed under {self.state.parent}: free some space, or set"
                " XDG_CACHE_HOME to a folder on another disk"
            )
        if "does not have a Release file" in error.complaint:
            return errors.LauncherError(
                f"{source} has no suite {self.name}, from which Bazel is installed {said}: configure a complete Debian"
                f" mirror in /etc/apt, or {errors.OTHER_WAYS}"
            )
        if "NO_PUBKEY" in error.complaint or "is not signed" in error.complaint:
            return errors.LauncherError(
                f"this machine cannot verify the signature of the suite {self.name} at {source} {said}: upgrade the"
                f" package debian-archive-keyring, or {errors.OTHER_WAYS}"
            )
        if error.program == "dpkg-deb":
            return errors.LauncherError(f"{source} cannot be unpacked {said}: run again, or {errors.OTHER_WAYS}")
        return errors.LauncherError(
            f"the download of Bazel from {source} broke off {said}: check the network, and apt's proxy in"
            f" /etc/apt/apt.conf.d, and run again; or {errors.OTHER_WAYS}"
        )

    def _apt(self, *command: str, cwd: pathlib.Path | None = None) -> str:
        return self.commands.run([command[0], "-c", self.state / "apt.conf", *command[1:]], cwd)


def find_mirrors(targets: str, codename: str) -> list[str]:
    """Returns the sources that may be Debian mirrors, the most likely one first.

    Args:
        targets: a line "URI SUITE COMPONENT" for each package list in the configuration of the machine's apt.
        codename: the codename of the machine's release. A suite may also be named by its role.
    """
    suites = {codename, "stable", "testing", "unstable", "sid"}
    rows = (line.split() for line in targets.splitlines())
    mirrors = {row[0].rstrip("/") for row in rows if len(row) == 3 and row[1] in suites and row[2] == "main"}
    return sorted(mirrors, key=lambda mirror: (not mirror.endswith("/debian"), mirror))


def parse_dependencies(listing: str) -> Graph:
    """Parses the output of `apt-cache depends --recurse`.

    Each package has a line, followed by indented lines of its dependencies. " |" marks a dependency with the next line
    as its alternative. "<name>" is a virtual package, followed by further indented lines of the packages that provide
    it.
    """
    graph: dict[str, list[list[str]]] = {}
    dependencies: list[list[str]] = []
    open_alternative = False
    for line in listing.splitlines():
        name = line.split()[-1].removesuffix(":any")
        if not line.startswith(" "):
            dependencies = graph.setdefault(name, [])
            open_alternative = False
        elif line.startswith("    "):
            dependencies[-1].append(name)
        else:
            if not open_alternative:
                dependencies.append([])
            if not name.startswith("<"):
                dependencies[-1].append(name)
            open_alternative = line.startswith(" |")
    return graph


def closure(graph: Graph, roots: Iterable[str], without: Collection[str]) -> list[str]:
    """Returns `roots` and their transitive dependencies, in alphabetical order.

    The first package that satisfies a dependency is taken. Packages of `without`, and packages that only these need,
    are left out.
    """
    found: set[str] = set()
    todo = list(roots)
    while todo:
        package = todo.pop()
        if package in found or package in without:
            continue
        found.add(package)
        todo.extend(alternatives[0] for alternatives in graph.get(package, ()) if alternatives)
    return sorted(found)


def shares(sizes: Mapping[str, int], number: int) -> list[list[str]]:
    """Splits the packages into shares of about the same size. In each share, the largest packages come first."""
    shares: list[list[str]] = [[] for _ in range(number)]
    totals = [0] * number
    for package in sorted(sizes, key=lambda package: (-sizes[package], package)):
        smallest = totals.index(min(totals))
        shares[smallest].append(package)
        totals[smallest] += sizes[package]
    return [share for share in shares if share]
