from __future__ import annotations

import functools
import json
import os
import tarfile
from typing import Any

from absl.testing import absltest

from codegen.tests import case


class BundleCommandTest(case.TestCase):
    def _bundle(self, *flags: str, binary: str = "runner", content: str = "#!/bin/sh\n") -> dict[str, Any]:
        """Bundles a binary with that content; gives the manifest."""
        path = self.write(binary, content)
        os.chmod(path, 0o755)
        self.run_command(
            "bundle",
            "--label=//app:bundle",
            f"--binary={path}",
            *flags,
            f"--folder={self.directory}/bundle",
            f"--tar={self.directory}/bundle.tar",
        )
        manifest: dict[str, Any] = json.loads((self.directory / "bundle" / "manifest.json").read_text())
        return manifest

    def test_folders_and_links_become_files(self) -> None:
        data = self.directory / "data"
        (data / "inner").mkdir(parents=True)
        (data / "inner" / "a=b.txt").write_text("a")
        (data / "link").symlink_to("inner/a=b.txt")
        manifest = self._bundle("--runfile=_main/data=1", f"--runfile_source={data}")
        folder = "runner.runfiles/_main/data=1"
        self.assertEqual(
            [entry["path"] for entry in manifest["files"]],
            ["runner", f"{folder}/inner/a=b.txt", f"{folder}/link"],
        )
        self.assertFalse((self.directory / "bundle" / folder / "link").is_symlink())

    def test_permission_to_run_is_kept(self) -> None:
        data = self.write("data.txt", "")
        self._bundle("--runfile=_main/data.txt", f"--runfile_source={data}")
        with tarfile.open(self.directory / "bundle.tar") as archive:
            modes = {entry.name: entry.mode for entry in archive}
        self.assertEqual(modes["bundle/runner"], 0o755)
        self.assertEqual(modes["bundle/runner.runfiles/_main/data.txt"], 0o644)

    def test_a_script_needs_no_libraries(self) -> None:
        manifest = self._bundle()
        self.assertIsNone(manifest["machine"])
        self.assertEqual(manifest["system_libraries"], {})

    def test_a_damaged_binary_is_still_bundled(self) -> None:
        self.assertIsNone(self._bundle(content="\x7fELF\2\1\1")["machine"])

    def test_binary_with_the_name_of_the_manifest(self) -> None:
        for name in ("manifest.json", "licenses"):
            self.assert_refused(functools.partial(self._bundle, binary=name), "reserved-name //app:bundle")


if __name__ == "__main__":
    absltest.main()
