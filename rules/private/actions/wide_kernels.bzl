"""Kernels compiled once more for one generated library, for each of several instruction sets."""

load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("//rules/private/providers:et_kernel_info.bzl", "EtKernelInfo")
load(":cc.bzl", "archive_cc", "compile_cc")
load(":isolate_kernels.bzl", "isolate_kernels", "isolation_flags")
load(":selective_kernels.bzl", "compile_selected", "select_kernels")

visibility(["//rules/..."])

def set_namespace(instruction_set):
    """The C++ namespace of the addresses of the kernels for an instruction set, as ChosenKernels.cpp names it."""
    return "kernels_" + instruction_set

def compile_shared(cc, sets, srcs, user_compile_flags, **kwargs):
    """Compiles what kernels share, for each of the wider instruction sets.

    Args:
      cc: what configure_cc returned.
      sets: what instruction_sets returned.
      srcs: list[File].
      user_compile_flags: list[str].
      **kwargs: for cc_common.compile.
    Returns:
      list[struct(instruction_set: str, library: LibraryToLink)]
    """
    shared = []
    for name, flags in sets.wide.items() if srcs else []:
        library_name = "{}_{}".format(cc.ctx.label.name, name)
        _, objects = compile_cc(cc, name = library_name, srcs = srcs, user_compile_flags = user_compile_flags + flags + isolation_flags(cc), **kwargs)
        _, library = archive_cc(cc, objects, name = library_name)
        shared.append(struct(instruction_set = name, library = library))
    return shared

def _archives(shared, instruction_set, pic):
    libraries = [each.library for each in shared if each.instruction_set == instruction_set]
    if pic:
        return [library.pic_static_library or library.static_library for library in libraries]
    return [library.static_library or library.pic_static_library for library in libraries]

def compile_wide_kernels(cc, sets, kernels, manifest, selections, by_dtype, addresses, adapters):
    """Compiles the selected kernels of libraries that ask for it, for each of the wider instruction sets.

    Each becomes one object file with the addresses of its kernels, and with nothing else that others can link with.

    Args:
      cc: what configure_cc returned, of a rule with the attribute _selective_build.
      sets: what instruction_sets returned.
      kernels: list[Target], the libraries.
      manifest: File, what `codegen generate` registers.
      selections: list[File].
      by_dtype: bool, whether the kernels have the selected dtypes only.
      addresses: dict[str, CcCompilationOutputs], the objects of KernelsOfSet.cpp by instruction set.
      adapters: CcCompilationOutputs, what the addresses are of in place of some kernels.
    Returns:
      CcCompilationOutputs
    """
    selected = select_kernels(cc.ctx, kernels, manifest, selections, by_dtype, directory = "wide_kernels")
    shared = depset(transitive = [target[EtKernelInfo].shared for target in kernels]).to_list()
    isolated = {False: [], True: []}
    for name, flags in sets.wide.items():
        parts = [
            compile_selected(cc, selected, "{}_{}".format(cc.ctx.label.name, name), flags + isolation_flags(cc)),
            addresses[name],
            adapters,
        ]
        for pic in isolated:
            objects = [file for part in parts for file in (part.pic_objects if pic else part.objects)]
            if objects:
                isolated[pic].append(isolate_kernels(
                    cc,
                    name = name + (".pic" if pic else ""),
                    objects = objects,
                    archives = _archives(shared, name, pic),
                    symbols = "_ZN*{}{}*E".format(len(set_namespace(name)), set_namespace(name)),
                ))
    return cc_common.create_compilation_outputs(
        objects = depset(isolated[False]),
        pic_objects = depset(isolated[True]),
    )
