"""Rule torch_aoti_package."""

load("@rules_cc//cc:action_names.bzl", "CPP_COMPILE_ACTION_NAME", "CPP_LINK_DYNAMIC_LIBRARY_ACTION_NAME")
load("@rules_cc//cc:find_cc_toolchain.bzl", "use_cc_toolchain")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("//rules/private/actions:cc.bzl", "FEATURES_OF_COMPILATIONS", "configure_cc")
load("//rules/private/actions:implicit_attributes.bzl", "tool_dependency")
load("//rules/private/actions:model_file.bzl", "MODEL_FILE_ATTRS", "add_model_file", "model_file_inputs")
load("//rules/private/providers:torch_aoti_package_info.bzl", "TorchAotiPackageInfo")

visibility(["//rules/..."])

def _compiler(cc):
    """Returns the toolchain's C++ compiler for AOTInductor: the program, the flags and the environment."""
    compile_variables = cc_common.create_compile_variables(
        cc_toolchain = cc.toolchain,
        feature_configuration = cc.features,
        use_pic = True,
    )
    link_variables = cc_common.create_link_variables(
        cc_toolchain = cc.toolchain,
        feature_configuration = cc.features,
        is_linking_dynamic_library = True,
    )

    def flags(action, variables):
        return cc_common.get_memory_inefficient_command_line(
            action_name = action,
            feature_configuration = cc.features,
            variables = variables,
        )

    return struct(
        compile_flags = flags(CPP_COMPILE_ACTION_NAME, compile_variables),
        env = cc_common.get_environment_variables(
            action_name = CPP_COMPILE_ACTION_NAME,
            feature_configuration = cc.features,
            variables = compile_variables,
        ),
        link_flags = flags(CPP_LINK_DYNAMIC_LIBRARY_ACTION_NAME, link_variables),
        path = cc_common.get_tool_for_action(
            action_name = CPP_COMPILE_ACTION_NAME,
            feature_configuration = cc.features,
        ),
    )

def _torch_aoti_package_impl(ctx):
    package = ctx.actions.declare_file(ctx.label.name + ".pt2")
    samples = ctx.actions.declare_file(ctx.label.name + ".ptd")
    operators = ctx.actions.declare_file(ctx.label.name + ".operators.txt")

    # AOTInductor sets its own flags for optimization and warnings.
    cc = configure_cc(ctx, unsupported_features = FEATURES_OF_COMPILATIONS)
    compiler = _compiler(cc)
    args = ctx.actions.args()
    add_model_file(ctx, args)
    args.add("--package", package)
    args.add("--samples", samples)
    args.add("--operators", operators)
    args.add("--compiler", compiler.path)
    args.add_all(compiler.compile_flags, format_each = "--compile_flag=%s")
    args.add_all(compiler.link_flags, format_each = "--link_flag=%s")
    if ctx.attr.cpu == "native":
        args.add("--native")
    ctx.actions.run(
        executable = ctx.executable._aoti,
        arguments = [args],
        inputs = depset(model_file_inputs(ctx, ctx.attr._aoti), transitive = [cc.toolchain.all_files]),
        outputs = [package, samples, operators],
        env = compiler.env | {"PYTHONHASHSEED": "0"},
        mnemonic = "EtAotiCompile",
        progress_message = "Compiling %{label} with AOTInductor",
    )
    return [
        DefaultInfo(files = depset([package]), runfiles = ctx.runfiles([package, samples])),
        TorchAotiPackageInfo(operators = operators, package = package, samples = samples),
        OutputGroupInfo(operators = depset([operators]), samples = depset([samples])),
    ]

torch_aoti_package = rule(
    doc = """Compiles a PyTorch model with AOTInductor in a build action. The outputs are `<name>.pt2` and `<name>.ptd`.

`model` is a Python file as for `executorch_program`; export/README.md has the contract. C++ loads the package with
`torch::inductor::AOTIModelPackageLoader`, without Python, so the build fails if the model calls an operator that exists in
Python only. AOTInductor uses the compiler of the C++ toolchain. The .ptd has sample inputs with PyTorch's eager outputs.""",
    implementation = _torch_aoti_package_impl,
    attrs = MODEL_FILE_ATTRS | {
        "cpu": attr.string(
            doc = """The processor to compile for. `baseline`: any processor that the toolchain compiles for, without vector instructions
that AOTInductor chooses. The output is the same on all machines. `native`: the processor of the build machine, with its vector
instructions, which is PyTorch's default. Default: `baseline`.""",
            default = "baseline",
            values = ["baseline", "native"],
        ),
        "_aoti": tool_dependency("//export:aoti"),
    },
    fragments = ["cpp"],
    provides = [TorchAotiPackageInfo],
    toolchains = use_cc_toolchain(),
)
