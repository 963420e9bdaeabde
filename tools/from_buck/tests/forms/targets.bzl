load("@fbsource//tools/build_defs:platform_defs.bzl", "CXX")
load("@fbsource//xplat/executorch/build:runtime_wrapper.bzl", "get_aten_mode_options", "get_oss_build_kwargs", "is_xplat", "runtime")
load("@fbsource//xplat/executorch/codegen:codegen.bzl", "ScalarType", "et_operator_library", "executorch_generated_lib", "executorch_ops_check", "exir_custom_ops_aot_lib")
load("@fbsource//xplat/executorch/kernels/portable:op_registration_util.bzl", "define_op_target", "op_target")
load("@fbsource//xplat/executorch/third-party:libraries.bzl", "get_vec_deps")
load(":flags.bzl", "get_flags", another_name = "get_flags")

_CLIENTS = [
    "//executorch/...",
    "@EXECUTORCH_CLIENTS",
]

_OPS = (
    op_target(
        name = "op_double",
        deps = [
            ":helper",
            "//executorch/kernels/portable/cpu:scalar_utils",
            "//executorch/runtime/core/exec_aten/util:tensor_util",
        ],
    ),
    op_target(
        name = "op_triple",
        compiler_flags = [] if runtime.is_oss else ["-Wno-shadow"],
        deps = [":helper"],
        _aten_mode_deps = [":helper"],
    ),
)

def _selections(names, **kwargs):
    """One selection for each of several operators."""
    for index, name in enumerate(names):
        et_operator_library(
            name = "select_" + name,
            ops = ["forms::%s.out" % name],
            define_static_targets = index == 0,
            **kwargs
        )

def define_common_targets():
    """Defines targets."""
    for file in ["custom_ops.yaml", "BUILD.bazel", "TARGETS", "flags.bzl", "not_carried_over.txt", "targets.bzl"]:
        runtime.export_file(
            name = file,
            visibility = ["PUBLIC"],
        )

    for op in _OPS:
        define_op_target(is_aten_op = op["name"] != "op_triple", **op)

    op_targets = [":{}".format(op["name"]) for op in _OPS]

    runtime.cxx_library(
        name = "helper",
        exported_headers = runtime.glob(["help*.h"], exclude = ["*_aten.h"]),
        platforms = CXX,
        exported_preprocessor_flags = ["-DFORMS_FACTOR=2"],
        exported_deps = ["//executorch/runtime/core:core"],
        visibility = ["//executorch/kernels/..."] + _CLIENTS,
    )

    for aten_mode in get_aten_mode_options():
        aten_suffix = "_aten" if aten_mode else ""
        runtime.cxx_library(
            name = "operators" + aten_suffix,
            srcs = [],
            compiler_flags = select({
                "DEFAULT": get_flags() + another_name(extra = ["shadow"]),
                "ovr_config//os:windows": [],
                "ovr_config//runtime:fbcode": ["-Wno-error"],
            }),
            exported_deps = [t + aten_suffix for t in op_targets] + get_vec_deps(),
            visibility = _CLIENTS,
        )

    _selections(["double", "triple"], visibility = ["PUBLIC"], _is_external_target = True)

    et_operator_library(
        name = "select_both",
        ops_dict = {
            "forms::double.out": ["v1/6;0,1|6;0,1", ScalarType("Int")],
            "forms::triple.out": [],
        },
        visibility = ["PUBLIC"],
    )

    common = {
        "custom_ops_yaml_target": ":custom_ops.yaml",
        "define_static_targets": True,
        "visibility": ["PUBLIC"],
    }
    for name in ["double", "triple"]:
        executorch_generated_lib(
            name = "{}_lib".format(name),
            deps = [":select_" + name],
            kernel_deps = [":operators"],
            custom_ops_requires_aot_registration = False,
            feature = "forms",
            **common
        )

    executorch_generated_lib(
        name = "both_lib",
        deps = [
            ":select_both",
            "//executorch/kernels/portable:executorch_all_ops",
        ],
        kernel_deps = [":operators"],
        custom_ops_requires_aot_registration = False,
        **common
    )

    if not runtime.is_oss and not is_xplat():
        runtime.cxx_library(name = "for_one_company")

    executorch_ops_check(
        name = "no_overlap",
        deps = [
            ":double_lib",
            ":triple_lib",
        ],
    )

    runtime.genrule(
        name = "exported",
        outs = {"model": ["model.pte"]},
        cmd = "$(exe //executorch/examples/portable/scripts:export) --output_dir $OUT",
    )

    selected = native.read_config("executorch", "select_ops", "double")
    lib = []
    if selected == "all":
        lib.append(":both_lib")
    else:
        lib += [":{}_lib".format(selected)]
    runtime.cxx_binary(
        name = "runner",
        srcs = [],
        deps = ["//executorch/examples/portable/executor_runner:executor_runner_lib"] + lib,
        define_static_target = True,
        visibility = _CLIENTS,
        **get_oss_build_kwargs()
    )

    runtime.cxx_library(
        name = "with_pytorch",
        srcs = ["op_double_aten.cpp"],
        external_deps = [
            "libtorch",
            "pocketfft",
        ],
        link_whole = True,
        force_static = True,
    )
