"""Maps labels, visibilities and conditions of ExecuTorch's BUCK files to those of this repository."""

from __future__ import annotations

import re
from pathlib import Path

_KERNEL_INCLUDES = "//runtime:kernel_includes"
_MODULE = "//runtime:module"
RUNNER = "//runtime:runner"

# Labels of ExecuTorch without the repository's name. `*` stands for any target name.
_HERE = {
    "backends/openvino:*": "//runtime:backend_openvino",
    "backends/qualcomm/runtime:runtime": "//runtime:backend_qnn",
    "backends/xnnpack:xnnpack_backend": "//runtime:backend_xnnpack",
    "devtools/etdump:etdump_flatcc": "//runtime:etdump",
    "examples/portable/executor_runner:executor_runner_lib": RUNNER,
    "extension/data_loader:*": _MODULE,
    "extension/flat_tensor:*": _MODULE,
    "extension/kernel_util:kernel_util": _KERNEL_INCLUDES,
    "extension/memory_allocator:*": _MODULE,
    "extension/module:*": _MODULE,
    "extension/named_data_map:*": _MODULE,
    "extension/tensor:*": _MODULE,
    "extension/threadpool:threadpool": "//runtime:threadpool",
    "kernels/optimized/cpu:cpu_optimized": "//kernels/optimized:operators",
    "kernels/optimized:optimized.yaml": "//kernels/optimized:functions.yaml",
    "kernels/optimized:optimized_operators": "//kernels/optimized:operators",
    "kernels/portable/cpu:cpu": "//kernels/portable:operators",
    "kernels/portable:custom_ops.yaml": "//kernels/portable:custom_ops.yaml",
    "kernels/portable:functions.yaml": "//kernels/portable:functions.yaml",
    "kernels/portable:operators": "//kernels/portable:operators",
    "kernels/quantized/cpu:quantized_cpu": "//kernels/quantized:operators",
    "kernels/quantized:quantized.yaml": "//kernels/quantized:quantized.yaml",
    "kernels/quantized:quantized_operators": "//kernels/quantized:operators",
    "runtime/core/exec_aten/util:*": _KERNEL_INCLUDES,
    "runtime/core/exec_aten:lib": _KERNEL_INCLUDES,
    "runtime/core:*": _KERNEL_INCLUDES,
    "runtime/executor:program": "//runtime:program",
    "runtime/executor:program_no_prim_ops": "//runtime:program",
    "runtime/kernel:kernel_includes": _KERNEL_INCLUDES,
    "runtime/kernel:kernel_includes_aten": "//runtime:kernel_includes_aten",
    "runtime/kernel:kernel_runtime_context": _KERNEL_INCLUDES,
    "runtime/kernel:operator_registry": "//runtime:program",
    "runtime/platform:*": _KERNEL_INCLUDES,
}
# ExecuTorch has a target for the kernels of each operator.
_KERNELS = re.compile(r"kernels/(?P<library>portable|quantized)/cpu:(?P<name>op_\w+)(?<!_aten)")

_ELSEWHERE = {
    "//caffe2:torch": "@executorch_python//:torch",
    "caffe2:torch": "@executorch_python//:torch",
}
_OTHER_BUILD = {
    "gflags": "@gflags",
    "gtest": "@googletest//:gtest_main",
    "gtest_main": "@googletest//:gtest_main",
    "libtorch": "//runtime:libtorch",
}
_CONDITIONS = {
    "DEFAULT": "//conditions:default",
    "ovr_config//cpu:arm32": "@platforms//cpu:arm",
    "ovr_config//cpu:arm64": "@platforms//cpu:aarch64",
    "ovr_config//cpu:riscv64": "@platforms//cpu:riscv64",
    "ovr_config//cpu:x86_64": "@platforms//cpu:x86_64",
    "ovr_config//os:android": "@platforms//os:android",
    "ovr_config//os:iphoneos": "@platforms//os:ios",
    "ovr_config//os:linux": "@platforms//os:linux",
    "ovr_config//os:macos": "@platforms//os:macos",
    "ovr_config//os:windows": "@platforms//os:windows",
}
_PUBLIC = "//visibility:public"
_BUCK_FILES = ("BUCK", "TARGETS", "targets.bzl")


class NoCounterpartError(ValueError):
    """A label without a counterpart in this repository. The message is the end of a sentence, with the reason."""


def label(given: str, module: str, file: Path) -> str:
    """Returns the counterpart of a label in `file`. `module` is the name of this repository."""
    if given.endswith("]"):
        raise NoCounterpartError("names one output of a target; name the file that the target makes")
    if given in _ELSEWHERE:
        return _ELSEWHERE[given]
    cell, _, path = given.partition("//")
    if given.startswith(":") or "//" not in given:
        return given
    if cell not in ("", "root", "@root"):
        raise NoCounterpartError(f"is of another repository, {cell.lstrip('@')}")
    if not path.startswith("executorch/"):
        return "//" + path
    path = path.removeprefix("executorch/")
    package, _, name = path.partition(":")
    name = name or package.rpartition("/")[2]
    found = _HERE.get(f"{package}:{name}") or _HERE.get(f"{package}:*")
    if found is not None:
        return module + found
    kernels = _KERNELS.fullmatch(f"{package}:{name}")
    if kernels is not None:
        return f"{module}//kernels/{kernels['library']}:{kernels['name']}"
    if any((root / package / buck).is_file() for root in file.absolute().parents for buck in _BUCK_FILES):
        return f"//{package}:{name}"
    raise NoCounterpartError("is a target of ExecuTorch that has no counterpart here")


def external(name: str, module: str) -> str:
    """Returns the label for a name in `external_deps`."""
    if name not in _OTHER_BUILD:
        raise NoCounterpartError("is a library of another build")
    found = _OTHER_BUILD[name]
    return found if found.startswith("@") else module + found


def visibility(given: str) -> str:
    """Returns the visibility for one of Buck's."""
    if given in ("PUBLIC", "@EXECUTORCH_CLIENTS", _PUBLIC):
        return _PUBLIC
    path = given.partition("//")[2].removeprefix("executorch/")
    if path == "...":
        return "//:__subpackages__"
    if path.endswith("/..."):
        return f"//{path.removesuffix('/...')}:__subpackages__"
    return f"//{path.partition(':')[0]}:__pkg__"


def condition(given: str) -> str:
    """Returns the condition of a `select()` for one of Buck's."""
    if given in _CONDITIONS:
        return _CONDITIONS[given]
    if given.startswith((":", "//")) and not given.startswith("//executorch/"):
        return given
    raise NoCounterpartError("is a condition that Bazel does not have; write a config_setting")
