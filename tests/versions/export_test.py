"""Programs that other versions of ExecuTorch export, in the binaries that this build made of the same models.

A binary has the runtime and the kernels of this build. The samples have PyTorch's outputs.
"""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

from absl.testing import absltest

from rules.private.repositories import versions

_EXAMPLES = pathlib.Path("examples").absolute()
_OTHERS = [minor for minor, row in versions.VERSIONS.items() if row["lock"] and minor != versions.DEFAULT_EXECUTORCH]


def _environment(minor: str) -> dict[str, str]:
    """The environment of a process that imports a version's packages in place of the default one's."""
    name = f"executorch_{minor.replace('.', '_')}_python"
    (packages,) = pathlib.Path().absolute().parent.glob(f"*{name}/site-packages")
    modules = [path for path in sys.path if not path.endswith("executorch_python/site-packages")]
    return os.environ | {"PYTHONPATH": os.pathsep.join([*modules, str(packages)])}


def _run(command: list[str], environment: dict[str, str]) -> str:
    run = subprocess.run(command, capture_output=True, check=False, env=environment, text=True)
    if run.returncode != 0:
        raise AssertionError(f"{command}\n{run.stdout}{run.stderr}")
    return run.stdout + run.stderr


class ExportTest(absltest.TestCase):
    def test_versions(self) -> None:
        """Each environment has the versions of its row."""
        self.assertTrue(_OTHERS)
        program = "import importlib.metadata as m; print(*(m.version(p) for p in ('executorch', 'torch', 'torchao')))"
        for minor in _OTHERS:
            found = [
                version.partition("+")[0]
                for version in _run([sys.executable, "-c", program], _environment(minor)).split()
            ]
            self.assertEqual([*versions.VERSIONS[minor]["pins"].values()], found)

    def _export_and_check(self, model: str, binary: str, *options: str) -> None:
        for minor in _OTHERS:
            with self.subTest(minor):
                folder = pathlib.Path(self.create_tempdir().full_path)
                files = [f"--program={folder}/model.pte", f"--samples={folder}/model.ptd"]
                printed = _run(
                    [
                        *(sys.executable, "-m", "export.main", f"--model={_EXAMPLES / model}", *files),
                        *(f"--label=//examples:{minor}", "--strict_passes", *options),
                    ],
                    _environment(minor),
                )
                # A patch of ExecuTorch's insides that does not fit this version would be a warning.
                self.assertEqual("", printed)
                self.assertIn("PASSED: ", _run([str(_EXAMPLES / binary), *files, "--check"], dict(os.environ)))

    def test_custom_operator(self) -> None:
        """The quickstart."""
        self._export_and_check("quickstart/model.py", "quickstart/model", f"--import_path={_EXAMPLES / 'quickstart'}")

    def test_mobilenet_v2(self) -> None:
        self._export_and_check("mobilenet_v2/model.py", "mobilenet_v2/mobilenet_v2", "--graph_passes=all")

    def test_tiny_llama(self) -> None:
        self._export_and_check("tiny_llama/model.py", "tiny_llama/tiny_llama", "--graph_passes=all")

    def test_delegated_program(self) -> None:
        """Quantized for XNNPACK, and lowered to XNNPACK."""
        options = ["--backend=xnnpack", "--quantize=xnnpack_int8_dynamic"]
        self._export_and_check("tiny_llama/model.py", "xnnpack/tiny_llama_int8", *options)


if __name__ == "__main__":
    absltest.main()
