"""Repositories of compilers for other platforms and of clang for libFuzzer, from Debian's packages; Zig is from PyPI."""

load("//third_party:debian_packages.bzl", "extract_debian_packages")
load(":emscripten.bzl", "emscripten_repository")
load(":zig.bzl", "zig_repository")

NO_COMPILER_ERR = """could not install a compiler for {target}: {{found}}.

Likely cause: this machine is not Debian or Ubuntu, or reaches no package mirror.
Fix: register a C++ toolchain of your own for the platform, or skip the tests of the platform: bazel test -- //... -//tests/platforms/... -//tests/compiled/..."""

NO_CLANG_ERR = """could not install clang: {found}.

Likely cause: this machine is not Debian or Ubuntu, or reaches no package mirror.
Fix: fuzz without coverage: bazel run //runtime/fuzz:program_fuzz"""

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
    for path in rctx.attr.left_out:
        rctx.delete(path)
    for folder, kept in ({"usr/share": []} | rctx.attr.kept_below).items():
        for entry in rctx.path(folder).readdir():
            if entry.basename not in kept:
                rctx.delete(entry)

    # Linker scripts, which replace some libraries, have absolute paths of the machine.
    libraries = rctx.path("usr/{}/lib".format(target))
    if libraries.exists:
        rctx.execute(["sh", "-c", "grep -lIr 'GNU ld script' . | xargs sed -i 's|/usr/{}/lib/||g'".format(target)], working_directory = str(libraries))
    for tool in _TOOLS:
        program = "usr/bin/{}-{}".format(target, tool)
        if not rctx.path(program).exists:
            rctx.symlink(program + rctx.attr.variant, program)
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
        "kept_below": attr.string_list_dict(doc = "The entries to keep of some folders. Other entries are removed, and all of `usr/share` by default."),
        "left_out": attr.string_list(doc = "Files and folders of the packages to remove."),
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
        "variant": attr.string(
            doc = "The end of the names of some programs, if a package has several variants of the compiler.",
        ),
    },
)

# Programs are linked with the C++ library and the linker of the machine, as those of its own compiler.
_CLANG_LAUNCHER = """\
#!/bin/sh
root=${0%/bin/*}
LD_LIBRARY_PATH=$root/usr/lib/x86_64-linux-gnu exec "$root"/usr/lib/llvm-*/bin/clang "$@"
"""

def _clang_repository_impl(rctx):
    extract_debian_packages(rctx, rctx.attr.packages, NO_CLANG_ERR, with_dependencies = True, taken_anyway = rctx.attr.taken_anyway)
    rctx.delete("usr/share")
    rctx.file("bin/clang", _CLANG_LAUNCHER, executable = True)
    rctx.symlink(rctx.attr.build_file, "BUILD.bazel")

clang_repository = repository_rule(
    doc = "A clang for this machine, with the libraries of its sanitizers and libFuzzer.",
    implementation = _clang_repository_impl,
    attrs = {
        "build_file": attr.label(
            doc = "The repository's BUILD file, which declares the toolchain.",
            mandatory = True,
        ),
        "packages": attr.string_list(
            doc = "Debian's packages. Their dependencies are added.",
            mandatory = True,
        ),
        "taken_anyway": attr.string_list(
            doc = "Parts of names of packages that are taken even if the machine has them. `Package: ` is the start of a name.",
        ),
    },
)

def cross_repositories():
    """Declares `clang_libfuzzer`, `emscripten`, the compilers `gcc_*` and `zig`."""
    clang_repository(
        name = "clang_libfuzzer",
        build_file = "//third_party/cross:clang_libfuzzer.BUILD.bazel",
        packages = [
            "clang",
            "libclang-rt-dev",
        ],
        # The compiler finds its headers and the libraries of its sanitizers in its own folder only. Shared libraries, on which
        # other packages of the machine depend, are not among these.
        taken_anyway = [
            "Package: clang",
            "libclang-1",
            "libclang-common",
            "libclang-dev",
            "libclang-rt",
        ],
    )
    emscripten_repository(name = "emscripten")
    for processor, architecture in {
        "cortex_m55": "v8-m.main+dp",
        "cortex_m7": "v7e-m+dp",
    }.items():
        gcc_repository(
            name = "gcc_" + processor,
            build_file = "//third_party/cross:gcc_{}.BUILD.bazel".format(processor),
            kept_below = {
                "usr/lib/arm-none-eabi/newlib/thumb": [architecture],
                "usr/lib/gcc/arm-none-eabi/12.2.1/thumb": [architecture],
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
        build_file = "//third_party/cross:gcc_linux_arm64.BUILD.bazel",
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
    gcc_repository(
        name = "gcc_linux_riscv64",
        build_file = "//third_party/cross:gcc_linux_riscv64.BUILD.bazel",
        left_out = [
            "usr/bin/riscv64-linux-gnu-lto-dump-12",
            "usr/bin/riscv64-linux-gnu-lto-dump",
        ],
        packages = ["g++-riscv64-linux-gnu"],
        taken_anyway = [
            "riscv64-linux-gnu",
            "riscv64-cross",
        ],
        target = "riscv64-linux-gnu",
    )
    gcc_repository(
        name = "gcc_windows_x86_64",
        build_file = "//third_party/cross:gcc_windows_x86_64.BUILD.bazel",
        # The headers.
        kept_below = {"usr/share": ["mingw-w64"]},
        left_out = ["usr/bin/x86_64-w64-mingw32-lto-dump-win32"],
        packages = ["g++-mingw-w64-x86-64-win32"],
        taken_anyway = ["mingw-w64"],
        target = "x86_64-w64-mingw32",
        variant = "-win32",
    )
    zig_repository(name = "zig")
