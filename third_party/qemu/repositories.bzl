"""Repositories of QEMU, which emulates other processors, from Debian's packages."""

load("//third_party:debian_packages.bzl", "extract_debian_packages")

NO_QEMU_ERR = """could not install QEMU: {found}.

Likely cause: this machine is not Debian or Ubuntu, or reaches no package mirror.
Fix: install qemu-user-static, or skip the tests that need QEMU: bazel test -- //... -//rules/tests/instruction_sets/..."""

_PROGRAMS = ["qemu-aarch64", "qemu-riscv64", "qemu-x86_64"]

def _qemu_repository_impl(rctx):
    statics = {program: "usr/bin/{}-static".format(program) for program in _PROGRAMS}
    root = "/"
    if not all([rctx.path(root + static).exists for static in statics.values()]):
        extract_debian_packages(rctx, ["qemu-user-static"], NO_QEMU_ERR)
        root = ""
    for program, static in statics.items():
        path = rctx.path(root + static)
        if not path.exists:
            fail(NO_QEMU_ERR.format(found = "the package qemu-user-static has no " + static))
        rctx.symlink(path, program)
    rctx.file("BUILD.bazel", "exports_files({})\n".format(_PROGRAMS))

qemu_repository = repository_rule(
    doc = "QEMU's `:qemu-x86_64`, `:qemu-aarch64` and `:qemu-riscv64`, which run a program on an emulated processor. `-cpu` names the processor.",
    implementation = _qemu_repository_impl,
)

_LAUNCHER = """\
#!/bin/sh
root=$(dirname "$(readlink -f "$0")")
LD_LIBRARY_PATH={libraries} exec "$root/usr/bin/qemu-system-arm" -L "$root/usr/share/qemu" "$@"
"""

def _qemu_system_arm_repository_impl(rctx):
    extract_debian_packages(rctx, ["qemu-system-arm"], NO_QEMU_ERR, with_dependencies = True, taken_anyway = ["qemu-system-arm"])
    found = rctx.execute(["find", "usr/lib", "lib", "-name", "*.so*", "-printf", "%h\n"]).stdout.split("\n")
    folders = {folder: None for folder in found if folder}.keys()
    rctx.file(
        "qemu-system-arm.sh",
        _LAUNCHER.format(libraries = ":".join(["$root/" + folder for folder in sorted(folders)])),
        executable = True,
    )
    rctx.file("BUILD.bazel", """\
package(default_visibility = ["//visibility:public"])

exports_files(["qemu-system-arm.sh"])

filegroup(
    name = "files",
    srcs = glob(["lib/**", "usr/bin/qemu-system-arm", "usr/lib/**"], allow_empty = True),
)
""")

qemu_system_arm_repository = repository_rule(
    doc = "QEMU's `:qemu-system-arm.sh`, an emulator of boards with Arm processors, with its `:files`.",
    implementation = _qemu_system_arm_repository_impl,
)

def qemu_repositories():
    """Declares `qemu_user` and `qemu_system_arm`."""
    qemu_repository(name = "qemu_user")
    qemu_system_arm_repository(name = "qemu_system_arm")
