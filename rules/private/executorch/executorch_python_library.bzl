"""Rule executorch_python_extension, the files of an executorch_python_library."""

load("@rules_cc//cc:find_cc_toolchain.bzl", "use_cc_toolchain")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//rules/private/actions:cc.bzl", "CC_LINK_EXEC_GROUPS", "compile_cc", "configure_cc", "default_link_flags", "link_cc", "shared_library")
load("//rules/private/actions:codegen.bzl", "CODEGEN_EXEC_GROUPS", "codegen_args", "run_codegen")
load("//rules/private/actions:dynamic_libraries.bzl", "dynamic_libraries")
load("//rules/private/actions:implicit_attributes.bzl", "cc_dependency", "source_file")
load("//rules/private/actions:label_text.bzl", "label_text")
load("//rules/private/providers:et_program_info.bzl", "program_of")
load("//rules/private/toolchains:find_runtime.bzl", "find_runtime", "use_runtime")
load("//rules/private/toolchains:runfiles_path.bzl", "runfiles_path")
load(":program_weights.bzl", "WEIGHTS_ATTRS", "weights_files")
load(":registrations.bzl", "check_registrations", "registrations_aspect")

visibility(["//rules/..."])

# ExecuTorch's libraries, whose names change: each Python library has a registry of kernels of its own.
_PRIVATE = "libexecutorch"

# Of the target with the files, whose name has this behind that of the library.
FILES_SUFFIX = ".files"

def _key(label):
    """Returns what stands for `executorch` in the names of libraries, and has the same length."""
    number = "%x" % (hash(label) & 0xffffffff)
    return "et" + "0" * (8 - len(number)) + number

def _link(ctx):
    """Links the shared library, with the names of ExecuTorch's libraries. Returns the library, and those that it needs."""
    cc = configure_cc(ctx)
    linking_contexts = [dep[CcInfo].linking_context for dep in [ctx.attr._library] + ctx.attr.deps]
    linked = link_cc(
        cc,
        # Some toolchains refuse to link nothing but archives.
        compile_cc(cc, srcs = [])[1],
        linking_contexts,
        output_type = "dynamic_library",
        # The copy of the library has the run path $ORIGIN only.
        user_link_flags = default_link_flags(cc) +
                          ["-Wl,--version-script=" + ctx.file._symbols.path, "-Wl,-rpath,$ORIGIN"] +
                          ctx.attr.linkopts,
        additional_inputs = [ctx.file._symbols],
    )
    return shared_library(linked), dynamic_libraries(linking_contexts)

def _executorch_python_extension_impl(ctx):
    info = program_of(ctx.attr.program)
    module = ctx.outputs.module.basename.removesuffix(".py")
    label = label_text(ctx.label).removesuffix(FILES_SUFFIX)
    key = _key(label)
    extension, needed = _link(ctx)
    folder = ctx.label.name.removesuffix(FILES_SUFFIX) + ".libs/"
    copies = {extension: ctx.actions.declare_file(folder + module + ".so")}
    for library in needed:
        name = library.basename
        if name.startswith(_PRIVATE):
            name = "lib" + key + name.removeprefix(_PRIVATE)
        copies[library] = ctx.actions.declare_file(folder + name)
    links = {folder + module + ".pte": info.program}
    weights = weights_files(ctx, info)
    for i, file in enumerate(weights):
        links["{}{}.{}.weights.ptd".format(folder, module, i)] = file
    for license in find_runtime(ctx).licenses.to_list() + [ctx.file._license]:
        links[folder + "licenses/" + runfiles_path(ctx.workspace_name, license)] = license
    linked = []
    for name, file in links.items():
        linked.append(ctx.actions.declare_file(name))
        ctx.actions.symlink(output = linked[-1], target_file = file)
    args = codegen_args(ctx, "python_library")
    args.add(label, format = "--label=%s")
    args.add(info.program, format = "--program=%s")
    args.add(label_text(ctx.attr.program.label), format = "--program_name=%s")
    args.add(ctx.file._base, format = "--base=%s")
    args.add(ctx.outputs.module, format = "--module=%s")
    args.add(ctx.outputs.stub, format = "--stub=%s")
    args.add(key, format = "--key=%s")
    args.add_all(copies.keys(), format_each = "--library=%s")
    args.add_all(copies.values(), format_each = "--copy=%s")
    run_codegen(
        ctx,
        args,
        inputs = [info.program, ctx.file._base] + copies.keys(),
        outputs = [ctx.outputs.module, ctx.outputs.stub] + copies.values(),
        mnemonic = "EtPythonLibrary",
        progress_message = "Writing the Python library %{label}",
    )
    report = check_registrations(ctx, ctx.attr.deps, info, ctx.attr.program.label, weights = weights)
    files = [ctx.outputs.stub] + linked + copies.values()
    return [
        DefaultInfo(
            files = depset(files),
            runfiles = ctx.runfiles(files + ctx.files.data).merge_all([
                dep[DefaultInfo].default_runfiles
                for dep in ctx.attr.data
            ]),
        ),
        OutputGroupInfo(_validation = depset([report]), operators = depset([report])),
    ]

executorch_python_extension = rule(
    doc = "The files of an executorch_python_library.",
    implementation = _executorch_python_extension_impl,
    attrs = WEIGHTS_ATTRS | {
        "data": attr.label_list(
            doc = "Runfiles of the library.",
            allow_files = True,
        ),
        "deps": attr.label_list(
            doc = "Libraries that register operators: `executorch_generated_lib`, or any C++ library. Backends, too.",
            aspects = [registrations_aspect],
            providers = [CcInfo],
        ),
        "linkopts": attr.string_list(doc = "Options for the linker."),
        "module": attr.output(
            doc = "The Python module. The macro gives it.",
            mandatory = True,
        ),
        "program": attr.label(
            doc = "The program: an `executorch_program` or a .pte file.",
            allow_single_file = [".pte"],
            mandatory = True,
        ),
        "stub": attr.output(
            doc = "The type stub of the module. The macro gives it.",
            mandatory = True,
        ),
        "_base": source_file("//runtime/python:program_module.py"),
        "_license": source_file("//:LICENSE"),
        "_library": cc_dependency("//runtime/python:library"),
        "_symbols": source_file("//runtime/python:symbols.ld"),
    },
    exec_groups = CODEGEN_EXEC_GROUPS | CC_LINK_EXEC_GROUPS,
    fragments = ["cpp", "platform"],
    toolchains = use_cc_toolchain() + use_runtime(),
)
