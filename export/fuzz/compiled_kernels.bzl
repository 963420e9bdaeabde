"""Rule compiled_kernels."""

load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//rules:providers.bzl", "EtGeneratedLibInfo")

def _in_runfiles(ctx, path):
    """Returns the folder below all runfiles of a folder of the execution root."""
    path = path.removeprefix(ctx.bin_dir.path).removeprefix("/")
    if path.startswith("external/"):
        return path.removeprefix("external/")
    return ctx.workspace_name if path in ["", "."] else ctx.workspace_name + "/" + path

def _compiled_kernels_impl(ctx):
    library = ctx.attr.library[EtGeneratedLibInfo]
    info = cc_common.merge_cc_infos(cc_infos = [library.kernels] + [dep[CcInfo] for dep in ctx.attr.deps])
    context = info.compilation_context
    archives = [
        each.static_library or each.pic_static_library
        for linker_input in info.linking_context.linker_inputs.to_list()
        for each in linker_input.libraries
    ]
    folders = context.quote_includes.to_list() + context.includes.to_list() + context.system_includes.to_list()
    folder = "{}/{}".format(ctx.attr.library.label.package, ctx.attr.library.label.name)
    arguments = ctx.actions.declare_file(ctx.label.name + ".json")
    ctx.actions.write(arguments, json.encode_indent({
        "archives": [_in_runfiles(ctx, file.path) for file in archives],
        "defines": context.defines.to_list(),
        "includes": {_in_runfiles(ctx, folder): None for folder in folders}.keys(),
        "manifest": _in_runfiles(ctx, library.manifest.path),
        "native_functions": folder + "/NativeFunctions.h",
        "typed_kernels": folder + "/TypedKernels.h" if library.typed_kernels else None,
    }))
    return [DefaultInfo(
        files = depset([arguments]),
        runfiles = ctx.runfiles([arguments, library.manifest] + archives, transitive_files = context.headers),
    )]

compiled_kernels = rule(
    doc = """The kernels of a library for programs that are compiled outside of Bazel: a JSON file with the folders of headers, the
archives and the manifest, all of which are in the runfiles.""",
    implementation = _compiled_kernels_impl,
    attrs = {
        "deps": attr.label_list(
            doc = "Further libraries.",
            providers = [CcInfo],
        ),
        "library": attr.label(
            doc = "The library.",
            mandatory = True,
            providers = [EtGeneratedLibInfo],
        ),
    },
)
