"""Small wheels, in a folder that pip and uv take for an index."""

from __future__ import annotations

import pathlib
import zipfile

_REQUIREMENTS = pathlib.Path(__file__).parents[2] / "requirements"


def write(folder: pathlib.Path, name: str, version: str, *needs: str, **modules: str) -> pathlib.Path:
    """Writes a wheel for any Python, with modules of the texts given; returns its path."""
    stem = f"{name.replace('-', '_').replace('.', '_')}-{version}"
    metadata = [
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}",
        *(f"Requires-Dist: {need}" for need in needs),
    ]
    files = {
        "METADATA": "\n".join(metadata) + "\n",
        "WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files = {f"{stem}.dist-info/{file}": text for file, text in files.items()}
    files |= {f"{module}.py": text for module, text in modules.items()}
    record = f"{stem}.dist-info/RECORD"
    files[record] = "".join(f"{file},,\n" for file in (*files, record))
    path = folder / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for file, text in files.items():
            wheel.writestr(file, text)
    return path


def write_exports(folder: pathlib.Path) -> None:
    """Writes the wheels of all that an export imports, in the versions of these rules, with needs that do not count."""
    for line in (_REQUIREMENTS / "export.txt").read_text().splitlines():
        name, is_pin, version = line.removesuffix(" \\").partition("==")
        if is_pin:
            needs = ["coremltools"] if name == "executorch" else ["nvidia-cublas"] if name == "torch" else []
            write(folder, name, version, *needs)
    write(folder, "torch", "2.13.0+cpu")
