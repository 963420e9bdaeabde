"""QEMU, which runs programs as on another processor, from Debian's package."""

load("//tools/debian:packages.bzl", "extract_debian_packages")

NO_QEMU_ERR = """QEMU could not be had: {found}.

Likely cause: this is no Debian or Ubuntu machine, or it reaches no package mirror.
Fix: install qemu-user-static, or skip the tests that need it: bazel test -- //... -//rules/tests/instruction_sets/..."""

_PROGRAMS = ["qemu-aarch64", "qemu-x86_64"]

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
    doc = "QEMU's `:qemu-x86_64` and `:qemu-aarch64`, which run a program as on a processor that `-cpu` names.",
    implementation = _qemu_repository_impl,
)

def qemu_repositories():
    """Declares `qemu_user`."""
    qemu_repository(name = "qemu_user")
