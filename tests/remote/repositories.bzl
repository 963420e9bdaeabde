"""The programs of a remote execution engine: BuildGrid from pip, buildbox and PostgreSQL from Debian's packages."""

# buildifier: disable=bzl-visibility
load("//rules/private/repositories:python_repository.bzl", "python_repository")
load("//third_party:debian_packages.bzl", "extract_debian_packages")

NO_PROGRAMS_ERR = """could not install {programs}: {{found}}.

Likely cause: this machine is not Debian, or reaches no package mirror.
Fix: none; use a remote execution engine on another machine (docs/remote.md)."""

# The first Debian that has buildbox; the programs run with its C library.
_SUITE = "forky"
_TRIPLETS = {"aarch64": "aarch64-linux-gnu", "amd64": "x86_64-linux-gnu", "x86_64": "x86_64-linux-gnu"}
_BUILDBOX_PROGRAMS = ["buildbox-casd", "buildbox-run-hosttools", "buildbox-worker"]

# By the loader, and not by LD_LIBRARY_PATH, which the programs that actions run would inherit.
_BUILDBOX_LAUNCHER = """\
#!/bin/sh
root=$(dirname "$(readlink -f "$0")")
libraries=$root/usr/lib/{triplet}
exec "$libraries"/ld-linux-*.so.? --library-path "$libraries" "$root/usr/bin/{program}" "$@"
"""

def _buildbox_repository_impl(rctx):
    error = NO_PROGRAMS_ERR.format(programs = "buildbox's programs")
    triplet = _TRIPLETS.get(rctx.os.arch)
    if not triplet:
        fail(error.format(found = "Debian has none for " + rctx.os.arch))
    extract_debian_packages(rctx, ["buildbox"], error, with_dependencies = True, suite = _SUITE)
    for program in _BUILDBOX_PROGRAMS:
        rctx.file(program, _BUILDBOX_LAUNCHER.format(program = program, triplet = triplet), executable = True)
    rctx.file("BUILD.bazel", """\
filegroup(
    name = "programs",
    srcs = {programs} + glob(["usr/bin/buildbox-*", "usr/lib/{triplet}/*.so*"]),
    visibility = ["//visibility:public"],
)
""".format(programs = _BUILDBOX_PROGRAMS, triplet = triplet))

buildbox_repository = repository_rule(
    doc = "A store, a worker and a runner of actions: `:programs`, which find one another below one folder.",
    implementation = _buildbox_repository_impl,
)

_POSTGRESQL_LAUNCHER = """\
#!/bin/sh
root=$(dirname "$(readlink -f "$0")")
{environment}exec {program} "$@"
"""

def _servers(rctx, root):
    """The folders of programs of PostgreSQL's releases, newest last."""
    releases = rctx.path(root + "usr/lib/postgresql")
    found = {int(release.basename): release.basename for release in (releases.readdir() if releases.exists else [])}
    return ["usr/lib/postgresql/{}/bin/".format(found[number]) for number in sorted(found)]

def _postgresql_repository_impl(rctx):
    error = NO_PROGRAMS_ERR.format(programs = "PostgreSQL")
    folder, environment, files = "/", "", []
    if not _servers(rctx, "/"):
        extract_debian_packages(rctx, ["postgresql"], error, with_dependencies = True)
        folder = '"$root"/'
        libraries = rctx.execute(["find", "usr/lib", "-name", "*.so*", "-printf", "%h\n"]).stdout.split("\n")
        folders = {library: None for library in libraries if library}.keys()
        environment = "export LD_LIBRARY_PATH={}\n".format(":".join(["$root/" + library for library in sorted(folders)]))
        files = ["usr/lib/**", "usr/share/postgresql/**"]
    servers = _servers(rctx, "" if files else "/")
    if not servers:
        fail(error.format(found = "the package postgresql brings no server"))
    for program in ["initdb", "postgres"]:
        text = _POSTGRESQL_LAUNCHER.format(environment = environment, program = folder + servers[-1] + program)
        rctx.file(program, text, executable = True)
    rctx.file("BUILD.bazel", """\
filegroup(
    name = "programs",
    srcs = ["initdb", "postgres"] + glob({files}, allow_empty = True),
    visibility = ["//visibility:public"],
)
""".format(files = files))

postgresql_repository = repository_rule(
    doc = "PostgreSQL's `initdb` and `postgres`: the machine's, else those of Debian's package.",
    implementation = _postgresql_repository_impl,
)

def remote_repositories():
    """Declares `buildbox`, `buildgrid_python` and `postgresql`."""
    buildbox_repository(name = "buildbox")
    postgresql_repository(name = "postgresql")
    python_repository(
        name = "buildgrid_python",
        packages = ["buildgrid"],
        requirements = Label("//requirements:buildgrid.txt"),
    )
