"""Every kind of finding that a build can report. docs/errors.md is made of this list:

tools/bazel run //diagnostics:update_errors
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from absl import app


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of finding.

    Attributes:
        id: its name, which every message of the kind ends with.
        step: the step of the build that finds it.
        meaning: what is wrong and what it would lead to.
        example: an input that has the mistake.
        fix: what to do.
    """

    id: str
    step: str
    meaning: str
    example: str
    fix: str


_SELECT = "Selecting operators"
_YAML = "Reading functions.yaml and custom_ops.yaml"
_LIBRARY = "Generating a library and binding its kernels"
_BINARY = "Checking a binary"
_PROGRAM = "Reading a program"
_EXPORT = "Exporting a model"
_AOTI = "Compiling a model with AOTInductor"
_TORCH_OP = "Testing an operator for PyTorch"
_TORCH = "Building an operator library for PyTorch"

KINDS = (
    Kind(
        "bad-operator-name",
        _SELECT,
        "An operator is not given by its full name. The runtime knows operators by namespace, name and overload only.",
        'ops = ["add.out"]',
        "Write `aten::add.out`.",
    ),
    Kind(
        "not-a-selection",
        _SELECT,
        "A file that should be a `selected_operators.yaml` has another structure.",
        "operators: [aten::add.out]  # a list, where ExecuTorch's format has a mapping",
        "Give an `et_operator_library`, or a file that ExecuTorch's `gen_oplist` wrote.",
    ),
    Kind(
        "empty-selection",
        _SELECT,
        "An `et_operator_library` selects nothing.",
        'et_operator_library(name = "operators")',
        "Give `ops`, a model, `deps` or `include_all_operators`.",
    ),
    Kind(
        "server-generated-beside-others",
        _SELECT,
        "An `et_operator_library` has `server_generated_yaml_target` beside others; such a file is taken as it is.",
        'server_generated_yaml_target = "selected.yaml", ops = ["aten::add.out"]',
        "Give the file to an `et_operator_library` of its own, and that one to `deps`.",
    ),
    Kind(
        "bad-ops-dict",
        _SELECT,
        "What `ops_dict` wants of an operator is neither a dtype of the runtime nor a kernel key in its rendering.",
        'ops_dict = {"aten::add.out": ["Flaot", "v1/6;0,"]}',
        "Take dtypes from `ScalarType`; write keys as `v1/6;0,1|6;0`, one dtype number and dim order for each tensor.",
    ),
    Kind(
        "wrong-flags",
        _SELECT,
        "The flags of a codegen command do not fit together. Rules never cause it.",
        "codegen select --model=m.pte --output=s.yaml  # without --model_name",
        "Give the flags that the message names; `codegen <subcommand> --help` lists all.",
    ),
    Kind(
        "unreadable-file",
        _YAML,
        "A file is not there or may not be read.",
        "--functions_yaml=no/such.yaml",
        "Name an existing file, and let the target declare it.",
    ),
    Kind(
        "malformed-yaml",
        _YAML,
        "A file is not YAML. The place is where the parser gave up, which may be after the mistake.",
        "- op: add.out\n\tkernels: []  # a tab",
        "Correct the syntax at or before the place.",
    ),
    Kind(
        "duplicate-key",
        _YAML,
        "A mapping has a key twice. YAML readers keep one of the two without a word.",
        "- op: add.out\n  op: mul.out",
        "Keep one, or start another entry with `-`.",
    ),
    Kind(
        "empty-yaml",
        _YAML,
        "A file of operators has no entries.",
        "# - op: add.out",
        "Add an operator, or take the file out of the target.",
    ),
    Kind(
        "wrong-yaml-type",
        _YAML,
        "A value is of another type than the key asks for.",
        "- op: add.out\n  kernels: my::add_out",
        "Write it in the form that the message shows.",
    ),
    Kind(
        "unknown-key",
        _YAML,
        "A key that means nothing here. Elsewhere it may be ignored, and the kernel that it was to choose never runs.",
        "- op: add.out\n  kernels:\n    - arg_metas: null\n      kernel_name: my::add_out",
        "Correct the spelling or the indentation.",
    ),
    Kind(
        "op-or-func",
        _YAML,
        "An entry names its operator in no way or in two.",
        "- op: add.out\n  func: my_ops::add.out(Tensor x) -> Tensor",
        "Keep `op` for an operator of PyTorch, `func` with a schema for your own.",
    ),
    Kind(
        "op-in-custom-ops",
        _YAML,
        "custom_ops.yaml names an operator without its schema.",
        "- op: mul3.out",
        "Give the schema with `func:`, or move the entry to functions.yaml.",
    ),
    Kind(
        "unknown-operator",
        _YAML,
        "`op:` names an operator that PyTorch does not have.",
        "- op: add.outt",
        "Correct the name, or give a schema with `func:`.",
    ),
    Kind(
        "malformed-schema",
        _YAML,
        "A schema does not follow PyTorch's grammar.",
        "- func: my_ops::mul3.out(Tensor) -> Tensor  # the argument has no name",
        "Write it as `ns::name.overload(Type name, *, Tensor(a!) out) -> Tensor(a!)`.",
    ),
    Kind(
        "unknown-type",
        _YAML,
        "A schema has a type that PyTorch's schemas do not know.",
        "- func: my_ops::mul3.out(Tensr x, *, Tensor(a!) out) -> Tensor(a!)",
        "Use one of the types that the message lists.",
    ),
    Kind(
        "unsupported-type",
        _YAML,
        "An argument has a type that a program cannot hold, so that no program could call the operator.",
        "- func: my_ops::f.out(Tensor x, Generator g, *, Tensor(a!) out) -> Tensor(a!)",
        "Use a type that the message lists.",
    ),
    Kind(
        "unsupported-return",
        _YAML,
        "An operator returns what a program has no value for.",
        "- func: my_ops::f(Tensor x) -> Tensor[]",
        "Add an out argument for each result.",
    ),
    Kind(
        "name-too-long",
        _YAML,
        "An operator's name does not fit into the buffer in which the runtime builds it; loading a program would fail.",
        "- func: my_ops::<a name of 100 letters>.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)",
        "Choose a shorter namespace, name or overload.",
    ),
    Kind(
        "duplicate-operator",
        _YAML,
        "The YAML files of one library provide an operator twice. Registering both aborts the program when it starts.",
        "- op: add.out\n  kernels: [{kernel_name: a::add_out}]\n- op: add.out\n  kernels: [{kernel_name: b::add_out}]",
        "Keep one of the two.",
    ),
    Kind(
        "kernels-and-dispatch",
        _YAML,
        "An entry binds a kernel in both forms, and they may differ.",
        "- op: add.out\n  kernels: [{kernel_name: a::add_out}]\n  dispatch: {CPU: b::add_out}",
        "Remove `dispatch`.",
    ),
    Kind(
        "missing-kernel-name",
        _YAML,
        "An operator has no kernel.",
        "- op: add.out",
        "Add `kernels: [{arg_meta: null, kernel_name: my_namespace::my_kernel}]`.",
    ),
    Kind(
        "bad-kernel-name",
        _YAML,
        "A kernel's name is no C++ name.",
        "- op: add.out\n  kernels: [{kernel_name: my::add_out()}]",
        "Give the qualified name alone.",
    ),
    Kind(
        "conflicting-kernel",
        _YAML,
        "Two operators share a kernel, but need it with other return types; C++ cannot declare both.",
        "- func: a::b(Tensor x) -> int\n  kernels: [{kernel_name: k::f}]\n"
        "- func: a::c(Tensor x) -> float\n  kernels: [{kernel_name: k::f}]",
        "Give one of them another kernel.",
    ),
    Kind(
        "bad-alias",
        _YAML,
        "`arg_meta` names a dtype or dim order that is neither an alias of the entry nor a dtype, or an alias is "
        "called as a dtype is.",
        "type_alias: {T0: [Float]}\nkernels: [{arg_meta: {self: [T1, D0]}, kernel_name: k::f}]",
        "Define the alias in the same entry.",
    ),
    Kind(
        "bad-arg-meta",
        _YAML,
        "`arg_meta` names something that is no tensor argument, leaves one out, or gives it no dtype and dim order. "
        "ExecuTorch accepts it, and the kernel is never called.",
        "arg_meta: {sefl: [T0, D0], other: [T0, D0], out: [T0, D0]}",
        "Name every tensor of the schema once; leave out only an optional tensor that is None.",
    ),
    Kind(
        "unknown-dtype",
        _YAML,
        "A dtype of `type_alias` or `arg_meta` is none of ExecuTorch's `ScalarType`.",
        "type_alias: {T0: [float32]}",
        "Write `Float`.",
    ),
    Kind(
        "bad-dim-order",
        _YAML,
        "A dim order does not name each dimension exactly once.",
        "dim_order_alias: {D0: [0, 2, 3]}",
        "Write `[0, 2, 3, 1]` for channels last.",
    ),
    Kind(
        "duplicate-kernel",
        _YAML,
        "Two kernels of an operator are for the same dtypes and dim orders.",
        "kernels:\n- {arg_meta: null, kernel_name: k::f}\n- {arg_meta: null, kernel_name: k::g}",
        "Keep one of the two.",
    ),
    Kind(
        "too-many-combinations",
        _YAML,
        "The aliases of a kernel vary independently, and have more combinations than the runtime's registry holds.",
        "type_alias: {T0: [all 22 dtypes], T1: [the same], T2: [the same]}",
        "Use one alias for arguments that always agree.",
    ),
    Kind(
        "long-kernel-key",
        _YAML,
        "A kernel is for more tensors or dimensions than the runtime can look up: its buffer holds 16 tensors of 16 "
        "dimensions.",
        "arg_meta with 40 tensors of 8 dimensions",
        "Bind one kernel with `arg_meta: null`.",
    ),
    Kind(
        "missing-kernel-key",
        _LIBRARY,
        "All kernels of an operator are for certain dtypes and dim orders, and a model calls it with others.",
        "a model that adds Half tensors; kernels: [{arg_meta: {self: [Float, [0]], ...}, kernel_name: k::f}]",
        "Add a kernel with `arg_meta: null`, or one for these dtypes and dim orders.",
    ),
    Kind(
        "no-yaml",
        _LIBRARY,
        "A library names no file that binds operators to kernels.",
        'executorch_generated_lib(name = "lib", deps = [":operators"])',
        "Give `functions_yaml_target`, `custom_ops_yaml_target` or both.",
    ),
    Kind(
        "functions-yaml-in-aten-mode",
        _LIBRARY,
        "A library in ATen mode names kernels for PyTorch's operators, which run with PyTorch's own there.",
        'executorch_generated_lib(name = "lib", aten_mode = True, functions_yaml_target = "functions.yaml", ...)',
        'Leave the YAML out, or have both kinds of kernels by `fallback = "aten"` in place of `aten_mode`.',
    ),
    Kind(
        "no-aten-out-variant",
        _LIBRARY,
        "A library with PyTorch's own kernels selects an operator that a program cannot call: one that gives new"
        " tensors, where a program has memory for its outputs from the start, or that takes values no program has.",
        'et_operator_library(name = "operators", ops = ["aten::add.Tensor"])',
        "Select the out variant that the message names, or what the exported program calls: `models = [...]`.",
    ),
    Kind(
        "declares-nothing",
        _LIBRARY,
        "A kernel library should declare operators in C++, and its object files have no declaration.",
        'et_kernel_library(name = "kernels", srcs = ["mul4.cpp"], declares_operators = True)  # no EXECUTORCH_OPERATOR',
        "Declare them by `EXECUTORCH_OPERATOR` of `runtime/operator.h`, or leave the attribute out.",
    ),
    Kind(
        "nothing-to-define",
        _LIBRARY,
        "A library for PyTorch has no operators, or all of them are in namespaces of PyTorch itself. PyTorch defines "
        "the operators of these, so the library leaves them out.",
        "- func: aten::add.out(...)  # the only entry",
        "Give operators of your own a namespace of your own. Those of PyTorch need no library.",
    ),
    Kind(
        "buck-only",
        _LIBRARY,
        "A library has a parameter of ExecuTorch's macro that means something to Buck only.",
        'executorch_generated_lib(name = "lib", platforms = [ANDROID], ...)',
        "Use what the message names, such as `target_compatible_with`.",
    ),
    Kind(
        "no-kernel-sources",
        _LIBRARY,
        "A library should have its kernels built for the selected dtypes, but nothing says which file implements which"
        " operator.",
        'executorch_generated_lib(name = "lib", dtype_selective_build = True, kernel_deps = [":a_cc_library"], ...)',
        "Put the kernels into an `et_kernel_library` with `operators`, or leave `dtype_selective_build` out.",
    ),
    Kind(
        "no-selection",
        _LIBRARY,
        "A library depends on no selection, and would register nothing.",
        'executorch_generated_lib(name = "lib", functions_yaml_target = "functions.yaml")',
        "Add an `et_operator_library` to `deps`.",
    ),
    Kind(
        "not-a-source",
        _LIBRARY,
        "An `et_kernel_library` says what a file implements that is not among its sources.",
        'et_kernel_library(name = "kernels", srcs = ["op_add.cpp"], operators = {"op_add": ["aten::add.out"]})',
        "Use the file's name, with its ending.",
    ),
    Kind(
        "missing-operator",
        _LIBRARY,
        "An operator is selected, or called by a program, and nothing provides it. A device would refuse the program.",
        'et_operator_library(name = "operators", ops = ["aten::add.ou"])',
        "Correct the name, add the operator with its kernel to a YAML, or select it for the binary's library.",
    ),
    Kind(
        "undefined-kernel",
        _LIBRARY,
        "A YAML names a kernel that no library of `kernel_deps` defines, or that has other parameters there.",
        "void add_out(const Tensor& self, Tensor& out);  // the schema has `other` and `alpha` too",
        "Define the kernel with a signature that the message shows, or correct its name in the YAML.",
    ),
    Kind(
        "unreadable-symbols",
        _LIBRARY,
        "The toolchain's nm is missing, or cannot read a library of kernels.",
        "kernel_deps = [a library for another platform]",
        "Compile the kernels with the toolchain of the build, and use one that has nm.",
    ),
    Kind(
        "link-time-optimisation",
        _LIBRARY,
        "An object file of kernels holds the compiler's intermediate form, whose functions nm does not see.",
        'copts = ["-flto"]',
        "Compile the kernels without link-time optimisation.",
    ),
    Kind(
        "registered-twice",
        _BINARY,
        "Two libraries of a binary register a kernel for the same operator and key. The binary would abort when it "
        "starts.",
        'executorch_binary(name = "runner", deps = [":lib", ":other_lib"])  # both select aten::add.out',
        "Leave the operator in the selection of one library.",
    ),
    Kind(
        "built-twice",
        _BINARY,
        "Two libraries with `dtype_selective_build` compile the same file with kernels, each for its dtypes. A binary "
        "links one of the two, and calls of the other library would fail with dtypes that are left out there. A "
        "`cc_binary` does not link then: `multiple definition of kernel_built_for_dtypes_by_two_libraries::...`.",
        'executorch_binary(name = "runner", deps = [":add_lib", ":add_scalar_lib"])  # both use op_add.cpp',
        "Give one library both selections.",
    ),
    Kind(
        "registration-left-out",
        _BINARY,
        "A library registers an operator by `EXECUTORCH_LIBRARY`, but is not linked whole: the linker drops the "
        "registration, and the program cannot be loaded.",
        'cc_library(name = "kernels", srcs = ["kernels.cpp"])  # EXECUTORCH_LIBRARY(my_ops, "mul3.out", mul3_out);',
        "Set `alwayslink = True` in the library.",
    ),
    Kind(
        "other-schema",
        _BINARY,
        "A program calls an operator with other values than the kernel's schema says. The kernel would refuse them, or "
        "read one argument as another. Only the number and the kinds of the values are known, so that two tensors in "
        "another order are not found.",
        "- func: my_ops::mul3.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)  # in Python: (Tensor x, float by, ...)",
        "Make the schema in the YAML the one in Python, and export the model again.",
    ),
    Kind(
        "too-many-kernels",
        _BINARY,
        "A binary registers more kernels than the runtime's registry holds, and would abort when it starts.",
        "include_all_operators = True  # in every selection",
        "Select what the program needs. For a runtime of your own, raise `MAX_KERNEL_NUM`, and `max_kernels` of its "
        "`executorch_runtime_toolchain`.",
    ),
    Kind(
        "missing-backend",
        _BINARY,
        "A program delegates to a backend, and no file that a binary links both knows `register_backend()` and has the "
        "backend's name. The program could not be loaded.",
        'executorch_binary(name = "runner", program = ":model", ...)  # lowered with XnnpackPartitioner()',
        "Add the backend's library to `deps`.",
    ),
    Kind(
        "dtype-not-selected",
        _BINARY,
        "A program calls an operator with a dtype that a library with `dtype_selective_build` left out of the"
        " operator's kernel. The call would fail when the program runs.",
        'executorch_generated_lib(name = "lib", dtype_selective_build = True, deps = [":another_models_ops"], ...)',
        "Add the program to the selection, or leave `dtype_selective_build` out.",
    ),
    Kind(
        "wrong-artifact",
        _BINARY,
        "A file that one step of the build writes for another one has another structure. Rules never cause it.",
        "codegen check --manifest=selected_operators.yaml ...",
        "Give the file that the message names, as the rule or the command that it names wrote it.",
    ),
    Kind(
        "no-samples",
        _BINARY,
        "An `executorch_program_test` has nothing to compare with.",
        'executorch_program_test(name = "test", program = "model.pte")',
        "Use an `executorch_program`, which comes with inputs and PyTorch's outputs.",
    ),
    Kind(
        "bad-tolerance",
        _BINARY,
        "A tolerance is no number.",
        'rtol = "small"',
        'Give a decimal number: `rtol = "1e-4"`.',
    ),
    Kind(
        "not-a-program",
        _PROGRAM,
        "A file is not an ExecuTorch program, or one of a format that this runtime does not read.",
        'model = "model.ptd"',
        "Export the model with the version of ExecuTorch that the runtime is of.",
    ),
    Kind(
        "newer-program",
        _PROGRAM,
        "A program is of a newer format than the runtime reads.",
        "a model that was exported by a newer ExecuTorch",
        "Export with the version of ExecuTorch that the runtime is of.",
    ),
    Kind(
        "damaged-program",
        _PROGRAM,
        "A program is empty, shorter than it says, or leads nowhere.",
        "head -c 1000 model.pte > copy.pte",
        "Export the model again.",
    ),
    Kind(
        "user-code-raised",
        _EXPORT,
        "A model file, or a sample file of a `torch_op_test`, or a function of it, raised an exception.",
        "def get_model():\n    raise ValueError",
        "Make the function work by hand first: `python model.py`.",
    ),
    Kind(
        "no-entry-point",
        _EXPORT,
        "The model or sample file has no function of the expected name.",
        "def get_modle(): ...",
        "Define `get_model()`, or name your function with `entry_point`.",
    ),
    Kind(
        "wrong-return-value",
        _EXPORT,
        "A function of a model or sample file returns something else than its contract says.",
        "def get_model():\n    return torch.nn.Linear(2, 2)  # and the inputs?",
        "Return what the message says.",
    ),
    Kind(
        "no-fake-kernel",
        _EXPORT,
        "An operator has no kernel that tells the shape of its result without computing it, which torch.export and"
        " torch.compile need.",
        'library.impl("mul3", mul3, "CPU")  # and nothing else',
        "Register one: `torch.library.register_fake` in Python, the dispatch key Meta in C++.",
    ),
    Kind(
        "state-outside-buffers",
        _EXPORT,
        "The model writes to tensors that are no buffers, which an exported program cannot do.",
        "self.cache = torch.zeros(4)",
        'Use `self.register_buffer("cache", torch.zeros(4))`.',
    ),
    Kind(
        "varying-outputs",
        _EXPORT,
        "The model returns other structures for other samples.",
        "return (x, y) if x.sum() > 0 else x",
        "Return the same structure from every call.",
    ),
    Kind(
        "no-out-variant",
        _EXPORT,
        "The model calls a custom operator of which only the functional variant is registered.",
        'library.define("mul3(Tensor x) -> Tensor")',
        "Register the out variant too, in a module that the model file imports.",
    ),
    Kind(
        "unsupported-value",
        _EXPORT,
        "The model takes or gives a value that a program has no form for.",
        "example inputs of complex tensors",
        "Take and give dense tensors, bool, int, float, None, and tuples, lists and dicts of them.",
    ),
    Kind(
        "python-only-operator",
        _AOTI,
        "The model calls an operator that is registered from Python. A package of AOTInductor runs without Python.",
        '@torch.library.custom_op("my_ops::mul3", mutates_args=())',
        "Write the operator's kernel in C++, in a library that the package and the binary have in `deps`.",
    ),
    Kind(
        "missing-torch-operator",
        _AOTI,
        "A package of AOTInductor calls an operator that the binary's libraries have no kernel for.",
        'torch_aoti_binary(name = "runner", package = ":model")  # the model calls my_ops::mul3',
        "Add the `torch_op_library` that defines it to `deps`.",
    ),
    Kind(
        "several-methods",
        _AOTI,
        "The model file gives several methods, or one that is not called `forward`. A package holds one.",
        'return {"encode": (encoder, inputs), "decode": (decoder, inputs)}',
        "Write a function for each, and name it with `entry_point` of a `torch_aoti_package` of its own.",
    ),
    Kind(
        "unknown-torch-operator",
        _TORCH_OP,
        "No operator of that name is registered with PyTorch when the model or sample file has run, or several are.",
        'torch_op_test(op = "my_ops::mul33", ...)',
        "Name the library that defines it in `deps`, and import it in the file.",
    ),
    Kind(
        "no-kernel",
        _TORCH_OP,
        "The operator has no kernel for the device of the samples.",
        'library.define("twice(Tensor x) -> Tensor"); library.impl("twice", torch.empty_like, "Meta")',
        "Register one, for the CPU by `TORCH_LIBRARY_IMPL(my_ops, CPU, m)` or `torch.library.register_kernel`.",
    ),
    Kind(
        "operator-ends-process",
        _TORCH_OP,
        "The process that tests an operator came to no end: a kernel crashes or aborts, or something calls `exit()`.",
        "out.mutable_data_ptr<float>()[out.numel()] = 0;",
        "Correct the kernel; a debugger shows where it is.",
    ),
    Kind(
        "undeclared-mutation",
        _TORCH_OP,
        "The kernel writes to an argument that the schema says it only reads. A compiled program may lose the write.",
        '@torch.library.custom_op("my_ops::bump", mutates_args=())\ndef bump(x: torch.Tensor) -> torch.Tensor:\n'
        "    return x.add_(1).clone()",
        "Declare the argument, or write to a copy.",
    ),
    Kind(
        "returned-argument",
        _TORCH_OP,
        "The operator returns one of its arguments or a view of one. Compiled programs take results for new tensors.",
        "def bump(x):\n    return x.add_(1)",
        "Return a copy; an operator that writes to an argument returns nothing in its place.",
    ),
    Kind(
        "wrong-fake-kernel",
        _TORCH_OP,
        "The fake kernel's result differs from the real one in shape, dtype, strides or device.",
        "@join.register_fake\ndef _(x, y):\n    return torch.empty_like(x)",
        "Make the two agree.",
    ),
    Kind(
        "no-autograd-formula",
        _TORCH_OP,
        "Samples require grad, and the operator has no backward.",
        "return [(torch.ones(3, requires_grad=True),)]",
        "Register one with `torch.library.register_autograd`, or leave `requires_grad` out.",
    ),
    Kind(
        "autograd-in-kernel",
        _TORCH_OP,
        "A kernel of a backend does autograd's work, which then is wrong in other compositions.",
        'library.impl("scale", Scale.apply, "CPU")  # a torch.autograd.Function',
        "Register the formula with `torch.library.register_autograd`.",
    ),
    Kind(
        "wrong-gradient",
        _TORCH_OP,
        "The autograd formula is not the kernel's derivative.",
        "def backward(ctx, grad):\n    return grad  # of 2 * x",
        "Correct the formula.",
    ),
    Kind(
        "no-gradcheck-sample",
        _TORCH_OP,
        "`gradcheck = True`, and no sample is of float64 and requires grad.",
        "return [(torch.randn(3),)]",
        "Add a sample `torch.randn(3, dtype=torch.float64, requires_grad=True)`.",
    ),
    Kind(
        "no-vmap-rule",
        _TORCH_OP,
        "`vmap = True`, the operator has no rule for it, and PyTorch can make none up.",
        'library.define("join(Tensor[] parts) -> Tensor")',
        "Register one with `torch.library.register_vmap`.",
    ),
    Kind(
        "operator-check-failed",
        _TORCH_OP,
        "A check failed in another way, which the message quotes.",
        "a backward that raises",
        "Follow the message; run the check by hand to see all that PyTorch says.",
    ),
    Kind(
        "torch-version",
        _TORCH,
        "A library wants the stable ABI of a PyTorch that is newer than the one of the build, or of one that had none.",
        'torch_op_library(name = "ops", api = "stable", torch_target_version = "9.0", ...)',
        "Choose a version that the message allows, or build with a newer PyTorch.",
    ),
    Kind(
        "no-cuda-toolkit",
        _TORCH,
        "A library has sources in CUDA that `torch_op_library` did not see, and the machine has no CUDA toolkit.",
        'srcs = select({":gpu": ["kernels.cu"], "//conditions:default": ["kernels.cpp"]})',
        'Set `target_compatible_with = ["@rules_executorch//rules:cuda"]` where it has them.',
    ),
    Kind(
        "registers-nothing",
        _TORCH,
        "A library has no `TORCH_LIBRARY` macro, so that loading it does nothing.",
        'torch_op_library(name = "ops", deps = [":a_cc_library_without_alwayslink"], srcs = ["empty.cpp"])',
        "Register the operators in a source, or set `alwayslink = True` in the `cc_library` that does.",
    ),
    Kind(
        "reserved-namespace",
        _TORCH,
        "A library defines operators in a namespace of PyTorch itself.",
        "TORCH_LIBRARY(aten, m) { ... }",
        "Choose a namespace of your own; `TORCH_LIBRARY_IMPL` gives PyTorch's operators other kernels.",
    ),
    Kind(
        "other-namespace",
        _TORCH,
        "A library registers in another namespace than its attribute `namespace` says.",
        'torch_op_library(name = "ops", namespace = "my_ops", ...)  # TORCH_LIBRARY(myops, m)',
        "Make the two agree.",
    ),
    Kind(
        "duplicate-namespace",
        _TORCH,
        "A namespace is defined by `TORCH_LIBRARY` twice, in one library or in two that a process loads. PyTorch "
        "aborts the process when it loads the second, and Python cannot catch it.",
        "TORCH_LIBRARY(my_ops, m) { ... }  // in a.cpp, and again in b.cpp",
        "Leave `TORCH_LIBRARY` in one of them and write `TORCH_LIBRARY_FRAGMENT` in the others.",
    ),
    Kind(
        "namespace-from-macro",
        _TORCH,
        "The namespace in `TORCH_LIBRARY` is a preprocessor macro, whose name the symbols have in its place.",
        "TORCH_LIBRARY(TORCH_EXTENSION_NAME, m) { ... }",
        "Write the namespace, or have a macro of your own expand it before `TORCH_LIBRARY` gets it.",
    ),
    Kind(
        "stripped-library",
        _TORCH,
        "The linker has left out the symbols by which a library's namespaces are known.",
        'linkopts = ["-s"]',
        "Leave the option out.",
    ),
    Kind(
        "unstable-symbol",
        _TORCH,
        'A library with `api = "stable"` uses parts of PyTorch that change with its version.',
        'deps = [":a_cc_library_that_includes_ATen"]',
        "Use the headers under `torch/csrc/stable` and `torch/headeronly` alone.",
    ),
    Kind(
        "schema-mismatch",
        _TORCH,
        "The kernel of an operator takes or returns something else than its schema says; loading the library would "
        "abort the process. A kernel of the stable ABI tells PyTorch no types: for it, `torch_op_test` finds the "
        "mistake.",
        'm.def("scale(Tensor a) -> Tensor"); m.impl("scale", TORCH_FN(scale));  // Tensor scale(const Tensor&, double)',
        "Make the schema and the kernel's signature agree.",
    ),
    Kind(
        "bad-schema",
        _TORCH,
        "PyTorch does not accept the schema of an operator; loading the library would abort the process.",
        'm.def("f(Tensr a) -> Tensor");',
        "Write it as `name(Type argument, ...) -> Type`.",
    ),
    Kind(
        "operator-defined-twice",
        _TORCH,
        "A library defines an operator that it, or a library that it depends on, has defined already; loading it would "
        "abort the process.",
        'm.def("f(Tensor a) -> Tensor"); m.def("f(Tensor a, int n) -> Tensor");',
        "Leave one out, or give each an overload name of its own.",
    ),
    Kind(
        "undeclared-operator",
        _TORCH,
        "A library has a kernel for an operator that nothing defines. PyTorch says nothing, and never calls it.",
        'm.def("twice(Tensor a) -> Tensor"); m.impl("twise", TORCH_FN(twice));',
        "Correct the name, or add the library that defines the operator to `deps`.",
    ),
    Kind(
        "undefined-symbol",
        _TORCH,
        "A library uses a function that nothing defines, so that it cannot be loaded.",
        "int Forgotten();  // declared, and defined nowhere",
        "Define it, or add the library that does to `deps`.",
    ),
    Kind(
        "library-does-not-load",
        _TORCH,
        "A library fails to load for another reason, which the message tells.",
        'static const int value = [] { throw std::runtime_error(""); return 0; }();',
        "Correct what the message says.",
    ),
)


def document() -> str:
    """The text of docs/errors.md."""
    parts = [
        "# What the build can find wrong\n",
        "Every message has the same form: where, what was found, the likely cause, the fix, and the id under which it"
        " is listed here.\n",
        "<!-- Made of diagnostics/error_list.py by `tools/bazel run //diagnostics:update_errors`. -->",
    ]
    for step in dict.fromkeys(kind.step for kind in KINDS):
        parts.append(f"\n## {step}\n")
        for kind in KINDS:
            if kind.step == step:
                parts.append(f"### {kind.id}\n\n{kind.meaning}\n\n```\n{kind.example}\n```\n\nFix: {kind.fix}\n")
    return "\n".join(parts)


def main(argv: Sequence[str]) -> None:
    del argv
    (Path(os.environ["BUILD_WORKSPACE_DIRECTORY"]) / "docs" / "errors.md").write_text(document())


if __name__ == "__main__":
    app.run(main)
