"""Rule executorch_program."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")
load("//rules/private/actions:implicit_attributes.bzl", "build_setting", "tool_dependency")
load("//rules/private/actions:model_file.bzl", "MODEL_FILE_ATTRS", "add_model_file", "model_file_inputs")
load("//rules/private/actions:param_file.bzl", "no_empty_names", "one_line_each", "param_file_args")
load("//rules/private/actions:qnn_environment.bzl", "qnn_environment")
load("//rules/private/providers:et_program_info.bzl", "EtProgramInfo")
load("//rules/private/providers:qnn_op_package_library_info.bzl", "QnnOpPackageLibraryInfo")
load("//rules/private/toolchains:qnn_platform.bzl", "QnnSdkInfo")

visibility(["//rules/..."])

# A program is the same on all platforms, so a build for several platforms exports it once, for the host platform: the operators
# that the model's code calls run on the exporting machine. An empty list of platforms means the host platform. If the command
# line names no platform either, the program's dependencies have the same configuration as all other targets.
_host_platform = transition(
    implementation = lambda _settings, _attr: {"//command_line_option:platforms": []},
    inputs = [],
    outputs = ["//command_line_option:platforms"],
)

# One multiplex worker runs all exports, several at a time. In a multiplex sandbox, the worker would have no runfiles, so the
# worker links the inputs of each export into a folder itself (export/process/worker.py).
_WORKER = {
    "requires-worker-protocol": "json",
    "supports-multiplex-workers": "1",
    "supports-worker-cancellation": "1",
    "supports-workers": "1",
    "worker-key-mnemonic": "EtExport",
}

def _export(ctx, outputs, requirements = _WORKER, **kwargs):
    """Declares an action that runs the export, with a flag for each output file."""
    args = param_file_args(ctx)
    add_model_file(ctx, args)
    for flag, file in outputs.items():
        args.add(file, format = flag + "=%s")
    no_empty_names(ctx, "backends")
    no_empty_names(ctx, "graph_passes")
    args.add_all(one_line_each(ctx, "backends"), format_each = "--backend=%s")
    args.add_all(one_line_each(ctx, "graph_passes") or [""], format_each = "--graph_passes=%s")
    if ctx.attr._strict_passes[BuildSettingInfo].value:
        args.add("--strict_passes")
    if not ctx.attr.alloc_graph_input:
        args.add("--noalloc_graph_input")
    if not ctx.attr._check_programs[BuildSettingInfo].value:
        args.add("--nocheck_program")
    if ctx.attr.quantize:
        args.add(one_line_each(ctx, "quantize"), format = "--quantize=%s")
    op_packages = [package[QnnOpPackageLibraryInfo].folder for package in ctx.attr.qnn_op_packages]

    # The actions of other programs must not depend on the path of the SDK.
    needs_qnn = ctx.attr.qnn_sdk or op_packages
    qnn_sdk = ctx.attr._qnn_sdk[QnnSdkInfo].root if needs_qnn else ""
    ctx.actions.run(
        executable = ctx.executable._export,
        arguments = [args],
        inputs = model_file_inputs(ctx, ctx.attr._export) + op_packages,
        outputs = outputs.values(),
        # A worker has one environment, so each set of op packages would start another worker.
        execution_requirements = {} if needs_qnn and requirements == _WORKER else requirements,
        env = qnn_environment(qnn_sdk, [folder.path for folder in op_packages]) | {"PYTHONHASHSEED": "0"},
        **kwargs
    )

def _executorch_program_impl(ctx):
    name = ctx.label.name.removesuffix(".pte")
    program, samples, report, report_json, passes, passes_json, origins, etrecord, eager_values, eager_nodes, eager_origins, times = [
        ctx.actions.declare_file(name + extension)
        for extension in [
            ".pte",
            ".ptd",
            ".delegation.txt",
            ".delegation.json",
            ".passes.txt",
            ".passes.json",
            ".origins.json",
            ".etrecord",
            ".eager.ptd",
            ".eager.json",
            ".eager.origins.json",
            ".times.txt",
        ]
    ]
    weights = ctx.actions.declare_file(name + ".weights.ptd") if ctx.attr.weights == "external" else None
    _export(
        ctx,
        {
            "--program": program,
            "--samples": samples,
            "--report": report,
            "--report_json": report_json,
            "--passes_report": passes,
            "--passes_report_json": passes_json,
            "--origins": origins,
        } | ({"--weights": weights} if weights else {}),
        mnemonic = "EtExport",
        progress_message = "Exporting %{label}",
    )

    # The ETRecord has an action of its own, which runs on request only, since the record contains the weights twice.
    _export(
        ctx,
        {"--etrecord": etrecord},
        mnemonic = "EtRecord",
        progress_message = "Writing the ETRecord of %{label}",
    )

    # So do PyTorch's values of all nodes, up to 256 MiB.
    _export(
        ctx,
        {
            "--eager_nodes": eager_nodes,
            "--eager_values": eager_values,
            "--origins": eager_origins,
        },
        mnemonic = "EtEagerValues",
        progress_message = "Running the nodes of %{label} in PyTorch",
    )

    # The times differ from run to run, so an action of their own keeps the other outputs reproducible. The action runs in a
    # process of its own, so that the times include the imports, and without a cache, which would have the times of other machines.
    _export(
        ctx,
        {"--times": times},
        requirements = {"no-cache": "1"},
        mnemonic = "EtExportTimes",
        progress_message = "Timing the export of %{label}",
    )
    constants = [weights] if weights else []
    return [
        DefaultInfo(files = depset([program]), runfiles = ctx.runfiles([program, samples] + constants)),
        EtProgramInfo(
            delegation = report_json,
            eager_nodes = eager_nodes,
            eager_origins = eager_origins,
            eager_values = eager_values,
            origins = origins,
            program = program,
            samples = samples,
            weights = weights,
        ),
        OutputGroupInfo(
            delegation_report = depset([report, report_json]),
            etrecord = depset([etrecord]),
            graph_pass_report = depset([passes, passes_json]),
            origins = depset([origins]),
            samples = depset([samples]),
            times = depset([times]),
            weights = depset(constants),
        ),
    ]

executorch_program = rule(
    doc = """Exports a PyTorch model in a build action. The outputs are `<name>.pte` and `<name>.ptd`. A target may have the name of
its file: `model.pte` also writes `model.pte` and `model.ptd`.

`model` is a Python file whose entry point returns the module and its example inputs. export/README.md has the whole contract. The
.ptd has sample inputs with PyTorch's eager outputs, with which `executorch_program_test` compares the program's outputs.

The program can be lowered to backends, by `backends` and `quantize` or by functions of the model file. Operators that no
backend takes stay in the program, and `et_operator_library` selects them. Output groups:

- `delegation_report`: the operators of each delegate, the remaining operators, and the reasons, as text and as JSON.
- `graph_pass_report`: the changes of `graph_passes`, and the samples on which the export checked the program.
- `origins`: the line of Python behind each instruction.
- `etrecord`: the ETRecord, which ExecuTorch's Inspector reads together with a profile. Needs pandas in the lock or in `deps`.
- `times`: exports once more and writes `<name>.times.txt`, the seconds of each phase.
- `weights`: with `weights = "external"`, the constants.""",
    implementation = _executorch_program_impl,
    cfg = _host_platform,
    attrs = MODEL_FILE_ATTRS | {
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
        "alloc_graph_input": attr.bool(
            doc = "Whether memory is planned for the inputs, into which the runtime copies them, as ExecuTorch's `MemoryPlanningPass` " +
                  "has this option. With False, the program reads each input in the memory of the caller. Default: True.",
            default = True,
        ),
        "backends": attr.string_list(
            doc = "Recipes that lower the program to backends, in order. Each recipe lowers operators that the recipes before left. The only " +
                  "recipe is `xnnpack`; for other backends, define `get_partitioners()` in the model file. A binary must link the " +
                  "backend's library: `//runtime:backend_xnnpack`.",
        ),
        "graph_passes": attr.string_list(
            doc = "Graph passes that prepare the program for kernels, by name (export/README.md lists all passes). `default` has the " +
                  "passes after which the program needs only ExecuTorch's own operators. `all` also has the passes after which the program " +
                  "calls operators with kernels in `//kernels/optimized` only. A name after `-` removes a pass: " +
                  "`[\"all\", \"-views\"]`. With an empty list, no pass runs. Default: `[\"default\"]`.",
            default = ["default"],
        ),
        "qnn_op_packages": attr.label_list(
            doc = "For Qualcomm's backend: the libraries of the op packages in the model file's compile spec, for the exporting " +
                  "machine (`<name>.x86_64` of a `qnn_op_package`).",
            cfg = "exec",
            providers = [QnnOpPackageLibraryInfo],
        ),
        "qnn_sdk": attr.bool(
            doc = "Whether the model file lowers to Qualcomm's backend without op packages. The export then gets the SDK at " +
                  "QNN_SDK_ROOT, as with `qnn_op_packages`. Default: False.",
        ),
        "quantize": attr.string(
            doc = "A recipe that quantizes the model before the lowering: `xnnpack_int8`, or `xnnpack_int8_dynamic`, which computes the " +
                  "ranges of activations in each run. The calibration uses the model file's `get_calibration_inputs()` or the samples. " +
                  "For other quantizers, define `get_quantizer()` in the model file.",
        ),
        "weights": attr.string(
            doc = "Where the constants are. `embedded`: in the program. `external`: constants of 1,024 bytes or more are in " +
                  "`<name>.weights.ptd`, which [several programs can share](weights.md). Default: embedded.",
            default = "embedded",
            values = ["embedded", "external"],
        ),
        "_check_programs": build_setting("//rules:check_programs"),
        "_export": tool_dependency("//export"),
        "_qnn_sdk": attr.label(
            default = "@executorch_qnn//:sdk",
            providers = [QnnSdkInfo],
        ),
        "_strict_passes": build_setting("//rules:strict_graph_passes"),
    },
    provides = [EtProgramInfo],
)
