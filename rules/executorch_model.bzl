"""executorch_model: all targets of one model, from its Python file to a runner and a test."""

load("//rules/private/actions:common_attributes.bzl", "on_request")
load("//rules/private/executorch:et_memory_report.bzl", "et_memory_report")
load("//rules/private/executorch:et_size_report.bzl", "et_size_report")
load("//rules/private/executorch:executorch_compiled_program.bzl", "executorch_compiled_program")
load("//rules/private/executorch:executorch_program.bzl", "executorch_program")
load("//rules/private/executorch:library_conflict.bzl", "library_conflict")
load(":et_operator_library.bzl", "et_operator_library")
load(":executorch_binary.bzl", "executorch_binary")
load(":executorch_compiled_program_test.bzl", "executorch_compiled_program_test")
load(":executorch_generated_lib.bzl", "executorch_generated_lib")
load(":executorch_program_test.bzl", "executorch_program_test")

# The kernel libraries for all operators of programs, except custom operators of the model. The libraries include their YAMLs.
_KERNELS = [
    Label("//kernels/optimized:operators"),
    Label("//kernels/quantized:operators"),
]

# The backend library that a binary links for a recipe of executorch_program.
_BACKENDS = {"xnnpack": Label("//runtime:backend_xnnpack")}

# The default of min_snr for quantized programs, whose outputs may have single elements with large errors.
_QUANTIZED_SNR = "20"

def executorch_model(
        name,
        model,
        deps = [],
        data = [],
        entry_point = None,
        graph_passes = ["all"],
        alloc_graph_input = True,
        backends = [],
        quantize = None,
        qnn_op_packages = [],
        qnn_sdk = False,
        weights = None,
        kernel_deps = [],
        custom_ops_yaml_target = None,
        functions_yaml_target = None,
        models = [],
        dtype_selective_build = True,
        library = None,
        cc_deps = [],
        linkopts = [],
        atol = None,
        rtol = None,
        min_snr = None,
        methods = [],
        compiled = False,
        size = "medium",
        env = {},
        visibility = None,
        testonly = None,
        tags = [],
        compatible_with = None,
        target_compatible_with = None,
        old_names = {}):
    """All targets of a model, from its Python file to a runner.

    The defaults are fast: all graph passes, optimized kernels, and only the selected dtypes.

    Each target comes from another rule ([the same targets, written out](model.md)):

    - `<name>`, an `executorch_binary`: `bazel run :<name> -- --check` compares the model's outputs with PyTorch's.
    - `<name>.pte`, an `executorch_program`: the file `<name>.pte`.
    - `<name>_lib`, an `executorch_generated_lib` with the kernels that the program calls: those of
      `kernel_deps`, `//kernels/optimized:operators` and `//kernels/quantized:operators`. A binary of your own links `<name>_lib`.
    - `<name>_operators`, an `et_operator_library`: the program's operators.
    - `<name>_test`, an `executorch_program_test`.
    - With `compiled`: `<name>_compiled`, an [`executorch_compiled_program`](compiled_programs.md), and `<name>_compiled_test`.
    - `<name>_size`, an `et_size_report`; `<name>_memory`, an `et_memory_report`; `<name>_profile`, which
      [profiles](profiles.md) the program; and `<name>_numbers`, which shows [where the numbers go wrong](numbers.md). Bazel builds
      these four targets only on request.

    Args:
      name: name of the runner.
      model: the [Python file](../export/README.md) with the model.
      deps: Python libraries that the model's code imports, besides torch and executorch.
      data: files that the model's code reads, e.g. a checkpoint, as in `executorch_program`.
      entry_point: function in the model file that returns the module and its example inputs. Default: `get_model`.
      graph_passes: as in `executorch_program`. Default: `["all"]`.
      alloc_graph_input: as in `executorch_program`. Default: True.
      backends: as in `executorch_program`. The runner and the test link the library of each backend.
      quantize: as in `executorch_program`.
      qnn_op_packages: as in `executorch_program`.
      qnn_sdk: as in `executorch_program`.
      weights: as in `executorch_program`: `embedded`, or `external` for a file `<name>.weights.ptd`. Default: embedded.
      kernel_deps: libraries that define kernels of your own: `et_kernel_library`, or any `cc_library`.
      custom_ops_yaml_target: YAML that binds custom operators to the kernels of `kernel_deps`. Not needed for operators of an
        `et_kernel_library` with `yamls` or `declares_operators`. With this YAML, there is also `custom_ops_<name>_lib_py`, a
        py_library that defines the operators in PyTorch with the same kernels. `deps` may have this library.
      functions_yaml_target: YAML that binds operators of PyTorch to the kernels of `kernel_deps`, in place of the kernels of
        `//kernels/optimized`.
      models: other programs whose operators `<name>_lib` also has: `executorch_program`, such as `:<other>.pte` of another model, or
        .pte files.
      dtype_selective_build: whether the kernels of `<name>_lib` support only the dtypes that the programs use.
      library: the `<name>_lib` of another model, or any `executorch_generated_lib`, which the runner and the test link. With this
        attribute, `<name>_lib` and `<name>_operators` are not defined.
      cc_deps: further C++ libraries that the runner and the test link, such as an `executorch_backend`.
      linkopts: options for the linker of the runner and the test.
      atol: absolute tolerance of the test and of `--check`, a decimal number. Default: as in `executorch_program_test`.
      rtol: relative tolerance of the test and of `--check`, a decimal number. Default: as in `executorch_program_test`.
      min_snr: lowest signal-to-noise ratio in decibels, as in `executorch_program_test`. Default: 20 with `quantize` and without
        `atol` and `rtol`, else 0.
      methods: methods of the program to test. Default: all methods.
      compiled: whether there is also the program as a C++ library without ExecuTorch's runtime, and its test. Default: False.
      size: size of the test, which sets its timeout. Default: medium.
      env: environment variables of the test.
      visibility: visibility of all targets.
      testonly: whether only tests may use the targets.
      tags: tags of all targets.
      compatible_with: environments of all targets.
      target_compatible_with: constraints of all targets.
      old_names: the old name of each parameter that the BUILD file gives by an old name. The macro gives it.
    """
    conflict = library_conflict("//{}:{}".format(native.package_name(), name), library, {
        old_names.get(parameter, parameter): value
        for parameter, value in {
            "custom_ops_yaml_target": custom_ops_yaml_target,
            "functions_yaml_target": functions_yaml_target,
            "kernel_deps": kernel_deps,
            "models": models,
        }.items()
    })
    if conflict:
        fail(conflict)
    common = dict(
        visibility = visibility,
        testonly = testonly,
        tags = tags,
        compatible_with = compatible_with,
        target_compatible_with = target_compatible_with,
    )
    program = ":{}.pte".format(name)
    executorch_program(
        name = name + ".pte",
        alloc_graph_input = alloc_graph_input,
        backends = backends,
        data = data,
        entry_point = entry_point,
        graph_passes = graph_passes,
        model = model,
        qnn_op_packages = qnn_op_packages,
        qnn_sdk = qnn_sdk,
        quantize = quantize,
        weights = weights,
        deps = deps,
        **common
    )
    if not library:
        library = ":{}_lib".format(name)
        et_operator_library(
            name = name + "_operators",
            models = [program] + models,
            **common
        )
        executorch_generated_lib(
            name = name + "_lib",
            custom_ops_yaml_target = custom_ops_yaml_target,
            dtype_selective_build = dtype_selective_build,
            functions_yaml_target = functions_yaml_target,
            kernel_deps = kernel_deps + _KERNELS,
            deps = [":{}_operators".format(name)],
            **common
        )
    if min_snr == None and quantize and not (atol or rtol):
        min_snr = _QUANTIZED_SNR
    checked = dict(
        program = program,
        atol = atol,
        rtol = rtol,
        min_snr = min_snr,
        linkopts = linkopts,
        deps = [library] + [_BACKENDS[backend] for backend in backends if backend in _BACKENDS] + cc_deps,
    )
    executorch_binary(name = name, **(checked | common))
    executorch_program_test(
        name = name + "_test",
        size = size,
        env = env,
        methods = methods,
        **(checked | common)
    )
    if compiled:
        executorch_compiled_program(
            name = name + "_compiled",
            library = library,
            program = program,
            **common
        )
        executorch_compiled_program_test(
            name = name + "_compiled_test",
            size = size,
            atol = atol,
            min_snr = min_snr,
            program = ":{}_compiled".format(name),
            rtol = rtol,
            **common
        )
    et_memory_report(
        name = name + "_memory",
        program = program,
        **on_request(common)
    )
    et_size_report(
        name = name + "_size",
        binary = ":" + name,
        **on_request(common)
    )
    native.alias(
        name = name + "_profile",
        actual = ":{}.profile".format(name),
        **on_request(common)
    )
    native.alias(
        name = name + "_numbers",
        actual = ":{}.numbers".format(name),
        **on_request(common)
    )
