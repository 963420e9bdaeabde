"""The kernels of operators that programs keep whole: which file implements which operators, and which targets of
kernels/common it includes."""

load("//kernels/common:operator_file.bzl", "operator_file")

# By the name of the file's target, sorted.
OPERATOR_FILES = {
    "op_fused_convolution": operator_file(["rules_executorch::fused_convolution.out"], ["activation", "convolution", "dtype", "matmul"]),
    "op_linear": operator_file(["aten::linear.out"], ["convert", "matmul", "resize", "vectorize", "view_shape"]),
    "op_packed_linear": operator_file(["rules_executorch::packed_linear.out"], ["activation", "copy", "matmul", "parallel_for", "resize", "strided_view", "vectorize"]),
    "op_scaled_dot_product_attention": operator_file(["rules_executorch::scaled_dot_product_attention.out"], ["convert", "matmul", "parallel_for", "resize", "vector_math", "vectorize", "view_shape"]),
}
