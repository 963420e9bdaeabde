"""Writes generated sources into the user's tree. Replaces existing files only on request."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path


def write(root: Path, files: Mapping[str, str], overwrite: bool) -> str:
    """Writes files.

    Args:
        root: the root of the relative paths.
        files: the text of each path.
        overwrite: whether to replace files with another text.

    Returns:
        A report with a line for each file, and the changes, made or not, as a diff.
    """
    report = []
    kept = False
    for path, text in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            with file.open("x") as new:
                new.write(text)
        except FileExistsError:
            old = file.read_text(errors="replace")
            if old == text:
                report.append(f"{path}: as generated\n")
                continue
            if overwrite:
                file.write_text(text)
            kept |= not overwrite
            report.append(f"{path}: {'replaced' if overwrite else 'kept; what is generated differs'}\n")
            report.extend(
                line if line.endswith("\n") else f"{line}\n\\ no line end at the end of the file\n"
                for line in difflib.unified_diff(
                    old.splitlines(keepends=True), text.splitlines(keepends=True), path, f"{path} (generated)"
                )
            )
        else:
            report.append(f"{path}: written\n")
    if kept:
        report.append("To replace the files that were kept: -- --overwrite\n")
    return "".join(report)
