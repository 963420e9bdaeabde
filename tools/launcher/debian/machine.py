"""Checks that the machine can run a Bazel from Debian."""

import dataclasses
import platform
import shutil

from tools.launcher import errors


@dataclasses.dataclass(frozen=True)
class Architecture:
    """A processor architecture with a Bazel in Debian.

    Attributes:
        name: str: Debian's name of the architecture.
        triplet: str: the folder of the architecture's libraries under /usr/lib and /usr/libexec.
        loader: str: the file name of the dynamic loader.
    """

    name: str
    triplet: str
    loader: str


_ARCHITECTURES = {
    "x86_64": Architecture("amd64", "x86_64-linux-gnu", "ld-linux-x86-64.so.2"),
    "aarch64": Architecture("arm64", "aarch64-linux-gnu", "ld-linux-aarch64.so.1"),
}


def check() -> Architecture:
    """Returns the machine's architecture.

    Raises:
        errors.LauncherError: no Bazel from Debian can run on the machine, or a program for the download is missing.
    """
    system = _os_release()
    if system.get("ID") != "debian":
        name = system.get("PRETTY_NAME", platform.system())
        raise errors.LauncherError(
            f"no Bazel >= 7 found, and it can be installed by itself on Debian only, not on {name}: {errors.OTHER_WAYS}"
        )
    architecture = _ARCHITECTURES.get(platform.machine())
    if architecture is None:
        raise errors.LauncherError(
            f"no Bazel >= 7 found, and Debian's runs on x86-64 and arm64 only, not on {platform.machine()}:"
            f" {errors.OTHER_WAYS}"
        )
    for program, package in (("apt-get", "apt"), ("apt-cache", "apt"), ("dpkg-deb", "dpkg")):
        if shutil.which(program) is None:
            raise errors.LauncherError(
                f"no Bazel >= 7 found, and {program}, which fetches Debian's, is not on the PATH: install the package"
                f" {package}, or {errors.OTHER_WAYS}"
            )
    return architecture


def _os_release() -> dict[str, str]:
    try:
        return platform.freedesktop_os_release()
    except OSError:
        return {}
