"""executorch_generated_lib: registers exactly the selected operators."""

load("//rules/private/actions:common_attributes.bzl", "common_attributes", "on_request")
load("//rules/private/executorch:executorch_generated_headers.bzl", "executorch_generated_headers")
load("//rules/private/executorch:executorch_generated_lib.bzl", _executorch_generated_lib = "executorch_generated_lib")
load("//rules/private/executorch:executorch_selected_prim_ops.bzl", "executorch_selected_prim_ops")
load(":executorch_custom_ops_aot_lib.bzl", "executorch_custom_ops_aot_lib")

# The dependency of a library with PyTorch's own kernels. A library without these kernels must not name the label, since Bazel
# would install PyTorch for the library.
_ATEN_BRIDGE = Label("//runtime/aten:bridge")

def executorch_generated_lib(
        name,
        deps = [],
        aten_mode = False,
        fallback = None,
        custom_ops_requires_aot_registration = None,
        custom_ops_aten_kernel_deps = [],
        custom_ops_functional_variants = True,
        include_all_prim_ops = True,
        **kwargs):
    """A C++ library that registers the selected operators, as `<name>`, and its headers, as `<name>_headers`.

    A binary that depends on the library registers the kernels at start, unless `manual_registration`. `<name>_headers` has
    `NativeFunctions.h` (the kernels' declarations) and `Functions.h` (typed wrappers, such as
    `torch::executor::aten::add_outf(context, self, other, alpha, out)`) without the registration. For a tensor of more than 16
    dimensions, which kernels do not support, a typed wrapper fails as the registered kernel does. In a program that links
    `<name>`, a typed wrapper calls the kernel for the processor's instruction set. In a program that links the kernels only, or
    if a program calls a kernel by its declaration, the kernel for the narrowest of the compiled instruction sets runs.

    Args:
      name: name of the library.
      deps: selections (`et_operator_library`; several are united), kernel libraries as in kernel_deps, and other generated
        libraries, which register their own operators.
      aten_mode: whether PyTorch's operators run with PyTorch's own kernels, from the torch wheel, and custom operators with kernels
        that take `at::Tensor`. Such a library has no functions_yaml_target.
      fallback: with "aten", operators without a YAML entry run with PyTorch's own kernels.
      custom_ops_requires_aot_registration: whether to define `custom_ops_<name>`, a shared library that defines the selected
        custom operators in PyTorch with the same kernels, and `custom_ops_<name>_py`, a py_library that loads the shared library.
        The custom operators are those of the YAML, and those that kernel libraries declare in C++. A selection of models counts
        as all operators here, since a model may need the library for its export. Kernel libraries whose `operators` lists have
        PyTorch's and the export's operators only, such as `//kernels/optimized:operators`, are not linked if there are others.
        Bazel builds the two targets, and installs PyTorch, only if a target needs them. Default: True with a
        custom_ops_yaml_target, False without.
      custom_ops_aten_kernel_deps: libraries that define the YAML's kernels with `at::Tensor`, for PyTorch. Default: PyTorch calls
        the kernels of kernel_deps.
      custom_ops_functional_variants: whether `custom_ops_<name>` also defines the functional variant of each out variant:
        `my_ops::mul4` for `my_ops::mul4.out`. With False, other code has to define `my_ops::mul4`.
      include_all_prim_ops: whether the runtime keeps all of its own operators. With False, `<name>_combined_prim_ops_header` is a
        library of `selected_prim_ops.h`, which lists the selected operators of the runtime. A runtime that is built from source
        keeps only these operators if its register_prim_ops.cpp is compiled with that library in deps.
      **kwargs: functions_yaml_target, custom_ops_yaml_target, fallback_yaml_target, kernel_deps, manual_registration,
        support_exceptions, dtype_selective_build, custom_ops_requires_runtime_registration, copts and the common attributes.
    """
    common = common_attributes(kwargs)
    _executorch_generated_lib(
        name = name,
        aten_bridge = _ATEN_BRIDGE if aten_mode or fallback else None,
        aten_mode = aten_mode,
        deps = deps,
        fallback = fallback,
        **kwargs
    )
    executorch_generated_headers(
        name = name + "_headers",
        library = ":" + name,
        **common
    )
    if custom_ops_requires_aot_registration == None:
        custom_ops_requires_aot_registration = kwargs.get("custom_ops_yaml_target") != None
    if custom_ops_requires_aot_registration:
        executorch_custom_ops_aot_lib(
            name = "custom_ops_" + name,
            aten_mode = aten_mode,
            copts = kwargs.get("copts", []),
            custom_ops_aten_kernel_deps = custom_ops_aten_kernel_deps,
            custom_ops_functional_variants = custom_ops_functional_variants,
            custom_ops_yaml_target = kwargs.get("custom_ops_yaml_target"),
            kernel_deps = kwargs.get("kernel_deps", []),
            library_deps = deps,
            **on_request(common)
        )
    if not include_all_prim_ops:
        executorch_selected_prim_ops(
            name = name + "_combined_prim_ops_header",
            deps = deps,
            **common
        )
