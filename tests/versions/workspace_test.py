"""The README's workspace with one line more, which takes another ExecuTorch: what a user builds and checks there."""

from __future__ import annotations

import os
import pathlib
import shutil

from absl.testing import absltest

from tests.downstream import nested_bazel

_TMP = pathlib.Path(os.environ["TEST_TMPDIR"])
# What the models call: a build of all kernels takes many minutes.
_KERNELS = {
    "optimized": (
        "op_activation",
        "op_image_mean",
        "op_linear",
        "op_packed_convolution",
        "op_packed_linear",
        "op_rms_norm",
        "op_scaled_dot_product_attention",
    ),
    "portable": (
        "op__to_dim_order_copy",
        "op_add",
        "op_addmm",
        "op_cat",
        "op_copy",
        "op_cos",
        "op_embedding",
        "op_index_put",
        "op_le",
        "op_mean",
        "op_mul",
        "op_neg",
        "op_select_copy",
        "op_sin",
        "op_slice_copy",
    ),
    "quantized": ("op_dequantize_per_tensor",),
}
_MODELS = """\
load("@rules_executorch//rules:defs.bzl", "executorch_model")

executorch_model(
    name = "mobilenet_v2",
    atol = "1e-4",
    model = "mobilenet_v2.py",
    rtol = "1e-4",
    deps = ["@executorch_python//:transformers"],
)

executorch_model(
    name = "tiny_llama",
    model = "tiny_llama.py",
    deps = ["@executorch_python//:transformers"],
)

executorch_model(
    name = "delegated",
    backends = ["xnnpack"],
    model = "plain_model.py",
)
"""
_OPERATOR = """\
load("@rules_executorch//rules:defs.bzl", "torch_op_library", "torch_op_test")

torch_op_library(
    name = "matmul_ops",
    srcs = ["matmul.cpp"],
    namespace = "custom_ops",
)

torch_op_test(
    name = "matmul_test",
    export = True,
    op = "custom_ops::matmul",
    samples = "samples.py",
    deps = [":matmul_ops_py"],
)
"""
_SAMPLES = """\
import operators.matmul_ops  # noqa: F401 (loads the library)
import torch


def get_samples():
    return [(torch.randn(3, 4), torch.randn(4, 5)), (torch.randn(4, 3).t(), torch.randn(5, 4).t())]
"""


def _make_workspace(environment: str) -> pathlib.Path:
    """A workspace with the README's MODULE.bazel and an environment of other versions; returns its path."""
    rules = nested_bazel.copy_rules(_TMP / "rules_executorch", _KERNELS)
    to = _TMP / "workspace"
    examples = pathlib.Path("examples")
    shutil.copytree(examples / "quickstart", to / "quickstart")
    build = nested_bazel.fence("docs/first_operator.md", "custom_ops_yaml_target = ")
    (to / "quickstart/BUILD.bazel").write_text(build)
    (to / "models").mkdir()
    for model in ("mobilenet_v2", "plain_model", "tiny_llama"):
        shutil.copy(examples / model / "model.py", to / f"models/{model}.py")
    (to / "models/BUILD.bazel").write_text(_MODELS)
    (to / "operators").mkdir()
    shutil.copy(examples / "torch_matmul/matmul.cpp", to / "operators")
    (to / "operators/samples.py").write_text(_SAMPLES)
    (to / "operators/BUILD.bazel").write_text(_OPERATOR)
    # Without the network, the packages are those of this build.
    tags = {**nested_bazel.packages(), "python": environment}
    (to / "MODULE.bazel").write_text(
        nested_bazel.fence("README.md", "bazel_dep(")
        + f'local_path_override(module_name = "rules_executorch", path = "{rules}")\n'
        + "".join(f'executorch.{tag}(site_packages = "{folder}")\n' for tag, folder in tags.items())
    )
    return to


class WorkspaceTest(absltest.TestCase):
    packages: pathlib.Path
    workspace: nested_bazel.Workspace

    @classmethod
    def setUpClass(cls) -> None:
        cls.packages = nested_bazel.runfile("executorch_1_4_python", "site-packages").resolve()
        root = _make_workspace(str(cls.packages))
        cls.workspace = nested_bazel.Workspace(root, "--noenable_workspace")
        cls.addClassCleanup(cls.workspace.__exit__)

    def test_models(self) -> None:
        for model in ("quickstart:perceptron", "models:mobilenet_v2", "models:tiny_llama", "models:delegated"):
            with self.subTest(model):
                run = self.workspace.succeed("run", f"//{model}", "--", "--check")
                self.assertNotIn("warning:", run.stderr)
                self.assertIn("PASSED: ", run.stdout)
        delegated = (self.workspace.root / "bazel-bin/models/delegated.delegation.txt").read_text()
        self.assertIn("XnnpackBackend", delegated)

    def test_operator_in_pytorch(self) -> None:
        self.workspace.succeed("test", "--test_output=errors", "//operators:matmul_test")

    def test_unknown_versions(self) -> None:
        """The repository of an environment with a version that no table has prints a warning."""
        odd = _TMP / "odd/site-packages"
        odd.mkdir(parents=True)
        for entry in self.packages.iterdir():
            is_metadata = entry.name.startswith("executorch-")
            (odd / ("executorch-1.99.0.dist-info" if is_metadata else entry.name)).symlink_to(entry)
        module = self.workspace.root / "MODULE.bazel"
        text = module.read_text()
        module.write_text(text.replace(str(self.packages), str(odd)))
        build = self.workspace.succeed("build", "--nobuild", "@executorch_python//:torch")
        module.write_text(text)
        self.assertRegex(build.stderr, r"warning: @\S*executorch_python has executorch 1\.99\.0 with torch 2\.13\.0")
        self.assertIn("the nearest are executorch 1.6 with torch 2.15", build.stderr)


if __name__ == "__main__":
    absltest.main()
