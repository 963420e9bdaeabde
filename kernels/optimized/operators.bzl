"""The kernels of operators that programs keep whole: which file implements which operators, and which targets of
kernels/common it includes."""

load("//kernels/common:operator_file.bzl", "operator_file")

# By the name of the file's target, sorted.
OPERATOR_FILES = {
    "op_dynamic_linear": operator_file(["rules_executorch::dynamic_linear.out"], ["block", "convert", "grain", "layouts", "min_max", "parallel_for", "resize", "vector_math", "vectorize"]),
    "op_fused_convolution": operator_file(["rules_executorch::fused_convolution.out"], ["activation", "convolution", "dtype", "matmul"]),
    "op_linear": operator_file(["aten::linear.out"], ["convert", "matmul", "resize", "vectorize", "view_shape"]),
    "op_packed_convolution": operator_file(["rules_executorch::packed_convolution.out"], ["activation", "bits", "float_panels", "grain", "layouts", "matmul", "memory_format", "parallel_for", "reduced_float", "resize", "strided_view", "transposition", "vectorize"]),
    "op_packed_embedding": operator_file(["rules_executorch::packed_embedding.out"], ["copy", "dim_index", "grain", "loop_nest", "resize", "strided_view"]),
    "op_packed_linear": operator_file(["rules_executorch::packed_linear.out"], ["activation", "bits", "convert", "copy", "float_panels", "layouts", "matmul", "parallel_for", "resize", "strided_view", "vectorize"]),
    "op_quantized_add": operator_file(["rules_executorch::quantized_add.out"], ["grain", "parallel_for", "quantization", "resize", "vector_math", "vectorize"]),
    "op_quantized_convolution": operator_file(["rules_executorch::quantized_convolution.out"], ["byte_table", "dim_order", "grain", "integer_product", "matmul", "parallel_for", "resize", "vectorize"]),
    "op_quantized_linear": operator_file(["rules_executorch::quantized_linear.out"], ["grain", "integer_product", "parallel_for", "resize"]),
    "op_quantized_lookup": operator_file(["rules_executorch::quantized_lookup.out"], ["byte_table", "dtype", "grain", "parallel_for", "resize"]),
    "op_rms_norm": operator_file(["rules_executorch::rms_norm.out"], ["convert", "grain", "parallel_for", "resize", "vectorize"]),
    "op_scaled_dot_product_attention": operator_file(["rules_executorch::scaled_dot_product_attention.out"], ["convert", "exponentials", "matmul", "parallel_for", "resize", "vector_math", "vectorize", "view_shape"]),
    "op_weight_only_linear": operator_file(["rules_executorch::weight_only_linear.out"], ["block", "convert", "grain", "layouts", "parallel_for", "resize", "vectorize"]),
    "op_winograd_convolution": operator_file(["rules_executorch::winograd_convolution.out"], ["activation", "float_panels", "grain", "layouts", "matmul", "memory_format", "parallel_for", "resize", "winograd_transforms"]),
}
