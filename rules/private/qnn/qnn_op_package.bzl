"""Rules qnn_op_package and qnn_op_package_skeleton."""

load("@rules_python//python:py_info.bzl", "PyInfo")
load("//rules/private/actions:implicit_attributes.bzl", "tool_dependency")
load("//rules/private/actions:label_text.bzl", "label_text")
load("//rules/private/actions:qnn_environment.bzl", "NO_QNN_SDK")
load("//rules/private/actions:tool_launcher.bzl", "tool_launcher")
load("//rules/private/providers:qnn_op_package_info.bzl", "QnnOpPackageInfo")
load("//rules/private/toolchains:import_paths.bzl", "import_paths")

visibility(["//rules/..."])

_CONFIG = attr.label_list(
    doc = "The XML files of the package. Several files define one package together.",
    allow_files = [".xml"],
    mandatory = True,
)
_BACKEND = attr.string(
    doc = "The backend of the sources: HTP or CPU. Default: HTP.",
    default = "HTP",
    values = ["CPU", "HTP"],
)

def _pairs(values):
    return ["{}={}".format(op, value) for op, value in values.items()]

def _module_name(file):
    """Returns the name of a source's Python module."""
    path = file.short_path
    if path.startswith("../"):
        path = path.removeprefix("../").partition("/")[2]
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

def _read(ctx):
    """Declares the action that reads the XML and writes the JSON, the generated interface and the registration."""
    definitions = ctx.actions.declare_file(ctx.label.name + ".op_defs.json")
    interface = ctx.actions.declare_file(ctx.label.name + ".interface.cpp")
    registration = ctx.actions.declare_file(ctx.label.name + ".op_packages.json")
    args = ctx.actions.args()
    args.add_all(ctx.files.config, format_each = "--xml=%s")
    args.add(label_text(ctx.label), format = "--label=%s")
    args.add(ctx.attr.backend, format = "--backend=%s")
    for ops in ctx.attr.op_srcs.values():
        args.add_all(ops.split(","), format_each = "--op_src=%s")
    args.add_all(_pairs(ctx.attr.torch_ops), format_each = "--torch_op=%s")
    args.add(ctx.attr.device_dir, format = "--device_dir=%s")
    args.add(definitions, format = "--json=%s")
    args.add(interface, format = "--interface=%s")
    args.add(registration, format = "--registration=%s")
    outputs = [definitions, interface, registration]
    if ctx.outputs.module:
        args.add(ctx.outputs.module, format = "--module=%s")
        outputs.append(ctx.outputs.module)
    ctx.actions.run(
        executable = ctx.executable._read,
        arguments = [args],
        inputs = ctx.files.config,
        outputs = outputs,
        env = {"PYTHONHASHSEED": "0"},
        mnemonic = "EtQnnRead",
        progress_message = "Reading the op package %{label}",
    )
    return definitions, interface, registration

def _check(ctx):
    """Declares the validation action that compares the ops with the operators that they compute."""
    report = ctx.actions.declare_file(ctx.label.name + ".schema_check.txt")
    modules = depset(transitive = [dep[DefaultInfo].files for dep in ctx.attr.deps])
    args = ctx.actions.args()
    args.add_all(ctx.files.config, format_each = "--xml=%s")
    args.add(label_text(ctx.label), format = "--label=%s")
    args.add(ctx.attr.backend, format = "--backend=%s")
    args.add_all(_pairs(ctx.attr.torch_ops), format_each = "--torch_op=%s")
    args.add_all(
        [_module_name(file) for file in modules.to_list() if file.extension == "py"],
        format_each = "--module=%s",
    )
    args.add_all(import_paths(ctx, ctx.attr.deps), format_each = "--import_path=%s")
    args.add(report, format = "--report=%s")
    brought = {file: None for file in ctx.attr._check[DefaultInfo].default_runfiles.files.to_list()}
    needed = depset(transitive = [dep[PyInfo].transitive_sources for dep in ctx.attr.deps] +
                                 [dep[DefaultInfo].default_runfiles.files for dep in ctx.attr.deps])
    ctx.actions.run(
        executable = ctx.executable._check,
        arguments = [args],
        inputs = ctx.files.config + [file for file in needed.to_list() if file not in brought],
        outputs = [report],
        env = NO_QNN_SDK | {"PYTHONHASHSEED": "0"},
        mnemonic = "EtQnnCheck",
        progress_message = "Comparing the op package %{label} with PyTorch's operators",
    )
    return report

def _qnn_op_package_impl(ctx):
    definitions, generated, registration = _read(ctx)
    report = _check(ctx)
    interface = ctx.file.interface or generated
    return [
        DefaultInfo(files = depset([definitions, interface, registration])),
        QnnOpPackageInfo(
            definitions = definitions,
            interface = interface,
            op_srcs = depset(ctx.files.op_srcs),
            registration = registration,
        ),
        OutputGroupInfo(
            _validation = depset([report]),
            interface = depset([interface]),
            json = depset([definitions]),
            registration = depset([registration]),
            schema_check = depset([report]),
        ),
    ]

qnn_op_package = rule(
    doc = "An op package for Qualcomm's AI Engine Direct backend. The XML's definitions are checked against PyTorch's operators.",
    implementation = _qnn_op_package_impl,
    attrs = {
        "backend": _BACKEND,
        "config": _CONFIG,
        "deps": attr.label_list(
            doc = """Python libraries whose modules register the operators of `torch_ops` at import. For a `torch_op_library`, use its
`<name>_py`. PyTorch's own operators need no library.""",
            providers = [PyInfo],
        ),
        "device_dir": attr.string(
            doc = "The folder on the device for the libraries. Default: /data/local/tmp/executorch.",
            default = "/data/local/tmp/executorch",
        ),
        "interface": attr.label(
            doc = "The source of the interface. Default: a generated source.",
            allow_single_file = [".cpp", ".cc"],
        ),
        "module": attr.output(
            doc = "The Python module that registers the package with ExecuTorch, if any. The macro gives it.",
        ),
        "op_srcs": attr.label_keyed_string_dict(
            doc = "The ops that each source defines, separated by commas.",
            allow_files = [".cpp", ".cc"],
        ),
        "torch_ops": attr.string_dict(
            doc = "For each op, the operator of PyTorch that the op computes, as namespace::name or namespace::name.overload.",
            mandatory = True,
        ),
        "_check": tool_dependency("//qnn:check"),
        "_read": tool_dependency("//qnn:read"),
    },
    provides = [QnnOpPackageInfo],
)

def _qnn_op_package_skeleton_impl(ctx):
    arguments = [
        "--label=" + label_text(ctx.label),
        "--backend=" + ctx.attr.backend,
        "--folder=" + ctx.label.package,
    ]
    arguments += ["--xml=" + file.short_path for file in ctx.files.config]
    arguments += ["--op_src=" + pair for pair in _pairs(ctx.attr.op_srcs)]
    launcher = tool_launcher(ctx, arguments)
    return [DefaultInfo(
        executable = launcher,
        files = depset([launcher]),
        runfiles = ctx.runfiles(ctx.files.config).merge(ctx.attr._tool[DefaultInfo].default_runfiles),
    )]

qnn_op_package_skeleton = rule(
    doc = "Writes the sources of an op package into the source tree. Overwrites files only with `--overwrite`.",
    implementation = _qnn_op_package_skeleton_impl,
    attrs = {
        "backend": _BACKEND,
        "config": _CONFIG,
        "op_srcs": attr.string_dict(doc = "The file of each op, below the package. Default: <op>.cpp."),
        "_tool": tool_dependency("//qnn:write_skeleton", cfg = "target"),
    },
    executable = True,
)
