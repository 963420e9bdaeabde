"""The portable kernels: which file implements which operators, and which targets of kernels/common it includes."""

def operator_file(operators, common):
    """One file of kernels, `op_<name>.cpp`.

    Args:
      operators: names of the operators it implements, with their namespace.
      common: names of the targets of kernels/common that it includes.

    Returns:
      A struct of these.
    """
    return struct(operators = operators, common = common)

# By the name of the file's target, sorted.
OPERATOR_FILES = {
    "op__clone_dim_order": operator_file(["dim_order_ops::_clone_dim_order.out"], ["copy", "dim_order", "resize"]),
    "op__to_dim_order_copy": operator_file(["dim_order_ops::_to_dim_order_copy.out"], ["copy", "dim_order", "resize"]),
    "op_add": operator_file(["aten::add.Scalar_out", "aten::add.out"], ["binary", "dtype", "promotion", "scalar"]),
    "op_addmm": operator_file(["aten::addmm.out"], ["convert", "matmul", "resize", "scalar", "view_shape"]),
    "op_alias_copy": operator_file(["aten::alias_copy.out"], ["view_copy"]),
    "op_any": operator_file(["aten::any.all_out", "aten::any.dims_out", "aten::any.out"], ["reduction"]),
    "op_arange": operator_file(["aten::arange.out", "aten::arange.start_out"], ["convert", "resize", "scalar", "strided_view"]),
    "op_bmm": operator_file(["aten::bmm.out"], ["matmul", "resize"]),
    "op_cat": operator_file(["aten::cat.out"], ["copy", "dims", "promotion", "resize"]),
    "op_clone": operator_file(["aten::clone.out"], ["memory_format", "view_copy"]),
    "op_constant_pad_nd": operator_file(["aten::constant_pad_nd.out"], ["copy", "fill", "resize"]),
    "op_convolution": operator_file(["aten::convolution.out"], ["convert", "matmul", "resize", "vectorize"]),
    "op_copy": operator_file(["aten::copy.out", "aten::copy_"], ["copy", "resize", "view_shape"]),
    "op_cos": operator_file(["aten::cos.out"], ["unary_float", "vector_math"]),
    "op_div": operator_file(["aten::div.Scalar_mode_out", "aten::div.Scalar_out", "aten::div.out", "aten::div.out_mode"], ["binary", "block", "convert", "elementwise", "loop_nest", "promotion", "resize", "strided_view"]),
    "op_embedding": operator_file(["aten::embedding.out"], ["indexed_view", "view_shape"]),
    "op_eq": operator_file(["aten::eq.Scalar_out", "aten::eq.Tensor_out"], ["binary", "dtype"]),
    "op_exp": operator_file(["aten::exp.out"], ["unary_float", "vector_math"]),
    "op_expand_copy": operator_file(["aten::expand_copy.out"], ["view_copy", "view_shape"]),
    "op_full_like": operator_file(["aten::full_like.out"], ["fill", "resize"]),
    "op_gelu": operator_file(["aten::gelu.out"], ["elementwise", "resize", "vector_math", "vectorize"]),
    "op_hardtanh": operator_file(["aten::hardtanh.out"], ["elementwise", "resize", "scalar"]),
    "op_index": operator_file(["aten::index.Tensor_out"], ["indexed_view", "view_shape"]),
    "op_index_put": operator_file(["aten::index_put.out", "aten::index_put_"], ["copy", "indexed_view", "resize", "view_shape"]),
    "op_le": operator_file(["aten::le.Scalar_out", "aten::le.Tensor_out"], ["binary", "dtype"]),
    "op_logical_not": operator_file(["aten::logical_not.out"], ["elementwise", "resize"]),
    "op_mean": operator_file(["aten::mean.dtype_out", "aten::mean.out"], ["reduction"]),
    "op_mm": operator_file(["aten::mm.out"], ["matmul", "resize"]),
    "op_mul": operator_file(["aten::mul.Scalar_out", "aten::mul.out"], ["binary", "dtype"]),
    "op_native_batch_norm": operator_file(["aten::_native_batch_norm_legit_no_training.out"], ["elementwise", "resize"]),
    "op_neg": operator_file(["aten::neg.out"], ["elementwise", "resize"]),
    "op_permute_copy": operator_file(["aten::permute_copy.out"], ["copy", "dims", "resize"]),
    "op_pow": operator_file(["aten::pow.Scalar_out", "aten::pow.Tensor_Scalar_out", "aten::pow.Tensor_Tensor_out"], ["copy", "elementwise", "fill", "promotion", "resize", "vector_math", "vectorize"]),
    "op_relu": operator_file(["aten::relu.out"], ["elementwise", "resize"]),
    "op_rsqrt": operator_file(["aten::rsqrt.out"], ["unary_float"]),
    "op_scalar_tensor": operator_file(["aten::scalar_tensor.out"], ["fill", "resize"]),
    "op_select_copy": operator_file(["aten::select_copy.int_out"], ["dims", "view_copy"]),
    "op_sigmoid": operator_file(["aten::sigmoid.out"], ["unary_float", "vector_math"]),
    "op_sin": operator_file(["aten::sin.out"], ["unary_float", "vector_math"]),
    "op_slice_copy": operator_file(["aten::slice_copy.Tensor_out"], ["dims", "view_copy"]),
    "op_softmax": operator_file(["aten::_softmax.out"], ["dims", "lines", "resize", "vector_math", "vectorize"]),
    "op_squeeze_copy": operator_file(["aten::squeeze_copy.dim_out", "aten::squeeze_copy.dims_out"], ["dims", "view_copy"]),
    "op_sub": operator_file(["aten::sub.Scalar_out", "aten::sub.out"], ["binary", "dtype", "promotion", "scalar"]),
    "op_t_copy": operator_file(["aten::t_copy.out"], ["view_copy"]),
    "op_tanh": operator_file(["aten::tanh.out"], ["unary_float", "vector_math"]),
    "op_to_copy": operator_file(["aten::_to_copy.out"], ["copy", "memory_format", "resize"]),
    "op_transpose_copy": operator_file(["aten::transpose_copy.int_out"], ["dims", "view_copy"]),
    "op_unsqueeze_copy": operator_file(["aten::unsqueeze_copy.out"], ["dims", "view_copy"]),
    "op_view_copy": operator_file(["aten::view_copy.out"], ["reshape", "view_shape"]),
    "op_where": operator_file(["aten::where.self_out"], ["elementwise", "promotion", "resize"]),
}
