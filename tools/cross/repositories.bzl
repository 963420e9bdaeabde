"""Repositories of GCC for other platforms, from Debian's packages."""

load("//tools/debian:packages.bzl", "extract_debian_packages")

NO_COMPILER_ERR = """could not install a compiler for {target}: {{found}}.

Likely cause: this machine is not Debian or Ubuntu, or reaches no package mirror.
Fix: register a C++ toolchain of your own for the platform, or skip the tests of the platform: bazel test -- //... -//tests/platforms/..."""

# The compiler's own libraries are in the repository, and not in the folders of the machine.
_LAUNCHER = """\
#!/bin/sh
root=${0%/bin/*}
LD_LIBRARY_PATH=$root/usr/lib/x86_64-linux-gnu exec "$root/usr/bin/TARGET-${0##*/}" "$@"
"""
_TOOLS = ["ar", "cpp", "gcc", "gcov", "ld", "nm", "objcopy", "objdump", "size", "strip"]

def _gcc_repository_impl(rctx):
    target = rctx.attr.target
    extract_debian_packages(
        rctx,
        rctx.attr.packages,
        NO_COMPILER_ERR.format(target = target),
        with_dependencies = True,
        taken_anyway = rctx.attr.taken_anyway,
    )
    for path in ["usr/share"] + rctx.attr.left_out:
        rctx.delete(path)
    for folder, kept in rctx.attr.kept_below.items():
        for entry in rctx.path(folder).readdir():
            if entry.basename not in kept:
                rctx.delete(entry)

    # Linker scripts, which replace some libraries, have absolute paths of the machine.
    libraries = rctx.path("usr/{}/lib".format(target))
    if libraries.exists:
        rctx.execute(["sh", "-c", "grep -lIr 'GNU ld script' . | xargs sed -i 's|/usr/{}/lib/||g'".format(target)], working_directory = str(libraries))
    for tool in _TOOLS:
        rctx.file("bin/" + tool, _LAUNCHER.replace("TARGET", target), executable = True)
    rctx.symlink(rctx.attr.build_file, "BUILD.bazel")

gcc_repository = repository_rule(
    doc = "A GCC that runs on x86-64 and compiles for another platform, with the C++ and C libraries of that platform.",
    implementation = _gcc_repository_impl,
    attrs = {
        "build_file": attr.label(
            doc = "The repository's BUILD file, which declares the toolchain.",
            mandatory = True,
        ),
        "kept_below": attr.string_list_dict(doc = "The entries to keep of some folders. Other entries are removed."),
        "left_out": attr.string_list(doc = "Files and folders of the packages to remove, in addition to `usr/share`."),
        "packages": attr.string_list(
            doc = "Debian's packages. Their dependencies are added.",
            mandatory = True,
        ),
        "taken_anyway": attr.string_list(
            doc = "Parts of names of packages that are taken even if the machine has them, since the compiler finds its files in " +
                  "its own folder only.",
        ),
        "target": attr.string(
            doc = "The prefix of the names of the compiler's programs.",
            mandatory = True,
        ),
    },
)

def cross_repositories():
    """Declares `gcc_cortex_m7` and `gcc_linux_arm64`."""
    gcc_repository(
        name = "gcc_cortex_m7",
        build_file = "//tools/cross:gcc_cortex_m7.BUILD.bazel",
        kept_below = {
            "usr/lib/arm-none-eabi/newlib/thumb": ["v7e-m+dp"],
            "usr/lib/gcc/arm-none-eabi/12.2.1/thumb": ["v7e-m+dp"],
        },
        left_out = [
            "usr/bin/arm-none-eabi-lto-dump",
            "usr/lib/arm-none-eabi/newlib/arm",
            "usr/lib/gcc/arm-none-eabi/12.2.1/arm",
        ],
        # The compiled C++ library is left out, since it is large and the kernels do not need it.
        packages = [
            "gcc-arm-none-eabi",
            "libnewlib-arm-none-eabi",
            "libstdc++-arm-none-eabi-dev",
        ],
        taken_anyway = [
            "arm-none-eabi",
            "libnewlib",
        ],
        target = "arm-none-eabi",
    )
    gcc_repository(
        name = "gcc_linux_arm64",
        build_file = "//tools/cross:gcc_linux_arm64.BUILD.bazel",
        left_out = [
            "usr/bin/aarch64-linux-gnu-lto-dump-12",
            "usr/bin/aarch64-linux-gnu-lto-dump",
        ],
        packages = ["g++-aarch64-linux-gnu"],
        taken_anyway = [
            "aarch64-linux-gnu",
            "arm64-cross",
        ],
        target = "aarch64-linux-gnu",
    )
