"""What the packages of an environment say about their versions: an error, a warning, or nothing."""

load(":versions.bzl", "VERSIONS")

visibility(["//rules/..."])

MISFIT_ERR = """rules_executorch: @{name} has executorch {executorch}: expected {other} {expected}; got {version}, of {place}.

Likely cause: the pin or the installation of one of the two was changed without the other.
Fix: use executorch {executorch} with {other} {expected}, or change the pin of executorch."""

PYTHON_ERR = """rules_executorch: @{name}: {requirements} pins executorch {executorch}: expected Python 3.{oldest} to 3.{newest}; \
got 3.{minor}, {path}.

Likely cause: the lock is for another interpreter than the python3 of this machine.
Fix: name an interpreter with --repo_env=EXECUTORCH_PYTHON=/path/to/python3, or pin a version of executorch for Python \
3.{minor}."""

ENVIRONMENT_ERR = """rules_executorch: @{name} has {package} for Python 3.{built}, of {place}: expected Python 3.{minor}, the \
version of {path}.

Likely cause: the environment has another interpreter than the tools: $EXECUTORCH_PYTHON, else the first python3 on the PATH.
Fix: name the interpreter of the environment with --repo_env=EXECUTORCH_PYTHON=/path/to/python3.{built}; or give \
executorch.{tag}(site_packages = ...) an environment of Python 3.{minor}."""

UNKNOWN_WARNING = """rules_executorch: warning: @{name} has {found}, of {place}: expected versions that these rules know; \
the nearest are {nearest}.

Likely cause: a version is newer or older than these rules.
Fix: to try these versions, compare a model's outputs with PyTorch's: `bazel run :<name> -- --check`. The page \
docs/new_executorch.md has the further steps. For the nearest versions, {nearest_lock}."""

UNTESTED_WARNING = """rules_executorch: warning: @{name} has {found}, of {place}: ExecuTorch supports these versions \
together, and no test of these rules ran with them.

Likely cause: the versions are newer than the locks of these rules.
Fix: compare a model's outputs with PyTorch's: `bazel run :<name> -- --check`. For versions that tests ran with, \
{nearest_lock}."""

def minor_version(version):
    """The first two parts of a version.

    Args:
      version: e.g. "2.13.0+cpu".
    Returns:
      str, e.g. "2.13".
    """
    return ".".join(version.split("+")[0].split(".")[:2])

def _number(minor):
    """A number in the order of minor versions."""
    number = 0
    for part in (minor.split(".") + ["0"])[:2]:
        digits = part
        for i in range(len(part)):
            if not part[i].isdigit():
                digits = part[:i]
                break
        number = number * 1000 + int(digits or "0")
    return number

def nearest_version(version, known):
    """The known minor version that is nearest to a version; the newer of two.

    Args:
      version: str, of any form.
      known: list[str], minor versions.
    Returns:
      str: one of `known`.
    """
    number = _number(version)
    return min([(abs(_number(one) - number), -_number(one), one) for one in known])[2]

def python_range():
    """The oldest and the newest minor version of Python 3 that a known ExecuTorch is for.

    Returns:
      tuple[int, int].
    """
    return (
        min([row["pythons"][0] for row in VERSIONS.values()]),
        max([row["pythons"][1] for row in VERSIONS.values()]),
    )

def python_misfit(name, requirements, executorch, python):
    """What does not fit between a lock and the interpreter that installs it.

    Args:
      name: name of the repository.
      requirements: Label of the lock.
      executorch: str or None, the version that the lock has.
      python: what find_python returned.
    Returns:
      str: the message, or None if both fit or the version is not known.
    """
    row = VERSIONS.get(minor_version(executorch or ""))
    if not row:
        return None
    oldest, newest = row["pythons"]
    if python.minor >= oldest and python.minor <= newest:
        return None
    return PYTHON_ERR.format(
        executorch = executorch,
        minor = python.minor,
        name = name,
        newest = newest,
        oldest = oldest,
        path = python.path,
        requirements = requirements,
    )

def _built_for(wheel):
    """The minor version of Python 3 that the compiled modules of a distribution need.

    Args:
      wheel: str, the file WHEEL of the distribution.
    Returns:
      int, or None if the distribution has no such modules, or has some for all versions.
    """
    for line in wheel.split("\n"):
        abi = line.strip().split("-")[1:2] if line.startswith("Tag: ") else []
        if abi and abi[0].startswith("cp3"):
            digits = abi[0].removeprefix("cp3").rstrip("t")  # A `t` is for Pythons without the global lock.
            return int(digits) if digits.isdigit() else None
    return None

def environment_misfit(name, tag, wheels, python, place):
    """What does not fit between an existing environment and the interpreter that runs its packages.

    Args:
      name: name of the repository.
      tag: the module extension's tag.
      wheels: dict[str, str], distribution to the text of its file WHEEL.
      python: what find_python returned.
      place: the environment's site-packages.
    Returns:
      str: the message, or None if all fits, or if no distribution tells its version of Python.
    """
    for package, wheel in wheels.items():
        built = _built_for(wheel)
        if built != None and built != python.minor:
            return ENVIRONMENT_ERR.format(
                built = built,
                minor = python.minor,
                name = name,
                package = package,
                path = python.path,
                place = place,
                tag = tag,
            )
    return None

def _runtime_fits(executorch, runtime):
    """Whether a runtime, if any, is of the release of the exporter, or the one that its programs run on."""
    row = VERSIONS.get(minor_version(executorch))
    needs = row["runtime"] if row else minor_version(executorch)
    return (
        not runtime or
        runtime.split("+")[0] == executorch.split("+")[0] or
        (needs != minor_version(executorch) and minor_version(runtime) == needs)
    )

def _is_known_torch(torch):
    return any([minor_version(torch) in row["torch"] for row in VERSIONS.values()])

def misfit(name, installed, runtime, place):
    """What does not fit between the packages of an environment, and the runtime.

    Args:
      name: name of the repository.
      installed: dict[str, str], distribution to version.
      runtime: version of the executorch wheel that the runtime comes from, or empty.
      place: where the packages come from, for the message.
    Returns:
      str: the message, or None if all fits, or if a version is not known.
    """
    executorch = installed.get("executorch")
    torch = installed.get("torch")
    row = VERSIONS.get(minor_version(executorch or ""))
    if not row:
        return None
    if not _runtime_fits(executorch, runtime) and minor_version(runtime) in VERSIONS:
        is_own = row["runtime"] == minor_version(executorch)
        return MISFIT_ERR.format(
            executorch = executorch,
            name = name,
            other = "the runtime",
            version = runtime,
            place = "@executorch_runtime",
            expected = executorch.split("+")[0] if is_own else row["runtime"],
        )
    if torch and minor_version(torch) not in row["torch"] and _is_known_torch(torch):
        return MISFIT_ERR.format(
            executorch = executorch,
            name = name,
            other = "torch",
            version = torch,
            place = place,
            expected = " or ".join(row["torch"]),
        )
    return None

def _lock_hint(minor):
    """How a user gets the versions of a row."""
    lock = VERSIONS[minor]["lock"]
    if lock:
        return "write executorch.python(requirements = \"@rules_executorch//requirements:{}\")".format(lock)
    return "lock them: `bazel run @rules_executorch//tools/lock -- --executorch={}`".format(minor)

def caution(name, installed, runtime, place):
    """What a user should know of versions that tests of these rules did not run with.

    Args:
      name: name of the repository.
      installed: dict[str, str], distribution to version.
      runtime: version of the executorch wheel that the runtime comes from, or empty.
      place: where the packages come from, for the message.
    Returns:
      str: the warning, or None if tests ran with the versions.
    """
    executorch = installed.get("executorch")
    torch = installed.get("torch")
    if not executorch:
        return None
    row = VERSIONS.get(minor_version(executorch))
    found = "executorch " + executorch
    if torch:
        found += " with torch " + torch
    if not _runtime_fits(executorch, runtime):
        found += " and the runtime of " + runtime
    elif row and (not torch or minor_version(torch) in row["torch"]):
        if not torch or minor_version(torch) in row["tested"]:
            return None
        tested = [minor for minor, other in VERSIONS.items() if other["tested"]]
        return UNTESTED_WARNING.format(
            found = found,
            name = name,
            nearest_lock = _lock_hint(nearest_version(minor_version(executorch), tested)),
            place = place,
        )
    nearest = nearest_version(minor_version(executorch), VERSIONS.keys())
    nearest_torch = nearest_version(minor_version(torch or ""), VERSIONS[nearest]["torch"])
    return UNKNOWN_WARNING.format(
        found = found,
        name = name,
        nearest = "executorch {} with torch {}".format(nearest, nearest_torch),
        nearest_lock = _lock_hint(nearest),
        place = place,
    )
