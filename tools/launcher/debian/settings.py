"""Writes the settings of a Bazel in a private install."""

import os
import pathlib
import shlex
import zipfile
from collections.abc import Mapping, Sequence

# The modules in Debian's packages, with their places. They replace the modules of the central registry.
SHIPPED = {
    "bazel_features": "tools/features",
    "bazel_skylib": "tools/skylib",
    "platforms": "tools/platforms",
    "rules_cc": "rules/cc",
    "rules_java": "rules/java",
    "rules_license": "rules/license",
    "rules_proto": "rules/proto",
    "rules_python": "rules/python",
}

# Bazel's own module also depends on these modules. Only builds for Java, protocol buffers and Apple, and
# `bazel mod tidy`, load from them, so stubs are sufficient. A stub has the targets to which Bazel's own BUILD files
# refer, without content: `bazel query 'deps(...)'` loads them.
STUBS: Mapping[str, tuple[str, ...]] = {
    "apple_support": (),
    "buildozer": (),
    "protobuf": (
        "any_proto",
        "cc_toolchain",
        "descriptor_proto",
        "duration_proto",
        "java_toolchain",
        "javalite_toolchain",
        "protobuf_java",
        "protobuf_python",
        "protoc",
        "timestamp_proto",
        "wrappers_proto",
    ),
    "zlib": ("zlib",),
}

_TARGET = 'filegroup(name = "{target}", visibility = ["//visibility:public"])'

_BUILDOZER_EXTENSION = """\
def _no_buildozer_impl(_repository_ctx):
    fail("Debian packages no buildozer, which `bazel mod tidy` needs: run it with bazelisk")

_no_buildozer = repository_rule(_no_buildozer_impl)

def _buildozer_binary_impl(_module_ctx):
    _no_buildozer(name = "buildozer_binary")

buildozer_binary = module_extension(_buildozer_binary_impl)
"""


def write_class_path(prefix: pathlib.Path, root: pathlib.Path) -> None:
    """Rewrites the server's class path, a list of absolute paths, for the jars under `root`.

    Jars refer to each other by absolute paths, so the list has all of them. A jar of our own gives the server its
    version: Debian's jar has "development version", so `native.bazel_version` would be empty.
    """
    base = root / "usr/share/bazel"
    listed = base / "bazel_classpath_debian_depends.txt"
    named = [root / line.lstrip("/") for line in listed.read_text().split()]
    jars = {os.path.realpath(jar): jar for jar in named if jar.exists()}
    for jar in sorted((root / "usr/share/java").glob("*.jar")):
        jars.setdefault(os.path.realpath(jar), jar)
    version = prefix / "version.jar"
    with zipfile.ZipFile(version, "w") as archive:
        archive.writestr("build-data.properties", f"build.label={(base / 'build-label.txt').read_text().strip()}\n")
    listed.write_text("".join(f"{jar}\n" for jar in [*jars.values(), version]))


def write_bazelrc(prefix: pathlib.Path, pip: pathlib.Path) -> pathlib.Path:
    """Writes the bazelrc of this install. Returns its path.

    Args:
        prefix: the folder of the bazelrc.
        pip: pip as a wheel, for repository rules on machines without pip.
    """
    options = [
        f"--repo_env=EXECUTORCH_PIP_WHEEL={pip}",
        # For tests that run Bazel.
        f"--repo_env=EXECUTORCH_BAZEL={prefix / 'bin/bazel'}",
    ]
    bazelrc = prefix / "bazelrc"
    bazelrc.write_text(_lines(options))
    return bazelrc


def override_modules(bazelrc: pathlib.Path, prefix: pathlib.Path, root: pathlib.Path) -> None:
    """Replaces modules of the registry by Debian's modules, for any version that a workspace requests.

    Args:
        bazelrc: the file that write_bazelrc wrote.
        prefix: the folder for modules that Debian lacks.
        root: the folder of Debian's unpacked modules.
    """
    base = root / "usr/share/bazel"
    modules = {name: base / place for name, place in SHIPPED.items()}
    for name, targets in STUBS.items():
        stub = prefix / "stubs" / name
        stub.mkdir(parents=True)
        (stub / "MODULE.bazel").write_text(f'module(name = "{name}", version = "0")\n')
        (stub / "BUILD.bazel").write_text("".join(f"{_TARGET.format(target=target)}\n" for target in targets))
        modules[name] = stub
    (modules["buildozer"] / "buildozer_binary.bzl").write_text(_BUILDOZER_EXTENSION)
    options = [
        *(f"--override_module={name}={place}" for name, place in modules.items()),
        # The same for WORKSPACE files. Modules have other repository names, so these options do not affect them.
        *(f"--override_repository={name}={base / place}" for name, place in SHIPPED.items()),
        # A lockfile would pin the paths of this install.
        "--lockfile_mode=off",
    ]
    bazelrc.write_text(bazelrc.read_text() + _lines(options))


def _lines(options: Sequence[str]) -> str:
    return "".join(f"common {shlex.quote(option)}\n" for option in options)
