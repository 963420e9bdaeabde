"""The Python interpreter of the machine, and pip, as repository rules use them."""

load(":version_check.bzl", "python_range")

visibility(["//rules/...", "//tests/...", "//tools/lint/..."])

_OLDEST, _NEWEST = python_range()

NO_PYTHON_ERR = """rules_executorch: expected an interpreter of Python 3.{oldest} to 3.{newest}; {found}.

Likely cause: no such Python is installed, or the PATH has another Python first.
Fix: install Python (Debian: apt-get install python3), or name an interpreter with --repo_env=EXECUTORCH_PYTHON=/path/to/python3."""

NO_PIP_ERR = """rules_executorch: {python}: expected the module pip; found none.

Likely cause: the distribution packages pip apart from Python (Debian: python3-pip).
Fix: install pip, or name a wheel of pip with --repo_env=EXECUTORCH_PIP_WHEEL=/path/to/pip.whl."""

_PROBE = "import sys; print(sys.executable); print(sys.version_info[1]); print(sys.version.split()[0])"

# What repository rules that call these functions list as `environ`.
PYTHON_ENVIRON = ["EXECUTORCH_PYTHON", "EXECUTORCH_PIP_WHEEL"]

def find_python(rctx):
    """Finds the interpreter that installs packages and runs the tools.

    Args:
      rctx: the repository context.
    Returns:
      struct(path: str, minor: int, version: str); `path` is the interpreter itself, past any wrapper (pyenv).
    """
    named = rctx.getenv("EXECUTORCH_PYTHON") if hasattr(rctx, "getenv") else rctx.os.environ.get("EXECUTORCH_PYTHON")
    candidate = named or rctx.which("python3")
    if not candidate:
        fail(NO_PYTHON_ERR.format(found = "python3 is not on the PATH", oldest = _OLDEST, newest = _NEWEST))
    probe = rctx.execute([candidate, "-I", "-c", _PROBE])
    lines = probe.stdout.strip().split("\n")
    if probe.return_code != 0 or len(lines) != 3:
        fail(NO_PYTHON_ERR.format(found = "{} does not run: {}".format(candidate, probe.stderr.strip()), oldest = _OLDEST, newest = _NEWEST))
    path, minor, version = lines[0], int(lines[1]), lines[2]
    if minor < _OLDEST or minor > _NEWEST:
        fail(NO_PYTHON_ERR.format(found = "{} is Python {}".format(path, version), oldest = _OLDEST, newest = _NEWEST))
    return struct(path = path, minor = minor, version = version)

def pip_command(rctx, python):
    """The command that runs pip: the interpreter's own, else the wheel that the environment names.

    Args:
      rctx: the repository context.
      python: what find_python returned.
    Returns:
      list[str]: the beginning of a command line.
    """
    if rctx.execute([python.path, "-m", "pip", "--version"]).return_code == 0:
        return [python.path, "-m", "pip"]
    wheel = rctx.os.environ.get("EXECUTORCH_PIP_WHEEL")
    if not wheel or not rctx.path(wheel).exists:
        fail(NO_PIP_ERR.format(python = python.path))
    return [python.path, wheel + "/pip"]

def pip_download_command(rctx, python, requirements, folder):
    """The command that downloads the wheels of a lock.

    Args:
      rctx: the repository context.
      python: what find_python returned.
      requirements: path of the lock, with hashes.
      folder: str, the folder for the wheels.
    Returns:
      list[str]: a command line, to which options may be added.
    """
    return pip_command(rctx, python) + [
        "download",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
        "--only-binary=:all:",
        "--require-hashes",
        "--requirement={}".format(requirements),
        "--dest={}".format(folder),
    ]

# Stands in for Python.h: what does not include it must not need it.
_NO_HEADERS = """\
#error "rules_executorch: {include} has no Python.h, which this file includes, directly or by torch/extension.h. Likely cause: \
the distribution packages Python's headers apart from Python. Fix: install them (Debian: apt-get install python3-dev), or \
name a Python that has them with --repo_env=EXECUTORCH_PYTHON=/path/to/python3."
#include "python3-dev"  // Ends the compilation here.
"""

_HEADERS_BUILD = """\
load("@rules_cc//cc:defs.bzl", "cc_library")
load(":python_headers.bzl", "python_headers")

package(default_visibility = ["//visibility:public"])

# What needs Python.h is compatible with this.
alias(
    name = "found",
    actual = "{compatible}",
)

cc_library(
    name = "machines",
    hdrs = glob(["include/**"]),
    includes = ["include"],
)

python_headers(
    name = "headers",
    interpreter = "{path}",
    machines = ":machines",
)
"""

_HEADERS_RULE = """\
load("@rules_executorch//rules/private/toolchains:python_headers.bzl", "python_headers_rule")

python_headers = python_headers_rule({cc_toolchain_type})
"""

_RUNTIME_BUILD = """\
load("@rules_executorch//rules/private/toolchains:workspace_python.bzl", "workspace_python")
load("@rules_python//python:py_runtime.bzl", "py_runtime")
load("@rules_python//python:py_runtime_pair.bzl", "py_runtime_pair")

package(default_visibility = ["//visibility:public"])

py_runtime(
    name = "runtime",
    interpreter_path = "{path}",{version}
    python_version = "PY3",
)

py_runtime_pair(
    name = "runtime_pair",
    py3_runtime = ":runtime",
)

toolchain(
    name = "toolchain",
    toolchain = ":runtime_pair",
    toolchain_type = "@rules_python//python:toolchain_type",
)

workspace_python(name = "workspaces")

# For the tools only.
toolchain(
    name = "tools_toolchain",
    toolchain = ":{tools}",
    toolchain_type = "@rules_executorch//rules:python_toolchain_type",
)
"""

_VERSION = """
    interpreter_version_info = {{
        "major": "3",
        "minor": "{minor}",
    }},"""

def _rules_python_has(rctx, package):
    return rctx.path(Label("@rules_python//python:BUILD.bazel")).dirname.get_child(package).exists

def add_python_runtime(rctx, python, tools_have_workspaces = False):
    """Makes the root package: the Python toolchain.

    Args:
      rctx: the repository context.
      python: what find_python returned.
      tools_have_workspaces: whether the tools run under the workspace's Python toolchain, and not under this interpreter.
    """

    # rules_python takes the interpreter for one of its own default version if nothing says otherwise, and makes virtual
    # environments of that version. The package `api` is as old as 0.37. Some older py_runtime has no such attribute.
    version = _VERSION.format(minor = python.minor) if _rules_python_has(rctx, "api") else ""
    rctx.file("BUILD.bazel", _RUNTIME_BUILD.format(
        path = python.path,
        tools = "workspaces" if tools_have_workspaces else "runtime_pair",
        version = version,
    ))

def add_python_headers(rctx, python):
    """Makes the package `headers`: Python's headers, or what says that there are none.

    Args:
      rctx: the repository context.
      python: what find_python returned.
    """
    include = rctx.execute([python.path, "-I", "-c", "import sysconfig; print(sysconfig.get_path('include'))"]).stdout.strip()
    header = rctx.path(include + "/Python.h")
    if hasattr(rctx, "watch"):
        rctx.watch(header)
    if header.exists:
        rctx.symlink(include, "headers/include")
    else:
        rctx.file("headers/include/Python.h", _NO_HEADERS.format(include = include))
    cc_toolchain_type = "Label(\"@rules_python//python/cc:toolchain_type\")" if _rules_python_has(rctx, "cc") else None
    rctx.file("headers/python_headers.bzl", _HEADERS_RULE.format(cc_toolchain_type = cc_toolchain_type))
    rctx.file("headers/BUILD.bazel", _HEADERS_BUILD.format(
        compatible = "@platforms//os:linux" if header.exists else "@platforms//:incompatible",
        path = python.path,
    ))

def _host_python_repository_impl(rctx):
    python = find_python(rctx)
    add_python_runtime(rctx, python, rctx.attr.tools_have_workspaces)
    add_python_headers(rctx, python)

host_python_repository = repository_rule(
    doc = """Python toolchains of the machine's own interpreter, the one that the other repositories install packages with.

`@<name>//:tools_toolchain` is for the tools of these rules only, `@<name>//:toolchain` for all of a workspace. `@<name>//headers` has Python's headers for C++, which may be those of another Python toolchain.""",
    implementation = _host_python_repository_impl,
    attrs = {
        "tools_have_workspaces": attr.bool(
            doc = "Whether the tools run under the workspace's Python toolchain, for which its hub has the packages. Default: False.",
        ),
    },
    environ = PYTHON_ENVIRON,
    configure = True,
)
