"""Makes unpacked packages run from where they lie."""

import os
import pathlib
import struct
from collections.abc import Iterable, Iterator

from tools.launcher.debian import machine, process

_PT_INTERP = 3


def relocate_links(root: pathlib.Path) -> None:
    """Points the absolute symlinks under `root` into `root`."""
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
    """Gives the programs in `places` the loader and the libraries of `root`, newer than the machine's.

    Args:
        root: where the packages, patchelf among them, are unpacked.
        places: files, and folders that are searched through.
        libraries: the folders of shared libraries.
        architecture: of the programs.
        commands: runs patchelf.

    Raises:
        process.CommandError: patchelf failed.
    """
    system = root / "usr/lib" / architecture.triplet
    loader = system / architecture.loader
    # An rpath of the old kind holds for the libraries of a library, too.
    patchelf: list[str | pathlib.Path] = [loader, "--library-path", system, root / "usr/bin/patchelf", "--force-rpath"]
    rpath = ":".join(str(library) for library in libraries)
    programs = [path for place in places for path in _files(place) if is_program(path)]
    commands.run([*patchelf, "--set-interpreter", loader, "--set-rpath", rpath, *programs])


def _files(place: pathlib.Path) -> Iterator[pathlib.Path]:
    paths = place.rglob("*") if place.is_dir() else [place]
    return (path for path in paths if path.is_file() and not path.is_symlink())


def is_program(path: pathlib.Path) -> bool:
    """Whether the file is a 64-bit little-endian ELF that names a loader, as programs do and libraries do not."""
    with path.open("rb") as file:
        header = file.read(64)
        if len(header) < 64 or header[:6] != b"\x7fELF\x02\x01":
            return False
        (offset,) = struct.unpack_from("<Q", header, 32)
        size, number = struct.unpack_from("<HH", header, 54)
        file.seek(offset)
        table = file.read(size * number)
    return any(struct.unpack_from("<I", table, size * index)[0] == _PT_INTERP for index in range(number))
