"""Python packages as one Bazel input: a repository that pip fills from a lock with hashes."""

load(":host_python.bzl", "PYTHON_ENVIRON", "find_python", "pip_command")
load(":version_check.bzl", "caution", "environment_misfit", "misfit", "python_misfit")

visibility([
    "//codegen/binaries/tests/...",
    "//codegen/fuzz/...",
    "//profiles/tests/...",
    "//rules/...",
    "//tests/...",
    "//tools/bench/...",
    "//tools/lint/...",
    "//tools/site/...",
])

INSTALL_ERR = """rules_executorch: pip could not install {requirements} for @{name}:
{stderr}
Likely cause: no network, an index without one of the versions, or a file whose hash the lock does not list.
Fix: check that `pip install --no-deps --require-hashes -r` with this lock works on this machine; or give the tag
executorch.{tag} of MODULE.bazel an existing environment (site_packages) or targets of your own (deps)."""

DISK_ERR = """rules_executorch: pip could not install {requirements} for @{name}: the file system is full:
{stderr}

Likely cause: the packages take several GB, and Bazel's output base, pip's cache or the temporary folder has less room.
Fix: make room in these folders (df -h); --output_user_root moves Bazel's files, TMPDIR the temporary ones. Then build again:
what was installed in part is installed anew."""

CUDA_ERR = """rules_executorch: pip finds no torch {version}, the CPU build, for @{name}:
{stderr}
Likely cause: the package index of pip's configuration offers only the CUDA build of several GB.
Fix: add PyTorch's CPU index to pip's configuration (PIP_EXTRA_INDEX_URL or PIP_FIND_LINKS); or, to install the build
that the index offers, set executorch.python(allow_cuda = True)."""

HASH_ERR = """rules_executorch: pip could not install {requirements} for @{name}: expected a hash in the lock for
the file of {pin} that pip finds; found none.
{stderr}
Likely cause: the lock was made with another index than that of pip's configuration. On Linux x86-64, the rules install
the CPU build of torch (+cpu), which is a file of its own with a hash of its own.
Fix: if the file that pip names above is the one to install, add a line after `{package}==...` in the lock:
    --hash=sha256:{hash} \\"""

MISSING_DEPS_ERR = """rules_executorch: @{name}: executorch.{tag}(deps = ...): expected a target for each of {packages}; got none for {missing}.

Likely cause: deps was written for another version of these rules, or has only the direct dependencies of your own code.
Fix: give a py_library for each of {packages}."""

NO_PACKAGE_ERR = """rules_executorch: @{name}: expected a package {package} in {site_packages}; found none.

Likely cause: site_packages is another directory than lib/python3.X/site-packages of the environment.
Fix: give the directory that `python -c "import {package}, os; print(os.path.dirname({package}.__path__[0]))"` prints."""

# What the operating system says of a full disk, as pip and uv pass it on.
_DISK_IS_FULL = ["No space left on device", "Disk quota exceeded"]

# The largest number of lines of pip in a message.
_MOST_LINES = 40

# In a lock, the line with a folder of wheels.
_FIND_LINKS = "--find-links="

def _normalized(package):
    return package.lower().replace("-", "_").replace(".", "_")

def _installed(rctx, directory):
    """The distributions in a site-packages directory: {normalized name: struct(version, metadata: path)}."""
    found = {}
    for entry in rctx.path(directory).readdir():
        if entry.basename.endswith(".dist-info"):
            name, _, version = entry.basename.removesuffix(".dist-info").rpartition("-")
            found[_normalized(name)] = struct(metadata = entry, version = version)
    return found

def _pinned(rctx, requirements, package):
    """The version that a lock pins a package to, or None."""
    for line in rctx.read(requirements).split("\n"):
        if line.startswith(package + "=="):
            return line.removeprefix(package + "==").split(" ")[0]
    return None

def _cache(rctx):
    """Where files of packages stay that were installed for any workspace of this user."""
    environ = rctx.os.environ
    cache = environ.get("XDG_CACHE_HOME") or (environ["HOME"] + "/.cache" if environ.get("HOME") else str(rctx.path(".")))
    return cache + "/rules_executorch/packages"

def _pip_install(rctx):
    python = find_python(rctx)
    requirements = _requirements(rctx)
    message = python_misfit(rctx.name, rctx.attr.requirements, _pinned(rctx, requirements, "executorch"), python)
    if message:
        fail(message)
    rctx.report_progress("Installing {}".format(rctx.attr.requirements.name))
    install = [
        python.path,
        "-B",
        rctx.path(rctx.attr._installer),
        "--requirements={}".format(requirements),
        "--cache={}".format(_cache(rctx)),
        "--directory=site-packages",
    ]
    uv = []
    if not rctx.attr.needs_pip:
        # Not an attribute: Bazel fetches the repositories of those first, also for packages that are not installed here.
        program = rctx.path(Label("@executorch_uv//:BUILD.bazel")).dirname.get_child("site-packages", "bin", "uv")
        uv = ["--uv={}".format(program)] if program.exists else []
    result = rctx.execute(install + uv + ["--pip"] + pip_command(rctx, python), timeout = 3600)
    if result.return_code != 0 and rctx.attr.is_optional:
        rctx.file("site-packages/README", "pip could not install these packages:\n" + result.stderr)
    elif result.return_code != 0:
        version = _pinned(rctx, requirements, "torch")
        fail(install_error(rctx.name, rctx.attr.tag, rctx.attr.requirements, version, result.stderr))
    if rctx.attr.precompile:
        rctx.report_progress("Compiling bytecode")
        rctx.execute(
            install + ["--precompile"] + rctx.attr.precompile,
            environment = {"PYTHONHASHSEED": "0"},
            timeout = 1800,
        )

def install_error(name, tag, requirements, version, stderr):
    """What to say of packages that pip does not install.

    Args:
      name: name of the repository.
      tag: the module extension's tag.
      requirements: Label of the lock.
      version: str or None, torch's version in what was installed.
      stderr: str, what pip says.
    Returns:
      str: the message.
    """
    lines = stderr.split("\n")
    full = {line.strip(): None for line in lines if [words for words in _DISK_IS_FULL if words in line]}
    if full:
        return DISK_ERR.format(name = name, requirements = requirements, stderr = "\n".join(list(full)[-3:]))
    _, mismatches, files = stderr.partition("DO NOT MATCH THE HASHES")
    _, got, found = files.partition(" Got ")
    if mismatches and got:
        pin = files.split("\n")[1].split(" from ")[0].strip()
        return HASH_ERR.format(
            hash = found.strip().split("\n")[0].strip(),
            name = name,
            package = pin.split("==")[0],
            pin = pin,
            requirements = requirements,
            stderr = stderr,
        )
    error = CUDA_ERR if version and "+cpu" in version and "torch==" + version in stderr else INSTALL_ERR
    left_out = len(lines) - _MOST_LINES
    if left_out > 0:
        stderr = "... {} lines before\n{}".format(left_out, "\n".join(lines[left_out:]))
    return error.format(name = name, requirements = requirements, stderr = stderr, tag = tag, version = version)

def with_absolute_folders(lock, folder):
    """A lock whose folders of wheels are absolute, since another file has a copy of the lock.

    Args:
      lock: str, the text of the lock.
      folder: str, the folder of the lock.
    Returns:
      str.
    """
    lines = lock.split("\n")
    for i, line in enumerate(lines):
        place = line.removeprefix(_FIND_LINKS)
        if place != line and not place.startswith("/") and "://" not in place:
            lines[i] = "{}{}/{}".format(_FIND_LINKS, folder, place)
    return "\n".join(lines)

def _requirements(rctx):
    """The lock to install; with torch pinned to the CPU build where the index's main build is CUDA's.

    With hashes given, pip prefers an index's file, whose hash it knows beforehand, to a newer local build (+cpu) in a
    directory: only the full version keeps a several-GB CUDA build out.
    """
    requirements = rctx.path(rctx.attr.requirements)
    lock = rctx.read(requirements)
    absolute = with_absolute_folders(lock, str(requirements.dirname))
    version = _pinned(rctx, requirements, "torch")
    cuda_is_default = rctx.os.name == "linux" and rctx.os.arch in ["amd64", "x86_64"]
    if version and "+" not in version and not rctx.attr.allow_cuda and cuda_is_default:
        pin = "torch==" + version
        absolute = absolute.replace(pin + " ", pin + "+cpu ").replace(pin + "\n", pin + "+cpu\n")
    if absolute == lock:
        return requirements
    rctx.file("requirements.txt", absolute)
    return rctx.path("requirements.txt")

_HEADER = """\
load("@rules_executorch//rules/private/toolchains:python_environment.bzl", "python_environment")
load("@rules_executorch//rules/private/toolchains:python_program.bzl", "python_program")
load("@rules_python//python:defs.bzl", "py_library")

package(default_visibility = ["//visibility:public"])

_PROGRAM = "@rules_executorch//rules/private/toolchains:python_environment.py"
"""

_ENVIRONMENT = """
py_library(
    name = "site_packages",
    data = {data},
    imports = ["site-packages"],
)
"""

# One input: a sandbox links it once, whatever it holds. Bazel warns of an action that has a directory among its own inputs,
# and not among the runfiles of its tool.
_DIRECTORY = """
python_environment(
    name = "packages",
    directory = "site-packages",
    fingerprint = "{fingerprint}",
    python = "{python}",
)

python_program(
    name = "install",
    args = ["--python={python} --directory=$(rootpath site-packages) --install"],
    data = ["site-packages"],
    main = _PROGRAM,
)
"""

_FILES = """
filegroup(
    name = "packages",
    srcs = glob(["site-packages/**"]),
)
"""

_ALIAS = """
alias(
    name = "{name}",
    actual = "{actual}",
)
"""

def missing_deps(name, tag, packages, deps):
    """What a user's own targets lack.

    Args:
      name: name of the repository.
      tag: the module extension's tag.
      packages: list[str], distributions that must be there.
      deps: dict[Label, str], py_library to distribution.
    Returns:
      str: the message, or None if all are there.
    """
    given = [_normalized(package) for package in deps.values()]
    missing = [package for package in packages if package not in given]
    if not missing:
        return None
    return MISSING_DEPS_ERR.format(name = name, tag = tag, missing = ", ".join(missing), packages = ", ".join(packages))

def _fingerprint(rctx, python):
    """A name for what is installed, the same on every machine."""
    result = rctx.execute([python.path, "-I", "-S", "-B", rctx.path(rctx.attr._program), "--directory=site-packages"])
    if result.return_code != 0:
        fail(result.stderr)
    return result.stdout.strip()

def _python_repository_impl(rctx):
    if rctx.attr.deps:
        message = missing_deps(rctx.name, rctx.attr.tag, rctx.attr.packages, rctx.attr.deps)
        if message:
            fail(message)
        build = _HEADER
        for label, package in rctx.attr.deps.items():
            build += _ALIAS.format(name = _normalized(package), actual = label)
        rctx.file("BUILD.bazel", build)
        return
    if rctx.attr.site_packages:
        place = rctx.attr.site_packages
        if not rctx.path(place).exists:
            fail(NO_PACKAGE_ERR.format(name = rctx.name, site_packages = place, package = rctx.attr.packages[0]))
        rctx.symlink(place, "site-packages")
    else:
        place = str(rctx.attr.requirements)
        _pip_install(rctx)
    distributions = _installed(rctx, place if rctx.attr.site_packages else "site-packages")
    installed = {name: found.version for name, found in distributions.items()}
    for package in rctx.attr.packages:
        if package not in installed:
            fail(NO_PACKAGE_ERR.format(name = rctx.name, site_packages = place, package = package))
    if rctx.attr.site_packages:
        files = {package: distributions[package].metadata.get_child("WHEEL") for package in rctx.attr.packages}
        wheels = {package: rctx.read(file) for package, file in files.items() if file.exists}
        message = environment_misfit(rctx.name, rctx.attr.tag, wheels, find_python(rctx), place)
        if message:
            fail(message)

    # Not an attribute, so that Bazel fetches both at the same time.
    runtime = rctx.read(Label("@executorch_runtime//:VERSION")) if rctx.attr.has_runtime else ""
    message = misfit(rctx.name, installed, runtime, place)
    if message:
        fail(message)
    warning = caution(rctx.name, installed, runtime, place)
    if warning:
        print(warning)  # buildifier: disable=print
    build = _HEADER
    data = [":packages"]
    if rctx.attr.is_small and not rctx.attr.site_packages:
        build += _FILES
    else:
        python = find_python(rctx)
        fingerprint = _fingerprint(rctx, python)
        build += _DIRECTORY.format(fingerprint = fingerprint, python = "3.{}".format(python.minor))

        # Bazel starts a worker anew when a file of its tool changes, and takes no account of directories.
        rctx.file("fingerprint", fingerprint + "\n")
        data.append("fingerprint")
    build += _ENVIRONMENT.format(data = data)
    for package in sorted(installed):
        build += _ALIAS.format(name = package, actual = ":site_packages")
    rctx.file("BUILD.bazel", build)

python_repository = repository_rule(
    doc = """Python packages for the tools of this module: a `py_library` per distribution, `@<name>//:<distribution>`.

`@<name>//:install` copies the packages into a folder that //rules:python_environment can name. Distribution names are in lower
case with underscores. The packages come from pip with a hash lock (`requirements`),
out of an existing environment (`site_packages`), or are aliases of a user's own targets (`deps`).""",
    implementation = _python_repository_impl,
    attrs = {
        "allow_cuda": attr.bool(doc = "Accept a CUDA build of torch on Linux x86-64. Default: False."),
        "deps": attr.label_keyed_string_dict(doc = "py_library to its distribution's name, e.g. {\"@pypi//torch\": \"torch\"}."),
        "has_runtime": attr.bool(doc = "Whether the executorch package must have the version of @executorch_runtime."),
        "is_optional": attr.bool(doc = "Whether packages that pip cannot install are left out. Default: False."),
        "is_small": attr.bool(doc = "Whether a lock's packages are few enough for each of their files to be an input."),
        "needs_pip": attr.bool(doc = "Whether only pip installs the packages. Default: uv does, where there is a uv that can."),
        "packages": attr.string_list(doc = "Distributions that must be there."),
        "precompile": attr.string_list(doc = "Modules whose imports get their bytecode compiled at install."),
        "requirements": attr.label(doc = "A pip requirements file: every package with its version and hashes."),
        "site_packages": attr.string(doc = "Absolute path of an existing site-packages directory."),
        "tag": attr.string(doc = "The module extension's tag that made this repository, for messages."),
        "_indexes": attr.label(default = "//rules/private/repositories:indexes.py"),
        "_installer": attr.label(default = "//rules/private/repositories:install_packages.py"),
        "_program": attr.label(default = "//rules/private/toolchains:python_environment.py"),
    },
    environ = PYTHON_ENVIRON,
)
