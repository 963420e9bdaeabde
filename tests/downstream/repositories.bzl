"""The Bazel that runs this build, and what nested builds would download, for tests that run Bazel."""

# buildifier: disable=bzl-visibility
load("//rules/private/repositories:host_python.bzl", "PYTHON_ENVIRON", "find_python", "pip_download_command")

NO_BAZEL_ERR = """no Bazel for tests that run one: neither EXECUTORCH_BAZEL nor a bazelisk or bazel on the PATH.

Likely cause: this build was not started by tools/bazel.
Fix: tools/bazel test //..., or --repo_env=EXECUTORCH_BAZEL=/path/to/bazel."""

NO_WHEELS_ERR = """could not download the wheels of tests/downstream:
{stderr}
Likely cause: no network, or an index without one of the versions.
Fix: check that `pip download -r requirements/downstream.txt` works on this machine."""

# Where versions of rules_python say which wheels their extension for pip downloads.
_RULES_PYTHON_WHEELS = ["python/pip_install/repositories.bzl", "python/private/pypi/deps.bzl"]

def _bazel_repository_impl(rctx):
    bazel = rctx.os.environ.get("EXECUTORCH_BAZEL") or rctx.which("bazelisk") or rctx.which("bazel")
    if not bazel:
        fail(NO_BAZEL_ERR)
    rctx.symlink(bazel, "bazel")
    rctx.file("BUILD.bazel", """exports_files(["bazel"])""")

bazel_repository = repository_rule(
    doc = "The Bazel that tools/bazel found or installed.",
    implementation = _bazel_repository_impl,
    environ = ["EXECUTORCH_BAZEL"],
)

def _rules_python_lock(rctx):
    """A lock of the wheels that rules_python downloads, whose list has lines of an address and of a hash."""
    root = rctx.path(Label("@rules_python//python:BUILD.bazel")).dirname.dirname
    lines = []
    for path in _RULES_PYTHON_WHEELS:
        listing = root.get_child(path)
        if listing.exists:
            lines += [line.strip().strip("\",") for line in rctx.read(listing).split("\n")]
    lock = ""
    for address, sha256 in zip(lines, lines[1:]):
        if address.endswith(".whl"):
            name, version = address.rpartition("/")[2].split("-")[:2]
            lock += "{}=={} --hash=sha256:{}\n".format(name, version, sha256)
    return lock

def _wheels_repository_impl(rctx):
    python = find_python(rctx)
    rctx.file("rules_python.txt", _rules_python_lock(rctx))
    for requirements in [rctx.path(rctx.attr.requirements), "rules_python.txt"]:
        result = rctx.execute(pip_download_command(rctx, python, requirements, "wheels"), timeout = 600)
        if result.return_code != 0:
            fail(NO_WHEELS_ERR.format(stderr = result.stderr))
    rctx.file("BUILD.bazel", """\
filegroup(
    name = "wheels",
    srcs = glob(["wheels/*.whl"]),
    visibility = ["//visibility:public"],
)
""")

wheels_repository = repository_rule(
    doc = "The wheels of a lock, and those that rules_python's extension for pip downloads itself, for nested builds without the network.",
    implementation = _wheels_repository_impl,
    attrs = {"requirements": attr.label(mandatory = True, doc = "The lock.")},
    environ = PYTHON_ENVIRON,
)

def nested_repositories():
    """Declares `executorch_bazel` and `downstream_wheels`."""
    bazel_repository(name = "executorch_bazel")
    wheels_repository(
        name = "downstream_wheels",
        requirements = Label("//requirements:downstream.txt"),
    )
