"""Compilers and Pythons of Debian's releases, older and newer than the machine's, which run from their repository."""

load("//third_party:debian_packages.bzl", "extract_debian_packages")

NO_TOOLCHAIN_ERR = """could not install {packages}: {{found}}.

Likely cause: this machine is not Debian or Ubuntu, or reaches no package mirror with the suite {suite}.
Fix: leave the row out: tools/bazel run //tools/toolchains -- --only=... names the others."""

_TRIPLET = "x86_64-linux-gnu"
_LOADER = "ld-linux-x86-64.so.2"

# Where libraries are, with the folders that an installation by dpkg would link to: those of the alternatives of BLAS.
_LIBRARY_FOLDERS = [
    "usr/lib/" + _TRIPLET,
    "lib/" + _TRIPLET,
    "usr/lib/" + _TRIPLET + "/blas",
    "usr/lib/" + _TRIPLET + "/lapack",
    "usr/lib",
]

# A program of another release needs the C library of that release. By the loader, and not by LD_LIBRARY_PATH, which the
# programs that a compiler starts would inherit.
_PROGRAM = """\
#!/bin/sh
exec {loader} --library-path {libraries} --argv0 "$0" {program} "$@"
"""

_COMMAND = """\
#!/bin/sh
exec {command} "$@"
"""

# The C++ library of a newer GCC calls this function of a newer C library than the machine's.
_STAND_IN = """\
#include <stdlib.h>

__attribute__((visibility("hidden"))) unsigned long __isoc23_strtoul(const char* text, char** end, int base) {
  return strtoul(text, end, base);
}
"""

def _run(rctx, command, error):
    result = rctx.execute(command)
    if result.return_code != 0:
        fail(error.format(found = result.stderr or result.stdout))

def _link_cpp_library_into_programs(rctx, command, folder, error):
    """Makes the C++ library a part of what is linked, since the machine's C library does not load the shared one."""
    rctx.delete(folder + "/libstdc++.so")
    rctx.file("stand_in.c", _STAND_IN)
    _run(rctx, [rctx.path(command), "-O2", "-fPIC", "-c", "stand_in.c", "-o", "stand_in.o"], error)
    _run(rctx, ["ar", "r", folder + "/libstdc++.a", "stand_in.o"], error)

def _debian_toolchain_repository_impl(rctx):
    error = NO_TOOLCHAIN_ERR.format(packages = ", ".join(rctx.attr.packages), suite = rctx.attr.suite)
    if rctx.os.arch not in ["amd64", "x86_64"]:
        fail(error.format(found = "the rows are for x86-64, and this machine is " + rctx.os.arch))
    extract_debian_packages(rctx, rctx.attr.packages, error, with_dependencies = True, suite = rctx.attr.suite)
    folders = [rctx.path(folder) for folder in _LIBRARY_FOLDERS if rctx.path(folder).exists]
    loaders = [folder.get_child(_LOADER) for folder in folders if folder.get_child(_LOADER).exists]
    for program in rctx.attr.programs:
        if not rctx.path(program).exists or not loaders:
            fail(error.format(found = "the packages lack {} or {}".format(program, _LOADER)))
        _run(rctx, ["mv", program, program + ".program"], error)
        rctx.file(program, _PROGRAM.format(
            libraries = ":".join([str(folder) for folder in folders]),
            loader = loaders[0],
            program = rctx.path(program + ".program"),
        ), executable = True)
    if rctx.attr.cpp_library:
        _link_cpp_library_into_programs(rctx, rctx.attr.programs[0], rctx.attr.cpp_library, error)
    command = " ".join([str(rctx.path(rctx.attr.programs[0]))] + rctx.attr.options)
    rctx.file("bin/" + rctx.attr.command, _COMMAND.format(command = command), executable = True)
    rctx.file("BUILD.bazel", 'exports_files(["bin/{}"])\n'.format(rctx.attr.command))

debian_toolchain_repository = repository_rule(
    doc = "A compiler or an interpreter of a Debian release, as `:bin/<command>`.",
    implementation = _debian_toolchain_repository_impl,
    attrs = {
        "command": attr.string(doc = "The name of the command.", mandatory = True),
        "cpp_library": attr.string(doc = "The folder of a C++ library that is newer than the machine's C library."),
        "options": attr.string_list(doc = "Options of each call of the command."),
        "packages": attr.string_list(doc = "Debian's packages. Their dependencies are added.", mandatory = True),
        "programs": attr.string_list(doc = "The programs to run: the command's, and those that it starts.", mandatory = True),
        "suite": attr.string(doc = "The codename of the release.", mandatory = True),
    },
)

def debian_toolchain_repositories():
    """Declares `clang_14`, `clang_19`, `gcc_15`, `python_3_13` and `python_3_14`, and Pythons with packages for wheels."""
    for version in ["14", "19"]:
        debian_toolchain_repository(
            name = "clang_" + version,
            command = "clang",
            # The compiler finds its headers from the path of the command, not from that of the loader.
            options = ["-no-canonical-prefixes"],
            packages = ["clang-" + version],
            programs = ["usr/lib/llvm-{}/bin/clang".format(version)],
            suite = "bookworm",
        )
    debian_toolchain_repository(
        name = "gcc_15",
        command = "gcc",
        cpp_library = "usr/lib/gcc/x86_64-linux-gnu/15",
        # The machine's linker cannot load the compiler's plugin.
        options = ["-fno-use-linker-plugin"],
        packages = ["g++-15"],
        programs = ["usr/bin/x86_64-linux-gnu-gcc-15"] + [
            "usr/libexec/gcc/x86_64-linux-gnu/15/" + program
            for program in ["cc1", "cc1plus", "collect2"]
        ],
        suite = "forky",
    )
    for name, minor, suite, packages in [
        ("python_3_13", "13", "forky", []),
        ("python_3_14", "14", "forky", []),
        ("python_3_13_numpy", "13", "trixie", ["python3-numpy"]),
        ("python_3_14_torch", "14", "forky", ["libtorch-dev", "python3-torch"]),
        ("python_3_15_numpy", "15", "forky", ["python3-numpy"]),
    ]:
        debian_toolchain_repository(
            name = name,
            command = "python3",
            packages = ["python3-pip", "python3." + minor] + packages,
            programs = ["usr/bin/python3." + minor],
            suite = suite,
        )
