"""Compiles a Python program and its imports into one directory that the interpreter runs."""

from __future__ import annotations

import argparse
import importlib
import pathlib
import py_compile
import shutil
import sys

_MAIN = """import sys

from {main} import main

sys.exit(main(sys.argv[1:]))
"""


def _compile(source: pathlib.Path, to: pathlib.Path, name: pathlib.Path) -> None:
    """Compiles a source. The bytecode has no paths and no times of this machine."""
    py_compile.compile(
        str(source),
        cfile=str(to),
        dfile=str(name),
        doraise=True,
        invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--main", required=True, help="module whose main(arguments) runs")
    parser.add_argument("--output", required=True, type=pathlib.Path, help="the directory")
    parser.add_argument("--import_path", action="append", default=[], help="where modules are")
    parser.add_argument("--module", action="append", default=[], help="a module to include, with what it imports")
    parser.add_argument("--data", action="append", default=[], nargs=2, help="a file, and its name in the directory")
    arguments = parser.parse_args()

    roots = [pathlib.Path(path).absolute() for path in arguments.import_path]
    before = set(sys.modules)
    sys.path[1:1] = [str(root) for root in roots]
    for name in arguments.module:
        importlib.import_module(name)
    files = {getattr(module, "__file__", None) for name, module in sys.modules.items() if name not in before}
    for file in sorted(filter(None, files)):
        path = pathlib.Path(file)
        # The deepest root counts, since the root of a repository also contains the roots of its packages.
        holding = [root for root in roots if path.is_relative_to(root)]
        if not holding:
            continue  # A module of Python itself.
        name = path.relative_to(max(holding, key=lambda root: len(root.parts)))
        target = arguments.output / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".py":
            _compile(path, target.with_suffix(".pyc"), name)
        else:
            shutil.copyfile(path, target)
    for source, name in arguments.data:
        target = arguments.output / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    start = arguments.output / "__main__.py"
    start.write_text(_MAIN.format(main=arguments.main))
    _compile(start, start.with_suffix(".pyc"), pathlib.Path(start.name))
    start.unlink()


if __name__ == "__main__":
    main()
