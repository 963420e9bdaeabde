"""The files of optimized kernels, with the operators that each file implements and the targets that it needs."""

load("//kernels:operator_file.bzl", "operator_file")

# The keys are the names of the files' targets, sorted.
OPERATOR_FILES = {
    "op_dynamic_linear": operator_file(["rules_executorch::dynamic_linear.out"], ["gemm:layouts", "math:vector_math", "math:vectorize", "parallel:block", "parallel:grain", "parallel:parallel_for", "reduce:min_max", "tensors:convert", "tensors:resize"]),
    "op_fused_convolution": operator_file(["rules_executorch::fused_convolution.out"], ["convolution", "gemm:matmul", "math:activation", "tensors:dtype"]),
    "op_linear": operator_file(["aten::linear.out"], ["gemm:matmul", "math:vectorize", "tensors:convert", "tensors:resize", "views:view_shape"]),
    "op_packed_convolution": operator_file(["rules_executorch::packed_convolution.out"], ["convolution/packed:convolution", "convolution/packed:plan", "convolution:epilogue"]),
    "op_packed_embedding": operator_file(["rules_executorch::packed_embedding.out"], ["copy", "copy:dim_index", "parallel:grain", "tensors:resize", "views:loop_nest", "views:strided_view"]),
    "op_packed_linear": operator_file(["rules_executorch::packed_linear.out"], ["copy", "gemm:float_panels", "gemm:layouts", "gemm:matmul", "math:activation", "math:bits", "math:vectorize", "parallel:parallel_for", "tensors:convert", "tensors:resize", "views:strided_view"]),
    "op_quantized_add": operator_file(["rules_executorch::quantized_add.out"], ["math:vector_math", "math:vectorize", "parallel:grain", "parallel:parallel_for", "quantize:quantization", "tensors:resize"]),
    "op_quantized_convolution": operator_file(["rules_executorch::quantized_convolution.out"], ["convolution:quantized", "gemm:integer_product", "gemm:matmul", "tensors:resize", "views:memory_format"]),
    "op_quantized_linear": operator_file(["rules_executorch::quantized_linear.out"], ["gemm:integer_product", "parallel:grain", "parallel:parallel_for", "tensors:resize"]),
    "op_quantized_lookup": operator_file(["rules_executorch::quantized_lookup.out"], ["math:byte_table", "parallel:grain", "parallel:parallel_for", "tensors:dtype", "tensors:resize"]),
    "op_rms_norm": operator_file(["rules_executorch::rms_norm.out"], ["math:vectorize", "parallel:grain", "parallel:parallel_for", "tensors:convert", "tensors:resize"]),
    "op_scaled_dot_product_attention": operator_file(["rules_executorch::scaled_dot_product_attention.out"], ["attention", "attention:heads", "tensors:resize", "views:view_shape"]),
    "op_weight_only_linear": operator_file(["rules_executorch::weight_only_linear.out"], ["gemm:layouts", "math:vectorize", "parallel:block", "parallel:grain", "parallel:parallel_for", "tensors:convert", "tensors:resize"]),
    "op_winograd_convolution": operator_file(["rules_executorch::winograd_convolution.out"], ["convolution:epilogue", "convolution:winograd", "gemm:matmul", "views:memory_format"]),
}
