"""Writes a folder with the libraries of an op package for a device, and the commands that push and run a program."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any

from diagnostics.errors import InputError


def write(
    registration: Mapping[str, Any], libraries: Sequence[Path], hexagon_arch: str, output: Path, label: str
) -> None:
    """Writes a bundle.

    Args:
        registration: the registration of the package.
        libraries: folders, each with a library and sdk.json.
        hexagon_arch: the version of the device's DSP.
        output: the folder to write.
        label: the label of the bundle, for error messages.

    Raises:
        InputError: the libraries are for different SDKs.
    """
    sdks = [json.loads((folder / "sdk.json").read_text()) for folder in libraries]
    build_ids = sorted({sdk["sdk_build_id"] for sdk in sdks})
    if len(build_ids) > 1:
        raise InputError.of(
            label,
            f"expected libraries of one SDK; got libraries of {', '.join(build_ids)}",
            "some of the libraries were built before the SDK changed. A library works with its own SDK only",
            "build all libraries with one SDK",
            id="several-sdks",
        )
    output.mkdir(parents=True, exist_ok=True)
    for folder, sdk in zip(libraries, sdks, strict=True):
        shutil.copyfile(folder / sdk["library"], output / sdk["library"])
    (output / "sdk.json").write_text(json.dumps(sdks, indent=2) + "\n")
    script = output / "push.sh"
    script.write_text(
        Template((Path(__file__).with_name("push.sh.template")).read_text()).substitute(
            package=registration["package"],
            sdk=build_ids[0] or "unknown",
            device_dir=registration["device_dir"],
            hexagon_arch=hexagon_arch,
            libraries="".join(f'  "$here/{library}" \\\n' for library in sorted(sdk["library"] for sdk in sdks)),
        )
    )
    script.chmod(0o755)
