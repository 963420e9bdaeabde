"""Macro platform_test."""

load("@rules_python//python:defs.bzl", "py_test")
load("//tools/cross:for_platform.bzl", "for_platform")

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
    programs = {model: "{}_{}".format(name.removesuffix("_test"), model) for model in models}
    for model, program in programs.items():
        for_platform(
            name = program,
            testonly = True,
            platform = platform,
            tags = ["manual"],
            target = ":{}_test".format(model),
        )
    labels = [":" + program for program in programs.values()]
    py_test(
        name = name,
        size = "small",
        srcs = ["platform_test.py"],
        data = data + labels,
        env = env | {
            "COMMAND": " ".join(command),
            "PROGRAMS": " ".join(["$(rootpath {})".format(label) for label in labels]),
        },
        main = "platform_test.py",
        target_compatible_with = [
            "@platforms//cpu:x86_64",
            "@platforms//os:linux",
        ],
        deps = ["@executorch_codegen_python//:absl_py"],
    )
