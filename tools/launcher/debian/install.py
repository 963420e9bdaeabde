"""Installs a private Bazel on a Debian machine that reaches only Debian's mirror.

Debian has packages of Bazel only in newer suites, and the packages need a newer C library than older releases have. So
this module downloads the packages from the newer suite, unpacks them into a private folder, and makes them run from the
folder.
"""

import pathlib
import shlex
import shutil
import sys

from tools.launcher import errors
from tools.launcher.debian import apt, machine, process, registry, relocate, settings

SUITE = "forky"  # A codename, which stays valid after the suite becomes the stable release.
MAJOR = 7

ROOTS = ("bazel-bootstrap", "default-jre-headless", "patchelf", "python3-pip-whl")

# Dependencies that Bazel does not need to run. Packages that only these need are left out, too.
WITHOUT = frozenset(
    (
        # The machine has these packages, or does not need them.
        "build-essential",
        "ca-certificates",
        "default-jdk-headless",
        "java-common",
        "openssl-provider-legacy",
        "protobuf-compiler-grpc-java-plugin",
        "python3",
        "unzip",
        "zlib1g-dev",
        # The server's jar contains the used classes of these packages.
        "libfastutil-java",
        "libguava-java",
        "libnetty-java",
        "libprotobuf-java",
        # Needed only to build Bazel, for annotations, or for parts of a library that the server does not use.
        "libanimal-sniffer-java",
        "libasm-java",
        "libchecker-framework-java",
        "libgoogle-api-client-java",
        "libgoogle-auto-common-java",
        "libgoogle-auto-service-java",
        "libgoogle-auto-value-java",
        "libhttpclient-java",
        "libjacoco-java",
        "libjarjar-java",
        "libjaxb-api-java",
        "libjgit-java",
        "libproguard-java",
        "libprotoc32t64",
        "libslf4j-java",
        "libtomcat9-java",
        "libtruth-java",
        "velocity",
        # For Java programs with images, smart cards or log-ins.
        "ca-certificates-java",
        "libjpeg62-turbo",
        "liblcms2-2",
        "libnss3",
        "libpcsclite1",
        "util-linux",
        # For web pages, and for rare character sets.
        "libc-gconv-modules-extra",
        "libjs-jquery",
        "node-core-js",
        "node-html5shiv",
    )
)

# The bytes on the disk for the packages and their unpacked files.
_SPACE = 600_000_000


def install(prefix: pathlib.Path, lock: int) -> None:
    """Installs Bazel under `prefix`. `bin/bazel` is written last.

    Args:
        prefix: a folder that does not exist yet.
        lock: a descriptor that the started programs keep open until they end.

    Raises:
        errors.LauncherError: the machine is not supported, or a step failed.
        OSError: a file could not be written.
    """
    architecture = machine.check()
    free = shutil.disk_usage(prefix.parent).free
    if free < _SPACE:
        raise errors.LauncherError(
            f"no Bazel >= {MAJOR} found, and installing Debian's under {prefix} takes {_SPACE // 1_000_000} MB, but the"
            f" disk has {free // 1_000_000} MB left: free some space, or set XDG_CACHE_HOME to a folder on another disk"
        )
    print(
        f"tools/bazel: no Bazel >= {MAJOR} found: installing Debian's under {prefix} (115 MB, once)",
        file=sys.stderr,
        flush=True,
    )
    commands = process.Commands(lock)
    root = prefix / "root"
    state = prefix / "apt"
    suite = apt.Suite(SUITE, state, commands)
    suite.update(architecture)
    suite.unpack(apt.closure(suite.dependencies(ROOTS), ROOTS, WITHOUT), root)
    try:
        _make_runnable(prefix, root, architecture, commands)
    except (process.CommandError, FileNotFoundError) as error:
        raise errors.LauncherError(
            f"the Bazel of Debian's suite {SUITE} does not run on this machine ({error}): {errors.OTHER_WAYS}"
        ) from error
    shutil.rmtree(state)
    (prefix / "bin").mkdir()
    (prefix / "bazel").rename(prefix / "bin/bazel")


def _make_runnable(
    prefix: pathlib.Path, root: pathlib.Path, architecture: machine.Architecture, commands: process.Commands
) -> None:
    """Writes the script `prefix`/bazel, which runs the unpacked Bazel under `root`.

    Raises:
        FileNotFoundError: the packages lack a file.
        process.CommandError: Bazel or Java does not run.
    """
    base = root / "usr/share/bazel"
    bazel = root / "usr/bin/bazel"
    libraries = root / "usr/lib" / architecture.triplet
    java = _find(root / "usr/lib/jvm", "java-*-openjdk-*")
    relocate.relocate_links(root)
    relocate.relocate_programs(
        root,
        [bazel, root / "usr/libexec", java],
        [libraries, java / "lib", java / "lib/server"],
        architecture,
        commands,
    )
    # The server searches native libraries in its base folder only.
    (base / "libzstd-jni.so").symlink_to(libraries / "libzstd-jni.so")
    settings.write_class_path(prefix, root)
    bazelrc = settings.write_bazelrc(prefix, _find(root / "usr/share/python-wheels", "pip-*.whl"))
    command = [
        str(bazel),
        f"--install_base={base}",
        "--trust_install_base",
        f"--server_javabase={java}",
        f"--bazelrc={bazelrc}",
    ]
    version = commands.run([*command, "--version"]).strip()
    if not version.startswith(f"bazel {MAJOR}."):
        raise errors.LauncherError(f"Debian's suite {SUITE} has {version}, not Bazel {MAJOR}: {errors.OTHER_WAYS}")
    commands.run([java / "bin/java", "-version"])
    if not registry.is_reached(command, prefix / "trial", commands):
        settings.override_modules(bazelrc, prefix, root)
        print(
            "tools/bazel: Bazel's registry of modules cannot be reached: Debian's stand in for "
            f"{', '.join(settings.SHIPPED)}, whatever version a workspace names",
            file=sys.stderr,
            flush=True,
        )
    script = prefix / "bazel"
    script.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
    script.chmod(0o755)


def _find(folder: pathlib.Path, pattern: str) -> pathlib.Path:
    for path in sorted(folder.glob(pattern)):
        return path
    raise FileNotFoundError(f"there is no {folder / pattern}")
