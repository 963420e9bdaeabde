"""Functions.h: each operator as a typed function, `torch::executor::<operator's namespace>::<name>_outf`.

If a library has kernels for several instruction sets, a function calls the kernel for that of the processor.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence

from codegen.cpp import layout, namespaces, template, typed_kernels
from codegen.cpp.boxed_kernel import BoxedKernel
from codegen.cpp.source import Source
from codegen.model import cpp_names, schema, signatures
from codegen.model.operators import Operator

# Names that ExecuTorch's headers define in torch::executor. A namespace in torch::executor cannot have such a name.
_OF_TORCH_EXECUTOR = (
    "AllocatorID BoxedEvalueList ChainID CppTypeToScalarType DebugHandle DelegateDebugIdType DelegateDebugIntId "
    "DeviceType EventTracer EventTracerDebugLogLevel EventTracerEntry ExecutorchProfiler "
    "ExecutorchProfilerInstructionScope Half IntArrayRef KernelKey LogLevel LoggedEValueType MemoryAllocator Result "
    "RuntimeContext ScalarTypeToCppType Tag TensorImpl TensorList TensorMeta TensorShapeDynamism begin_profiling "
    "bits16 bits1x8 bits2x4 bits4x2 bits8 calculate_linear_index canCast can_cast compute_numel convert "
    "coordinateToIndex dim_is_valid dim_order_to_stride dim_order_to_stride_nocheck dump_profile_stats elementSize "
    "end_profiling error_code_t extract_scalar_tensor getLeadingDims getOpsFn getTrailingDims get_dim_order "
    "get_kernels get_profile_tls_state hasOpsFn indexToCoordinate isBitsType isComplexType isFloatingType "
    "isIntegralType isQIntType isRealHBType isRealHType isRealType isValid is_barebones_unsigned_type is_bits_type "
    "is_channels_last_dim_order is_complex_type is_contiguous_dim_order is_float8_type is_floating_point "
    "is_integral_type is_qint_type is_reduced_floating_point kTensorDimensionLimit kUnsetBundledInputIndex "
    "kUnsetChainId kUnsetDebugHandle kUnsetDelegateDebugIntId makeArrayRef mem_prof_event_t nonempty_size nonzero_dim "
    "nullopt nullopt_t optional prof_allocator_t prof_buf_size prof_event_t prof_events_offset prof_header_offset "
    "prof_header_t prof_mem_alloc_events_offset prof_mem_alloc_info_offset prof_result_t prof_state_t profiler_init "
    "profiling_create_block promoteTypes promote_types qint32 qint8 quint2x4 quint4x2 quint8 register_kernels "
    "reset_profile_stats resize resize_tensor runtime_abort safe_numel set_profile_tls_state stride_to_dim_order "
    "string_view tensor_can_cast_to tensor_dim_has_index tensor_has_dim tensor_has_expected_size "
    "tensor_has_non_empty_dim tensor_has_rank_greater_or_equal_to tensor_has_rank_smaller_or_equal_to "
    "tensor_has_valid_dim_order tensor_is_bits_type tensor_is_bool_type tensor_is_complex_type tensor_is_contiguous "
    "tensor_is_default_dim_order tensor_is_default_or_channels_last_dim_order tensor_is_floating_type "
    "tensor_is_integral_type tensor_is_rank tensor_is_real_type tensor_is_realh_type tensor_is_realhb_type "
    "tensor_is_scalar tensors_have_same_dim_order tensors_have_same_dtype tensors_have_same_rank "
    "tensors_have_same_shape tensors_have_same_shape_and_dtype tensors_have_same_size_at_dims "
    "tensors_have_same_strides toString track_allocation track_allocator"
)
_TAKEN = frozenset(_OF_TORCH_EXECUTOR.split())


def text(
    source: Source,
    operators: Sequence[Operator],
    kernels: Sequence[BoxedKernel],
    native_functions: str,
    *,
    has_typed_kernels: bool,
) -> str:
    """Returns the text of Functions.h.

    Args:
        source: the library.
        operators: the operators.
        kernels: the kernels of the operators.
        native_functions: the include path of NativeFunctions.h.
        has_typed_kernels: whether the library has kernels for several instruction sets.
    """
    groups: dict[str, list[Operator]] = {}
    for operator in operators:
        groups.setdefault(_namespace(operator.schema), []).append(operator)
    chosen = {boxed.operator.name: boxed for boxed in _called(kernels)} if has_typed_kernels else {}
    blocks = namespaces.blocks({name: _functions(source, group, chosen) for name, group in groups.items()})
    declarations = (typed_kernels.declaration(boxed, "[[gnu::weak]] ") for boxed in chosen.values())
    return source.fill(
        "Functions.h",
        native_functions=native_functions,
        weak_kernels=source.fill("weak_kernels.h", declarations="".join(declarations)) if chosen else "",
        functions=blocks,
    )


def _called(kernels: Sequence[BoxedKernel]) -> Iterator[BoxedKernel]:
    """Yields the kernels that the functions call."""
    names = {operator.name for operator in _first_operators([boxed.operator for boxed in kernels]).values()}
    for boxed in kernels:
        if boxed.operator.name in names and boxed.kernel == boxed.operator.default:
            yield boxed


def _namespace(function: schema.FunctionSchema) -> str:
    return f"torch::executor::{cpp_names.free(function.name.namespace, _TAKEN)}"


def _first_operators(operators: Sequence[Operator]) -> dict[tuple[str, str, tuple[str, ...]], Operator]:
    """Returns the first operator for each namespace, name and parameter types of a function."""
    first: dict[tuple[str, str, tuple[str, ...]], Operator] = {}
    for operator in operators:
        if operator.default is not None and not operator.default.is_aten:
            first.setdefault(_key(operator.schema), operator)
    return first


def _key(function: schema.FunctionSchema) -> tuple[str, str, tuple[str, ...]]:
    return _namespace(function), signatures.wrapper_name(function), signatures.parameter_types(function)


def _functions(source: Source, operators: Sequence[Operator], chosen: Mapping[str, BoxedKernel]) -> Iterator[str]:
    """Yields the functions of one namespace's operators."""
    first_operators = _first_operators(operators)
    for operator in operators:
        function, default = operator.schema, operator.default
        if default is None:
            why = "Has no kernel for every dtype and dim order; call one of its kernels instead."
            yield _no_function(function, why)
        elif default.is_aten:
            why = "Its kernel takes tensors of PyTorch; call the operator in PyTorch's namespace instead."
            yield _no_function(function, why)
        else:
            first = first_operators[_key(function)]
            if first is operator:
                boxed = chosen.get(operator.name)
                name = typed_kernels.called(source, boxed) if boxed is not None else None
                yield _function(operator, default.function, source.namespace, name)
            else:
                why = f"The same function as that of {first.name} in C++; call its kernel {default.function} instead."
                yield _no_function(function, why)


def _no_function(function: schema.FunctionSchema, why: str) -> str:
    return template.fill("no_function.h", schema=function, why=why)


@functools.cache
def _function(operator: Operator, kernel: str, library: str, chosen: str | None) -> str:
    function = operator.schema
    namespace = _namespace(function)
    context = namespaces.spelled(f"{signatures.CONTEXT}& context", namespace)
    names = signatures.parameter_names(function)
    arguments = ", ".join(["context", *names])
    # After a failure, a function can only return arguments by reference, or nothing.
    can_fail = all(str(returned.type) == "Tensor" or not returned.is_written for returned in function.returns)
    takes = zip(names, function.arguments, strict=True)
    tensors = [name for name, argument in takes if can_fail and "Tensor" in str(argument.type)]
    return template.fill(
        "function.h",
        schema=function,
        return_type=namespaces.spelled(signatures.return_type(function), namespace),
        function=signatures.wrapper_name(function),
        parameters=", ".join([context, *namespaces.parameters(function, namespace)]),
        check=template.fill(
            "rank_check.h",
            library=library,
            operator=layout.quoted(operator.name),
            tensors=", ".join(tensors),
            nothing=_nothing(function),
        )
        if tensors
        else "",
        choice=template.fill("kernel_choice.h", chosen=chosen, arguments=arguments) if chosen else "",
        kernel=kernel,
        arguments=arguments,
    )


def _nothing(function: schema.FunctionSchema) -> str:
    """Returns the expression that a function returns after a failure."""
    if not function.returns:
        return ""
    if not function.returns[0].is_written:
        return " Tensor(nullptr)" if str(function.returns[0].type) == "Tensor" else " {}"
    names = zip((a.alias for a in function.arguments), signatures.parameter_names(function), strict=True)
    by_alias = dict(names)
    written = [by_alias[returned.alias] for returned in function.returns]
    return f" {written[0]}" if len(written) == 1 else f" {{{', '.join(written)}}}"
