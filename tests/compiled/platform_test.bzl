"""Macros platform_test and linked_test."""

load("@rules_python//python:defs.bzl", "py_test")
load("//third_party/cross:for_platform.bzl", "for_platform")

# Where the other platforms' compilers run.
_MACHINE = [
    "@platforms//cpu:x86_64",
    "@platforms//os:linux",
]

def _programs(name, platform, models):
    """Builds programs for a platform, and returns their labels."""
    programs = {"{}_{}".format(name.removesuffix("_test"), model): model for model in models}
    for program, model in programs.items():
        for_platform(
            name = program,
            testonly = True,
            platform = platform,
            tags = ["manual"],
            target = ":{}_test".format(model),
        )
    return [":" + program for program in programs]

def _paths(labels):
    return " ".join(["$(rootpath {})".format(label) for label in labels])

def platform_test(name, platform, models, command, data = [], env = {}):
    """A test of compiled programs on another platform than the machine's.

    Args:
      name: the name of the platform, and `_test`.
      platform: the platform, for which a C++ toolchain is registered.
      models: list[str], the names of the programs.
      command: list[str], the start of the command that runs a program, in an emulator.
      data: the emulator's files.
      env: dict[str, str], variables for the emulator. `SIZE` is a program that prints the size of another one.
    """
    labels = _programs(name, platform, models)
    py_test(
        name = name,
        size = "small",
        srcs = ["platform_test.py"],
        data = data + labels,
        env = env | {
            "COMMAND": " ".join(command),
            "PROGRAMS": _paths(labels),
        },
        main = "platform_test.py",
        tags = ["manual", "slow"],
        target_compatible_with = _MACHINE,
        deps = ["@executorch_codegen_python//:absl_py"],
    )

def linked_test(name, system, models):
    """A test of compiled programs that are linked for a platform, on which nothing here runs them.

    Args:
      name: the name of the platform, and `_test`.
      system: `android`, `ios` or `macos`, on arm64.
      models: list[str], the names of the programs.
    """
    labels = _programs(name, "//third_party/cross:{}_arm64".format(system), models)
    py_test(
        name = name,
        size = "small",
        srcs = ["linked_test.py"],
        data = labels,
        env = {
            "PLATFORM": system,
            "PROGRAMS": _paths(labels),
        },
        main = "linked_test.py",
        tags = ["manual", "slow"],
        target_compatible_with = _MACHINE,
        deps = [
            "@executorch_codegen_python//:absl_py",
            "@objects_python//:lief",
        ],
    )
