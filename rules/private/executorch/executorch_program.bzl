"""Rule executorch_program."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")
load("//rules/private/actions:model_file.bzl", "MODEL_FILE_ATTRS", "add_model_file", "model_file_inputs")
load("//rules/private/actions:param_file.bzl", "one_line_each", "param_file_args")
load("//rules/private/actions:qnn_environment.bzl", "qnn_environment")
load("//rules/private/providers:et_program_info.bzl", "EtProgramInfo")
load("//rules/private/providers:qnn_op_package_library_info.bzl", "QnnOpPackageLibraryInfo")
load("//rules/private/toolchains:qnn_platform.bzl", "QnnSdkInfo")

visibility(["//rules/..."])

# A program is the same on all platforms: a build for several exports it once, and the operators that the model's code calls
# run on the machine that exports. Without platforms, a build is for the host platform: where a command line names none, the
# program shares what its code needs with all that is not a program.
_host_platform = transition(
    implementation = lambda _settings, _attr: {"//command_line_option:platforms": []},
    inputs = [],
    outputs = ["//command_line_option:platforms"],
)

# One worker serves all exports, several at a time. It has no runfiles in a multiplex sandbox, and links each export's inputs
# into a folder itself (export/worker.py).
_WORKER = {
    "requires-worker-protocol": "json",
    "supports-multiplex-workers": "1",
    "supports-worker-cancellation": "1",
    "supports-workers": "1",
    "worker-key-mnemonic": "EtExport",
}

def _export(ctx, outputs, requirements = _WORKER, **kwargs):
    """Runs the export, with a flag for each file that comes out."""
    args = param_file_args(ctx)
    add_model_file(ctx, args)
    for flag, file in outputs.items():
        args.add(file, format = flag + "=%s")
    args.add_all(one_line_each(ctx, "backends"), format_each = "--backend=%s")
    args.add_all(one_line_each(ctx, "graph_passes") or [""], format_each = "--graph_passes=%s")
    if ctx.attr._strict_passes[BuildSettingInfo].value:
        args.add("--strict_passes")
    if ctx.attr.quantize:
        args.add(one_line_each(ctx, "quantize"), format = "--quantize=%s")
    op_packages = [package[QnnOpPackageLibraryInfo].folder for package in ctx.attr.qnn_op_packages]

    # Other programs stay the same action wherever the SDK lies.
    needs_qnn = ctx.attr.qnn_sdk or op_packages
    qnn_sdk = ctx.attr._qnn_sdk[QnnSdkInfo].root if needs_qnn else ""
    ctx.actions.run(
        executable = ctx.executable._export,
        arguments = [args],
        inputs = model_file_inputs(ctx, ctx.attr._export) + op_packages,
        outputs = outputs.values(),
        # A worker has one environment: each set of op packages would have a worker of its own.
        execution_requirements = {} if needs_qnn and requirements == _WORKER else requirements,
        env = qnn_environment(qnn_sdk, [folder.path for folder in op_packages]) | {"PYTHONHASHSEED": "0"},
        **kwargs
    )

def _executorch_program_impl(ctx):
    name = ctx.label.name.removesuffix(".pte")
    program, samples, report, report_json, passes, passes_json, origins, etrecord, times = [
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
            ".times.txt",
        ]
    ]
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
        },
        mnemonic = "EtExport",
        progress_message = "Exporting %{label}",
    )

    # An action of its own, for those who ask: the record holds the weights twice.
    _export(
        ctx,
        {"--etrecord": etrecord},
        mnemonic = "EtRecord",
        progress_message = "Writing the ETRecord of %{label}",
    )

    # An export of its own, as no two exports take the same times: the other files stay reproducible. A process of its own, so that
    # the times have the imports. What other machines share in a cache would be their times.
    _export(
        ctx,
        {"--times": times},
        requirements = {"no-cache": "1"},
        mnemonic = "EtExportTimes",
        progress_message = "Timing the export of %{label}",
    )
    files = depset([program, samples])
    return [
        DefaultInfo(files = depset([program]), runfiles = ctx.runfiles(transitive_files = files)),
        EtProgramInfo(
            delegation = report_json,
            origins = origins,
            program = program,
            samples = samples,
        ),
        OutputGroupInfo(
            delegation_report = depset([report, report_json]),
            etrecord = depset([etrecord]),
            graph_pass_report = depset([passes, passes_json]),
            origins = depset([origins]),
            samples = depset([samples]),
            times = depset([times]),
        ),
    ]

executorch_program = rule(
    doc = """Exports a PyTorch model in a build action: `<name>.pte`, with `<name>.ptd` beside it. A target may have the name of its
file: `model.pte`, too, writes `model.pte` and `model.ptd`.

`model` is a Python file whose entry point returns the module and its example inputs; export/README.md has the whole
contract. The .ptd holds sample inputs with PyTorch's eager outputs, against which `executorch_program_test` judges.

The program can be lowered to backends, by `backends` and `quantize` or by functions of the model file. Operators that no
backend takes stay in the program, and `et_operator_library` selects them. The output group `delegation_report` says what
went to which backend, what stayed and why, as text and as JSON; `graph_pass_report` what `graph_passes` did; `origins` which
line of Python each instruction comes from; `etrecord` is what ExecuTorch's Inspector takes beside a profile, and needs pandas in
the lock or in `deps`; `times` exports once more and writes `<name>.times.txt`, the seconds of each phase.""",
    implementation = _executorch_program_impl,
    cfg = _host_platform,
    attrs = MODEL_FILE_ATTRS | {
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
        "backends": attr.string_list(
            doc = "Recipes that lower the program to backends, in order: each takes what those before it left. There is " +
                  "`xnnpack`; `get_partitioners()` in the model file is for any other. A binary links the backend's library: " +
                  "`//runtime:backend_xnnpack`.",
        ),
        "graph_passes": attr.string_list(
            doc = "Passes that prepare the program for kernels, each by its name (export/README.md has all of them), or `default`: " +
                  "those after which the program needs no operators but ExecuTorch's own; or `all`: also those after which " +
                  "the program calls operators that only `//kernels/optimized` has kernels of. A name after `-` leaves a pass out: " +
                  "`[\"all\", \"-views\"]`. With an empty list, the program is as ExecuTorch lowers it. Default: `[\"default\"]`.",
            default = ["default"],
        ),
        "qnn_op_packages": attr.label_list(
            doc = "For Qualcomm's backend: the libraries for the machine that lowers (`<name>.x86_64` of a `qnn_op_package`) of " +
                  "the op packages in the model file's compile spec.",
            cfg = "exec",
            providers = [QnnOpPackageLibraryInfo],
        ),
        "qnn_sdk": attr.bool(
            doc = "Whether the model file lowers to Qualcomm's backend without op packages: the export then gets the SDK that " +
                  "QNN_SDK_ROOT names, as it does with `qnn_op_packages`. Default: False.",
        ),
        "quantize": attr.string(
            doc = "A recipe that quantizes the model before, calibrated with the model file's `get_calibration_inputs()` or the " +
                  "samples: `xnnpack_int8`, or `xnnpack_int8_dynamic`, which takes the ranges of activations anew in every run. " +
                  "`get_quantizer()` in the model file is for any other.",
        ),
        "_export": attr.label(
            default = "//export",
            executable = True,
            cfg = "exec",
        ),
        "_qnn_sdk": attr.label(
            default = "@executorch_qnn//:sdk",
            providers = [QnnSdkInfo],
        ),
        "_strict_passes": attr.label(
            default = "//rules:strict_graph_passes",
            providers = [BuildSettingInfo],
        ),
    },
    provides = [EtProgramInfo],
)
