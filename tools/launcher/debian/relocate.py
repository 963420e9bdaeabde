"""Makes unpacked packages run from their folder."""

import os
import pathlib
import struct
from collections.abc import Iterable, Iterator

from tools.launcher.debian import machine, process

_PT_INTERP = 3


def relocate_links(root: pathlib.Path) -> None:
    """Changes absolute symlinks under `root` to point into `root`."""
    for folder, folders, files in os.walk(root):
        for name in folders + files:
            path = pathlib.Path(folder, name)
            if path.is_symlink() and path.readlink().is_absolute():
                target = os.path.relpath(f"{root}{path.readlink()}", folder)
                path.unlink()
                path.symlink_to(target)


def relocate_programs(
    root: pathlib.Path,
    places: Iterable[pathlib.Path],
    libraries: Iterable[pathlib.Path],
    architecture: machine.Architecture,
    commands: process.Commands,
) -> None:
    """Makes the programs in `places` use the loader and the libraries of `root`, which are newer than the machine's.

    Args:
        root: the folder of the unpacked packages, with patchelf.
        places: files, and folders to search for programs.
        libraries: the folders of shared libraries.
        architecture: the architecture of the programs.
        commands: runs patchelf.

    Raises:
        process.CommandError: patchelf failed.
    """
    system = root / "usr/lib" / architecture.triplet
    loader = system / architecture.loader
    # With --force-rpath, patchelf writes DT_RPATH, which also applies to dependencies of libraries.
    patchelf: list[str | pathlib.Path] = [loader, "--library-path", system, root / "usr/bin/patchelf", "--force-rpath"]
    rpath = ":".join(str(library) for library in libraries)
    programs = [path for place in places for path in _files(place) if is_program(path)]
    commands.run([*patchelf, "--set-interpreter", loader, "--set-rpath", rpath, *programs])


def _files(place: pathlib.Path) -> Iterator[pathlib.Path]:
    paths = place.rglob("*") if place.is_dir() else [place]
    return (path for path in paths if path.is_file() and not path.is_symlink())


def is_program(path: pathlib.Path) -> bool:
    """Returns whether a file is a 64-bit little-endian ELF program. Programs name a loader, and libraries do not."""
    with path.open("rb") as file:
        header = file.read(64)
        if len(header) < 64 or header[:6] != b"\x7fELF\x02\x01":
            return False
        (offset,) = struct.unpack_from("<Q", header, 32)
        size, number = struct.unpack_from("<HH", header, 54)
        file.seek(offset)
        table = file.read(size * number)
    return any(struct.unpack_from("<I", table, size * index)[0] == _PT_INTERP for index in range(number))
