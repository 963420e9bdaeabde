"""Selects the wheel of a library: the wheel of the machine, or the wheel of the target platform."""

load("@platforms//host:constraints.bzl", "HOST_CONSTRAINTS")

visibility("private")

# Of the platform that the machine's wheel is for. A `load` from @executorch_runtime would fetch the wheel before Bazel knows
# what else to fetch.
CONSTRAINTS = HOST_CONSTRAINTS

_LINUX_ARM64 = "//runtime:linux_arm64"

def wheel_library(name):
    """A library of the wheel for the target platform.

    Args:
      name: str, the name of the library in the repository of a wheel.
    Returns:
      label, or a select() over platforms
    """
    machines = "@executorch_runtime//:" + name
    if [constraint for constraint in CONSTRAINTS if constraint.endswith("//cpu:aarch64")]:
        return machines
    return select({
        _LINUX_ARM64: "@executorch_runtime_linux_arm64//:" + name,
        "//conditions:default": machines,
    })

def wheel_constraints():
    """The constraints of the platforms for which there is a wheel.

    Returns:
      select() over lists of constraints
    """
    return select({
        _LINUX_ARM64: [],
        "//conditions:default": CONSTRAINTS,
    })
