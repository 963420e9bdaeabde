"""Runs Bazel inside a test, on a workspace of its own that uses these rules, without the network."""

from __future__ import annotations

import itertools
import os
import pathlib
import platform
import re
import shutil
import subprocess
import tarfile
from collections.abc import Mapping, Sequence

# What the models of the workspaces call. The outer build compiles all kernels, which takes minutes.
_KERNELS = {
    "optimized": ("op_linear", "op_packed_linear"),
    "portable": ("op_add", "op_addmm", "op_leaky_relu", "op_softmax"),
    "quantized": ("op_dequantize_per_tensor",),
}
# Each further set compiles the kernels once more.
_SETS = ("--@rules_executorch//rules:instruction_sets=baseline,avx2",) if platform.machine() == "x86_64" else ()
# What a user's own .bazelrc may have, which holds for the kernels, the headers and the generated code, too. The tests
# that follow pages have these lines, so that they share what they compile.
STRICT_BAZELRC = """\
build --copt=-Wall --copt=-Wextra --copt=-Werror --cxxopt=-std=c++20
"""
# What reads PyTorch's packages is not cached: for the key, a server reads all their files, which takes eleven seconds.
_TOO_BIG = "--modify_execution_info=Et(AotiCompile|Export|QnnCheck|TorchLoad)|TestRunner=+no-cache"
# The numbers of the workspaces, for the names of their output bases.
_NUMBERS = itertools.count()
_TMP = pathlib.Path(os.environ["TEST_TMPDIR"])
_RUNFILES = pathlib.Path(os.environ["RUNFILES_DIR"] if "RUNFILES_DIR" in os.environ else os.environ["TEST_SRCDIR"])


def runfile(repository: str, path: str) -> pathlib.Path:
    """A file of the test's runfiles, by its repository's apparent name."""
    for directory in sorted(_RUNFILES.iterdir()):
        if directory.name == repository or directory.name.endswith(("~" + repository, "+" + repository)):
            return directory / path
    raise FileNotFoundError(f"no repository {repository} in {_RUNFILES}")


class Workspace:
    """A workspace with a Bazel server and an output base of its own; use as a context.

    Workspaces of one process share a cache of actions: what two of them compile from the same files is compiled once.

    Args:
        root: the workspace.
        *options: flags of every command.
        cached: whether the workspace uses the shared cache.
        all_sets: whether kernels are compiled for all instruction sets, as in a user's build.
        config: a config of tools/lint/bazel_versions.bazelrc, such as bazel10, for the flags of a newer Bazel. By
            default, $NESTED_CONFIG, which --config=bazel10 of the outer build sets.

    Attributes:
        root: the workspace.
        output_base: Bazel's folder for the workspace.
    """

    def __init__(
        self, root: pathlib.Path, *options: str, cached: bool = True, all_sets: bool = False, config: str = ""
    ) -> None:
        user_root = _TMP / "bazel"
        self.root = root
        self.output_base = user_root / f"base_{next(_NUMBERS)}"
        self._wheels = runfile("downstream_wheels", "wheels")
        self._command = [
            str(runfile("executorch_bazel", "bazel")),
            f"--output_user_root={user_root}",
            f"--output_base={self.output_base}",
            "--max_idle_secs=30",
            # The server runs for a minute. The second compiler of the JVM takes a quarter of the time.
            "--host_jvm_args=-XX:TieredStopAtLevel=1",
            f"--bazelrc={_RUNFILES / '_main/tools/lint/bazel_versions.bazelrc'}",
        ]
        config = config or os.environ.get("NESTED_CONFIG", "")
        cache = (f"--disk_cache={user_root}/cache", "--remote_download_outputs=all", _TOO_BIG) if cached else ()
        self._sets = () if all_sets else _SETS
        configs = [f"--config={config}"] if config else []
        self._options = [*configs, f"--distdir={self._wheels}", *cache, *options, "--noshow_progress", "--color=no"]

    def __enter__(self) -> Workspace:
        return self

    def __exit__(self, *_: object) -> None:
        subprocess.run([*self._command, "shutdown"], cwd=self.root, capture_output=True)

    def bazel(self, command: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs one command; stdout and stderr are text."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("TEST_", "RUNFILES", "PYTHON"))}
        environment["HOME"] = str(_TMP)
        environment |= {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self._wheels), "RULES_PYTHON_PIP_ISOLATED": "0"}
        sets = self._sets if command in ("build", "run", "test") else ()
        return subprocess.run(
            [*self._command, command, *self._options, *sets, *arguments],
            cwd=self.root,
            env=environment,
            capture_output=True,
            text=True,
        )

    def succeed(self, command: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs one command; raises AssertionError with what the command printed if the command fails."""
        run = self.bazel(command, *arguments)
        if run.returncode != 0:
            raise AssertionError(f"bazel {command} {' '.join(arguments)}: {run.returncode}\n{run.stdout}{run.stderr}")
        return run


def fence(page: str, marker: str) -> str:
    """The code that a page shows and that contains a text."""
    text = (_RUNFILES / "_main" / page).read_text()
    fences: list[str] = re.findall(r"^```(?:starlark|bazelrc)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    (fence,) = [fence for fence in fences if marker in fence]
    return fence


def copy_rules(to: pathlib.Path, kernels: Mapping[str, Sequence[str]] = _KERNELS) -> pathlib.Path:
    """The archive of this repository, unpacked, with some of the kernels, by folder; returns its path."""
    with tarfile.open(_RUNFILES / "_main/tools/release/rules_executorch.tar.gz") as archive:
        archive.extractall(to, filter="data")
    for folder, names in kernels.items():
        operators = to / "kernels" / folder / "operators.bzl"
        operators.write_text(
            operators.read_text().replace("\nOPERATOR_FILES = ", "\n_ALL_FILES = ")
            + f"\nOPERATOR_FILES = {{name: _ALL_FILES[name] for name in {[*names]}}}\n"
        )
    return to


def packages() -> dict[str, str]:
    """The packages of this build, for a workspace without the network: tag of the extension `executorch` -> folder."""
    folders = {
        "runtime": runfile("executorch_runtime", "executorch/lib/libexecutorch.so").resolve().parents[2],
        # The packages of a Python repository are a directory, or links to files.
        **{
            name: runfile(f"executorch_{name}", "site-packages/absl/__init__.py").resolve().parents[1]
            for name in ("python", "codegen_python")
        },
    }
    return {name: str(folder) for name, folder in folders.items()}


def module_tags() -> str:
    """Lines of MODULE.bazel that give a workspace the packages of this build."""
    return "".join(f'executorch.{name}(site_packages = "{folder}")\n' for name, folder in packages().items())


def make(name: str, place: pathlib.Path) -> pathlib.Path:
    """A copy of one of the workspaces here, and of the rules that the workspace uses, below a folder; returns its path.

    In files that end in .in, which Bazel does not take for packages, the ending is dropped, and `{name}` is replaced in
    what is no BUILD file. Every MODULE.bazel holds that of the README, and every WORKSPACE that of docs/workspace.md.
    """
    sources = ", ".join(f'{name} = {{"site_packages": "{folder}"}}' for name, folder in packages().items())
    values = {
        "rules_executorch": str(copy_rules(place / "rules_executorch")),
        "shown_module": fence("README.md", "bazel_dep("),
        "shown_workspace": fence("docs/workspace.md", "executorch_repositories()").replace(
            "executorch_repositories()", f"executorch_repositories({sources})"
        ),
        **packages(),
    }
    source = pathlib.Path(__file__).with_name(name)
    to = place / name
    for file in sorted(file for file in source.rglob("*") if file.is_file()):
        copy = to / file.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix == ".in":
            text = file.read_text()
            copy.with_suffix("").write_text(text.format(**values) if "BUILD" not in file.name else text)
        else:
            shutil.copy(file, copy)
    shutil.copy(_RUNFILES / "_main/requirements/downstream.txt", to / "requirements.txt")
    return to


def make_app(place: pathlib.Path) -> pathlib.Path:
    """A copy of the workspace `app`, with packages of the BUILD files that pages show.

    `first_operator` has the quickstart's files and the BUILD file of docs/first_operator.md. `plain` has the plain
    model and the BUILD file of the README. `workspace.bazelrc` is the .bazelrc of docs/workspace.md.
    """
    app = make("app", place)
    (app / "workspace.bazelrc").write_text(fence("docs/workspace.md", "--enable_workspace"))
    shutil.copytree(_RUNFILES / "_main/examples/quickstart", app / "first_operator")
    (app / "first_operator/BUILD.bazel").write_text(fence("docs/first_operator.md", "custom_ops_yaml_target = "))
    shutil.copytree(_RUNFILES / "_main/examples/plain_model", app / "plain")
    (app / "plain/BUILD.bazel").write_text(fence("README.md", 'name = "classifier"'))
    return app


def make_fleet(place: pathlib.Path) -> pathlib.Path:
    """A copy of the workspace `fleet`, with the kernels and the programs of //examples/custom_ops."""
    fleet = make("fleet", place)
    example = _RUNFILES / "_main/examples/custom_ops"
    for file in ("custom_ops.yaml", "mul3_kernel.cpp", "mul4_kernel.cpp"):
        shutil.copy(example / file, fleet / "kernels")
    for program, name in (("model.pte", "mul3.pte"), ("mul4_model.pte", "mul4.pte")):
        shutil.copy(example / program, fleet / name)
    return fleet
