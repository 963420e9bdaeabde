"""What Bazel needs to be told when it runs from a private install."""

import os
import pathlib
import shlex
import zipfile
from collections.abc import Sequence

# The modules that Debian packages, and where. They stand in for those of the central registry.
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

# Bazel's own module asks for these too, though only builds for Java, protocol buffers and Apple load from them, and
# `bazel mod tidy`.
STUBS = ("apple_support", "buildozer", "protobuf", "zlib")

_BUILDOZER_EXTENSION = """\
def _no_buildozer_impl(_repository_ctx):
    fail("Debian packages no buildozer, which `bazel mod tidy` needs: run it with bazelisk")

_no_buildozer = repository_rule(_no_buildozer_impl)

def _buildozer_binary_impl(_module_ctx):
    _no_buildozer(name = "buildozer_binary")

buildozer_binary = module_extension(_buildozer_binary_impl)
"""


def write_class_path(prefix: pathlib.Path, root: pathlib.Path) -> None:
    """Rewrites the server's class path, a list of absolute paths, to the jars that lie under `root`.

    The jars name one another absolutely, too: so the list takes in all of them. One of our own is added, which tells
    the server its version: Debian's says "development version", and `native.bazel_version` would be empty.
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
    """Writes the bazelrc that only this install reads, and returns its path.

    Args:
        prefix: where the bazelrc goes.
        pip: pip as a wheel, for repository rules on machines whose Python has none.
    """
    options = [
        f"--repo_env=EXECUTORCH_PIP_WHEEL={pip}",
        # For tests that run Bazel themselves.
        f"--repo_env=EXECUTORCH_BAZEL={prefix / 'bin/bazel'}",
    ]
    bazelrc = prefix / "bazelrc"
    bazelrc.write_text(_lines(options))
    return bazelrc


def override_modules(bazelrc: pathlib.Path, prefix: pathlib.Path, root: pathlib.Path) -> None:
    """Puts Debian's modules in place of the registry's, of whatever version a workspace asks for.

    Args:
        bazelrc: what write_bazelrc returned.
        prefix: where the modules go that Debian lacks.
        root: where Debian's modules are unpacked.
    """
    base = root / "usr/share/bazel"
    modules = {name: base / place for name, place in SHIPPED.items()}
    for name in STUBS:
        stub = prefix / "stubs" / name
        stub.mkdir(parents=True)
        (stub / "MODULE.bazel").write_text(f'module(name = "{name}", version = "0")\n')
        (stub / "BUILD.bazel").touch()
        modules[name] = stub
    (modules["buildozer"] / "buildozer_binary.bzl").write_text(_BUILDOZER_EXTENSION)
    options = [
        *(f"--override_module={name}={place}" for name, place in modules.items()),
        # The same for WORKSPACE files; modules go by other repository names, and are not touched by it.
        *(f"--override_repository={name}={base / place}" for name, place in SHIPPED.items()),
        # It would pin the paths of this install.
        "--lockfile_mode=off",
    ]
    bazelrc.write_text(bazelrc.read_text() + _lines(options))


def _lines(options: Sequence[str]) -> str:
    return "".join(f"common {shlex.quote(option)}\n" for option in options)
