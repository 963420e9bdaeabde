"""The check that libraries define the kernels which operators are bound to."""

load(":cc.bzl", "group_cc_toolchain")
load(":codegen.bzl", "codegen_args", "run_codegen")
load(":label_text.bzl", "label_text")

visibility(["//rules/..."])

def _symbol_files(library, pic):
    """Files to read a library's symbols from: only those that will be linked, so that no others are compiled."""
    objects, archive = library.objects, library.static_library
    pic_objects, pic_archive = library.pic_objects, library.pic_static_library
    if pic:
        objects, archive, pic_objects, pic_archive = pic_objects, pic_archive, objects, archive
    return objects or pic_objects or [f for f in [
        archive or pic_archive or library.dynamic_library or library.interface_library,
    ] if f]

def bind_kernels(ctx, manifest, kernels, attribute, selected = None, besides = None, left_out = [], pic = False):
    """Checks that the libraries define every kernel, and adapts those that take no context.

    Args:
      ctx: of a rule with SYMBOLS_EXEC_GROUPS.
      manifest: File, the registered.json of the operators.
      kernels: list[CcInfo], the libraries.
      attribute: str, the rule's attribute that names them, for messages.
      selected: CcCompilationOutputs, kernels that were compiled once more.
      besides: CcInfo, of libraries that they depend on and that have no kernels.
      left_out: list[Target], libraries of the attribute that are not linked, for messages.
      pic: bool, whether position-independent code is linked, as in a shared library.
    Returns:
      File: the source of the adapters.
    """
    cc_toolchain = group_cc_toolchain(ctx, "symbols")
    adapters = ctx.actions.declare_file(ctx.label.name + "/KernelAdapters.cpp")
    linker_inputs = depset(transitive = [info.linking_context.linker_inputs for info in kernels])
    not_kernels = {each: None for each in besides.linking_context.linker_inputs.to_list()} if besides else {}
    libraries = [
        file
        for linker_input in linker_inputs.to_list()
        if linker_input not in not_kernels
        for library in linker_input.libraries
        for file in _symbol_files(library, pic)
    ]
    if selected:
        libraries += selected.objects or selected.pic_objects
    args = codegen_args(ctx, "bind")
    args.add(manifest, format = "--manifest=%s")
    args.add(cc_toolchain.nm_executable, format = "--nm=%s")
    args.add(adapters, format = "--output=%s")
    args.add(attribute, format = "--attribute=%s")
    args.add_all(libraries, format_each = "--library=%s")
    args.add_all([label_text(target.label) for target in left_out], format_each = "--left_out=%s")
    run_codegen(
        ctx,
        args,
        exec_group = "symbols",
        inputs = depset([manifest] + libraries, transitive = [cc_toolchain.all_files]),
        outputs = [adapters],
        mnemonic = "EtBindKernels",
        progress_message = "Binding operators to kernels for %{label}",
    )
    return adapters
