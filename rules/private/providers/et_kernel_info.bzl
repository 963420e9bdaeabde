"""Provider of kernels."""

load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")

visibility(["//rules/..."])

# The namespaces of operators that Python has from PyTorch, from ExecuTorch and from the export.
_DEFINED_NAMESPACES = ["aten", "dim_order_ops", "et_copy", "quantized_decomposed", "rules_executorch"]

def _init(
        *,
        sources,
        shared,
        for_instruction_sets,
        linking_context,
        lists_all_sources = False,
        declared_operators = depset(),
        yamls = depset()):
    depsets = {"declared_operators": declared_operators, "shared": shared, "sources": sources, "yamls": yamls}
    for name, value in depsets.items():
        if type(value) != "depset":
            fail("EtKernelInfo.{}: expected a depset, got a {}".format(name, type(value)))
    return depsets | {
        "for_instruction_sets": for_instruction_sets,
        "linking_context": linking_context,
        "lists_all_sources": lists_all_sources,
    }

EtKernelInfo, _new_et_kernel_info = provider(
    doc = "The sources of an `et_kernel_library` with their operators, the options to compile the sources again, and declared operators.",
    fields = {
        "declared_operators": "depset[File]: a JSON file for each library with declares_operators: schemas, kernels, places in C++.",
        "for_instruction_sets": "bool: whether a generated library compiles the sources again for each of //rules:instruction_sets.",
        "linking_context": """LinkingContext: the libraries to link if the selected sources are compiled again. Libraries that consist
of such sources only are left out.""",
        "lists_all_sources": "bool: whether `sources` has each source of the library itself, with all operators of the source.",
        "shared": "depset[struct(instruction_set: str, library: LibraryToLink)]: the shared sources, compiled for each wider instruction set.",
        "sources": """depset[struct(file: File, operators: tuple[str], compilation_context: CompilationContext, copts: tuple[str],
defines: tuple[str], unity_build: bool)]: e.g. op_add.cpp and ("aten::add.out", "aten::add.Scalar_out"), with the library's
headers, options and definitions. A source without operators is shared by operators. With unity_build, a translation unit may
include other such sources, too.""",
        "yamls": "depset[File]: the YAMLs that bind operators to the kernels.",
    },
    init = _init,
)

def linking_context_beside_selected(target):
    """Returns the linking context of a kernel library for a dependent that compiles the selected sources again.

    Args:
      target: Target with CcInfo.
    Returns:
      LinkingContext
    """
    return (target[EtKernelInfo] if EtKernelInfo in target else target[CcInfo]).linking_context

def has_custom_operators(target):
    """Returns whether a kernel library may have kernels of operators that only a library of the workspace defines in PyTorch.

    Args:
      target: Target with CcInfo.
    Returns:
      bool: False if the library lists its operators, and PyTorch or the export has all of the operators.
    """
    if EtKernelInfo not in target or not target[EtKernelInfo].lists_all_sources:
        return True
    return bool([
        operator
        for source in target[EtKernelInfo].sources.to_list()
        for operator in source.operators
        if operator.partition("::")[0] not in _DEFINED_NAMESPACES
    ])

def kernel_yamls(deps):
    """Returns the YAMLs of kernel libraries.

    Args:
      deps: list[Target].
    Returns:
      list[File]
    """
    return depset(transitive = [dep[EtKernelInfo].yamls for dep in deps if EtKernelInfo in dep]).to_list()

def declared_operators(deps):
    """Returns the files with the operators that kernel libraries declare in C++.

    Args:
      deps: list[Target].
    Returns:
      list[File]
    """
    return depset(transitive = [dep[EtKernelInfo].declared_operators for dep in deps if EtKernelInfo in dep]).to_list()
