"""QEMU, which runs programs as on another processor, from Debian's package."""

load("//tools/debian:packages.bzl", "extract_debian_package")

NO_QEMU_ERR = """QEMU could not be had: {found}.

Likely cause: this is no Debian or Ubuntu machine, or it reaches no package mirror.
Fix: install qemu-user-static, or skip the tests that need it: bazel test -- //... -//rules/tests/instruction_sets/..."""

_PROGRAM = "qemu-x86_64"
_STATIC = "usr/bin/qemu-x86_64-static"

def _qemu_repository_impl(rctx):
    program = rctx.path("/" + _STATIC)
    if not program.exists:
        extract_debian_package(rctx, "qemu-user-static", NO_QEMU_ERR)
        program = rctx.path(_STATIC)
        if not program.exists:
            fail(NO_QEMU_ERR.format(found = "the package qemu-user-static has no " + _STATIC))
    rctx.symlink(program, _PROGRAM)
    rctx.file("BUILD.bazel", 'exports_files(["{}"])\n'.format(_PROGRAM))

qemu_repository = repository_rule(
    doc = "QEMU's `:qemu-x86_64`, which runs a program as on an x86-64 processor with what `-cpu` names.",
    implementation = _qemu_repository_impl,
)

def qemu_repositories():
    """Declares `qemu_user`."""
    qemu_repository(name = "qemu_user")
