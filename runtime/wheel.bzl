"""Which wheel a library comes from: that of the machine, or that of the target platform."""

load("@platforms//host:constraints.bzl", "HOST_CONSTRAINTS")

visibility("private")

# Of the platform that the machine's wheel is for. A `load` from @executorch_runtime would fetch the wheel before Bazel knows
# what else to fetch.
CONSTRAINTS = ["@platforms//os:linux"] + [constraint for constraint in HOST_CONSTRAINTS if "//cpu:" in constraint]

_LINUX_ARM64 = "//runtime:linux_arm64"

def wheel_library(name):
    """A library of the wheel for the target platform.

    Args:
      name: str, its name in the repository of a wheel.
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
    """What a platform has to have that there is a wheel for.

    Returns:
      select() over lists of constraints
    """
    return select({
        _LINUX_ARM64: [],
        "//conditions:default": CONSTRAINTS,
    })
