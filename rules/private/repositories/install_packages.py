"""Installs a lock with uv, or with pip where there is no uv, and compiles bytecode for what an export imports.

uv keeps the files of each wheel in a cache, and an environment has hard links to these: a changed lock installs only
what changed. The cache can be deleted at any time.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import marshal
import multiprocessing
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import types
from concurrent import futures

# A repository rule runs this file as a script.
sys.path[0] = str(pathlib.Path(__file__).absolute().parents[3])

from rules.private.repositories import indexes  # noqa: E402

# The head of bytecode that Python takes without a look at the source: https://peps.python.org/pep-0552/.
_UNCHECKED = importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little")
_HEAD_BYTES = 16
# Enough for the cost of handing over a task not to matter.
_MODULES_AT_A_TIME = 8
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


def _delete_standard_modules(root: pathlib.Path) -> None:
    """Deletes the modules of packages such as `typing` that the standard library has, too.

    In an installed Python, the own module comes first on the path. Here, the environment's folder comes first, and a
    backport for an old Python would break all imports.
    """
    for path in list(root.iterdir()):
        if path.name.partition(".")[0] not in sys.stdlib_module_names:
            continue
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def _write(file: pathlib.Path, content: bytes) -> None:
    """Writes a file that other processes may write at the same time, with the same content."""
    part = file.with_name(f"{file.name}.{os.getpid()}")
    part.write_bytes(content)
    part.replace(file)


def _sources(root: pathlib.Path) -> dict[str, str]:
    """The paths of an environment's sources in the environment, by module."""
    files = {}
    for folder, _, names in os.walk(root):
        package = os.path.relpath(folder, root) + "/"
        for name in names:
            if name.endswith(".py"):
                inside = (package + name).removeprefix("./")
                files[inside.removesuffix(".py").removesuffix("/__init__").replace("/", ".")] = inside
    return files


def _compile(root: pathlib.Path, inside: str, cache: pathlib.Path) -> tuple[str, ...]:
    """Writes the bytecode of a source into `__pycache__`; returns the names that the module's own code mentions.

    The bytecode has no path or time in it, so that two machines get the same bytes.

    Args:
        root: the environment.
        inside: the path of the source in the environment.
        cache: bytecode of other environments, by path and content of the source.
    """
    data = (root / inside).read_bytes()
    kept = cache / hashlib.sha256(_UNCHECKED + inside.encode() + b"\0" + data).hexdigest()
    try:
        content = kept.read_bytes()
        code: types.CodeType = marshal.loads(content[_HEAD_BYTES:])
    except FileNotFoundError:
        try:
            code = compile(data, inside, "exec", dont_inherit=True)
        except (SyntaxError, ValueError):
            return ()
        content = _UNCHECKED + importlib.util.source_hash(data) + marshal.dumps(code)
        _write(kept, content)
    target = root / importlib.util.cache_from_source(inside)
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(content)
    return code.co_names


def _compile_some(root: pathlib.Path, files: list[str], cache: pathlib.Path) -> list[tuple[str, ...]]:
    return [_compile(root, file, cache) for file in files]


def precompile(root: pathlib.Path, modules: list[str], cache: pathlib.Path) -> None:
    """Compiles the bytecode of modules and of all that they import, without a run of their code.

    A name in a module's code counts as an import if a module has that name, absolute or in an enclosing package. The
    names of modules that code imports by computed names are not found. These modules get no bytecode.

    Args:
        root: the environment.
        modules: their names.
        cache: a folder with bytecode of other environments.
    """
    files = _sources(root)
    top_level = {module.partition(".")[0] for module in files}
    with futures.ProcessPoolExecutor(mp_context=multiprocessing.get_context("fork")) as pool:
        found = {module for module in modules if module in files}
        new = sorted(found)
        running: dict[futures.Future[list[tuple[str, ...]]], list[str]] = {}
        while new or running:
            for i in range(0, len(new), _MODULES_AT_A_TIME):
                some = new[i : i + _MODULES_AT_A_TIME]
                running[pool.submit(_compile_some, root, [files[module] for module in some], cache)] = some
            mentioned = set[str]()
            for done in futures.wait(running, return_when=futures.FIRST_COMPLETED).done:
                for module, names in zip(running.pop(done), done.result(), strict=True):
                    parts = module.split(".")
                    above = [".".join(parts[:i]) for i in range(1, len(parts) + 1)]
                    bases = {*above, *(name for name in names if name.partition(".")[0] in top_level)}
                    mentioned |= bases | {f"{base}.{name}" for base in bases for name in names}
            new = sorted((mentioned & files.keys()) - found)
            found.update(new)


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
            bytecode = cache / "bytecode"
            bytecode.mkdir(exist_ok=True)
            precompile(directory, options.precompile, bytecode)
        else:
            if not (options.uv and _install_with_uv(options.uv, cache / "uv", requirements, directory)):
                _install_with_pip(options.pip, requirements, directory)
            _delete_standard_modules(directory)


if __name__ == "__main__":
    main(sys.argv[1:])
