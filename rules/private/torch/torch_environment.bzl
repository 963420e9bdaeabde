"""Rule torch_environment: the compiler and linker settings of torch_op_library, as a file."""

load("@rules_cc//cc:action_names.bzl", "CPP_COMPILE_ACTION_NAME", "CPP_LINK_DYNAMIC_LIBRARY_ACTION_NAME")
load("@rules_cc//cc:find_cc_toolchain.bzl", "use_cc_toolchain")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("//rules/private/actions:cc.bzl", "FEATURES_OF_COMPILATIONS", "configure_cc")
load("//rules/private/toolchains:cuda_toolkit.bzl", "CudaToolkitInfo")
load("//rules/private/toolchains:toolchain_types.bzl", "TORCH_TOOLCHAIN_TYPE")

visibility(["//torch_ops/..."])

def _torch_environment_impl(ctx):
    torch = ctx.toolchains[TORCH_TOOLCHAIN_TYPE]
    cc = configure_cc(ctx, unsupported_features = FEATURES_OF_COMPILATIONS)
    context = torch.torch_headers.compilation_context
    libraries = [
        library.dynamic_library or library.interface_library or library.static_library
        for linker_input in torch.libtorch.linking_context.linker_inputs.to_list()
        for library in linker_input.libraries
    ]
    compile_variables = cc_common.create_compile_variables(
        feature_configuration = cc.features,
        cc_toolchain = cc.toolchain,
        user_compile_flags = ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts + ["-std=" + torch.cxx_standard],
        use_pic = True,
    )
    link_variables = cc_common.create_link_variables(
        feature_configuration = cc.features,
        cc_toolchain = cc.toolchain,
        user_link_flags = ctx.fragments.cpp.linkopts,
        is_linking_dynamic_library = True,
        is_using_linker = True,
    )
    content = ctx.actions.declare_file(ctx.label.name + ".json")
    ctx.actions.write(content, json.encode_indent({
        "compiler": cc.toolchain.compiler_executable,
        "compile_flags": cc_common.get_memory_inefficient_command_line(
            feature_configuration = cc.features,
            action_name = CPP_COMPILE_ACTION_NAME,
            variables = compile_variables,
        ),
        "compilation_mode": ctx.var["COMPILATION_MODE"],
        "cpu": cc.toolchain.cpu,
        "cuda": ctx.attr._cuda[CudaToolkitInfo].home,
        "cxx_standard": torch.cxx_standard,
        "defines": context.defines.to_list(),
        "includes": depset(transitive = [context.includes, context.system_includes, context.external_includes]).to_list(),
        "libraries": [library.short_path for library in libraries],
        "link_flags": cc_common.get_memory_inefficient_command_line(
            feature_configuration = cc.features,
            action_name = CPP_LINK_DYNAMIC_LIBRARY_ACTION_NAME,
            variables = link_variables,
        ),
        "version": torch.version,
    }) + "\n")
    return [DefaultInfo(files = depset([content]), runfiles = ctx.runfiles([content] + libraries))]

torch_environment = rule(
    doc = "The compiler and linker settings of a `torch_op_library`, as JSON.",
    implementation = _torch_environment_impl,
    attrs = {
        "_cuda": attr.label(
            default = "@executorch_cuda//:toolkit",
            providers = [CudaToolkitInfo],
        ),
    },
    fragments = ["cpp"],
    toolchains = use_cc_toolchain() + [TORCH_TOOLCHAIN_TYPE],
)
