"""Installs a lock with uv, or with pip where there is no uv, and compiles bytecode for what an export imports.

uv keeps the files of each wheel in a cache, and an environment has hard links to these: a changed lock installs only
what changed. The cache can be deleted at any time.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import importlib.util
import marshal
import os
import pathlib
import subprocess
import sys
import tempfile
import types
from importlib import machinery

# A repository rule runs this file as a script.
sys.path[0] = str(pathlib.Path(__file__).absolute().parents[3])

from rules.private.repositories import indexes  # noqa: E402

# The head of bytecode that Python takes without a look at the source: https://peps.python.org/pep-0552/.
_UNCHECKED = importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little")
_OPTIONS = ["--quiet", "--no-deps", "--only-binary=:all:", "--require-hashes"]


def _install_with_uv(uv: pathlib.Path, cache: pathlib.Path, requirements: pathlib.Path, to: pathlib.Path) -> bool:
    """Whether uv can install the lock. Where uv cannot, pip may, which also reads credentials that uv does not know."""
    machine = indexes.of_machine()
    run = subprocess.run(
        [
            *(str(uv), "pip", "install", *_OPTIONS, f"--cache-dir={cache}", "--no-config"),
            *(f"--python={sys.executable}", f"--target={to}", f"--requirements={requirements}"),
            *indexes.uv_options(machine, with_extra=True),
        ],
        capture_output=True,
        env=indexes.uv_environment(machine),
    )
    (to / ".lock").unlink(missing_ok=True)
    return run.returncode == 0


def _install_with_pip(pip: list[str], requirements: pathlib.Path, to: pathlib.Path) -> None:
    run = subprocess.run(
        [
            *(*pip, "install", *_OPTIONS, "--disable-pip-version-check", "--no-compile", "--no-warn-conflicts"),
            *(f"--requirement={requirements}", "--root-user-action=ignore", "--upgrade", f"--target={to}"),
        ],
        capture_output=True,
        # pip moves files from there, which takes no time within one file system.
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": str(to.parent)},
        text=True,
    )
    if run.returncode != 0:
        sys.exit(run.stderr)


def _write(file: pathlib.Path, content: bytes) -> None:
    """Writes a file that other processes may write at the same time, with the same content."""
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(f"{file.name}.{os.getpid()}")
    part.write_bytes(content)
    part.replace(file)


def precompile(root: pathlib.Path, modules: list[str], cache: pathlib.Path) -> None:
    """Imports modules, and keeps the bytecode of all that they import.

    The bytecode has no path or time in it, so that two machines get the same bytes.

    Args:
        root: the environment.
        modules: their names.
        cache: bytecode of other environments, by path and content of the source.
    """

    class Loader(machinery.SourceFileLoader):
        def get_code(self, fullname: str) -> types.CodeType:
            path = pathlib.Path(self.get_filename(fullname))
            data = self.get_data(str(path))
            if not path.is_relative_to(root):
                return compile(data, path, "exec", dont_inherit=True)
            inside = str(path.relative_to(root))
            key = hashlib.sha256(_UNCHECKED + inside.encode() + b"\0" + data).hexdigest()
            kept = cache / key[:2] / key
            if not kept.exists():
                compiled = marshal.dumps(compile(data, inside, "exec", dont_inherit=True))
                _write(kept, _UNCHECKED + importlib.util.source_hash(data) + compiled)
            content = kept.read_bytes()
            _write(root / importlib.util.cache_from_source(inside), content)
            code: types.CodeType = marshal.loads(content[16:])
            return code

    loaders = (machinery.ExtensionFileLoader, machinery.EXTENSION_SUFFIXES), (Loader, machinery.SOURCE_SUFFIXES)
    sys.path_hooks.insert(0, machinery.FileFinder.path_hook(*loaders))
    sys.path_importer_cache.clear()
    sys.path.insert(0, str(root))
    # Names of files in the bytecode are relative, and some modules read their own source.
    os.chdir(root)
    for module in modules:
        importlib.import_module(module)


def _cache(folder: pathlib.Path, instead: pathlib.Path) -> pathlib.Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:  # no home, or a home that is read only
        return instead
    return folder


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requirements", type=pathlib.Path, required=True, help="the lock")
    parser.add_argument("--cache", type=pathlib.Path, required=True, help="a folder that stays")
    parser.add_argument("--directory", type=pathlib.Path, required=True, help="site-packages, which is made")
    parser.add_argument(
        "--precompile", nargs="+", help="modules whose imports get bytecode, in an environment that is installed"
    )
    parser.add_argument("--uv", type=pathlib.Path, help="the program uv")
    parser.add_argument("--pip", nargs=argparse.REMAINDER, help="the command that runs pip")
    options = parser.parse_args(arguments)
    directory = options.directory.absolute()
    requirements = options.requirements.absolute()
    with tempfile.TemporaryDirectory(dir=directory.parent) as instead:
        cache = _cache(options.cache.absolute(), pathlib.Path(instead))
        if options.precompile:
            precompile(directory, options.precompile, cache / "bytecode")
        elif not (options.uv and _install_with_uv(options.uv, cache / "uv", requirements, directory)):
            _install_with_pip(options.pip, requirements, directory)


if __name__ == "__main__":
    main(sys.argv[1:])
