"""The files of optimized kernels, with the operators that each file implements and the targets that it needs."""

load("//kernels:operator_file.bzl", "operator_file")

# The keys are the names of the files' targets, sorted.
OPERATOR_FILES = {
    "op_activation": operator_file(["rules_executorch::activation.out"], ["elementwise", "math:activation", "tensors"]),
    "op_dynamic_linear": operator_file(["rules_executorch::dynamic_linear.out"], ["gemm:dynamic_product", "gemm:layouts", "math:divide_up", "optimized:dim_orders", "parallel:grain", "parallel:parallel_for", "quantize:row_quantization", "tensors", "tensors:convert"]),
    "op_fused_convolution": operator_file(["rules_executorch::fused_convolution.out"], ["convolution", "gemm:matmul", "math:activation", "optimized:dim_orders", "tensors"]),
    "op_image_mean": operator_file(["rules_executorch::image_mean.out"], ["optimized:dim_orders", "reduce"]),
    "op_linear": operator_file(["aten::linear.out"], ["gemm:matmul", "math:vectorize", "tensors", "tensors:convert", "views"]),
    "op_packed_convolution": operator_file(["rules_executorch::packed_convolution.out"], ["convolution/packed:convolution", "convolution/packed:plan", "convolution:epilogue", "optimized:dim_orders"]),
    "op_packed_embedding": operator_file(["rules_executorch::packed_embedding.out"], ["copy", "optimized:dim_orders", "parallel:grain", "tensors", "views"]),
    "op_packed_linear": operator_file(["rules_executorch::packed_linear.out"], ["copy", "gemm:float_panels", "gemm:packed_product", "math:activation", "optimized:dim_orders", "tensors", "views"]),
    "op_packed_recurrent": operator_file(["rules_executorch::packed_gru.out", "rules_executorch::packed_lstm.out", "rules_executorch::packed_rnn.out"], ["gemm:float_panels", "optimized:dim_orders", "recurrent", "tensors"]),
    "op_quantized_add": operator_file(["rules_executorch::quantized_add.out"], ["math:vector_math", "math:vectorize", "parallel:grain", "parallel:parallel_for", "quantize:quantization", "tensors", "views"]),
    "op_quantized_convolution": operator_file(["rules_executorch::quantized_convolution.out"], ["convolution:quantized", "gemm:integer_product", "gemm:matmul", "optimized:dim_orders", "tensors"]),
    "op_quantized_linear": operator_file(["rules_executorch::quantized_linear.out"], ["gemm:integer_product", "math:divide_up", "optimized:dim_orders", "parallel:grain", "parallel:parallel_for", "tensors"]),
    "op_quantized_lookup": operator_file(["rules_executorch::quantized_lookup.out"], ["math:byte_table", "optimized:dim_orders", "parallel:grain", "parallel:parallel_for", "tensors"]),
    "op_rms_norm": operator_file(["rules_executorch::rms_norm.out"], ["math:vectorize", "optimized:dim_orders", "parallel:grain", "parallel:parallel_for", "tensors", "tensors:convert"]),
    "op_scaled_dot_product_attention": operator_file(["rules_executorch::scaled_dot_product_attention.out"], ["attention", "attention:heads", "optimized:dim_orders", "tensors", "views"]),
    "op_weight_only_linear": operator_file(["rules_executorch::weight_only_linear.out"], ["gemm:weight_only_product", "optimized:dim_orders", "tensors", "tensors:convert"]),
    "op_winograd_convolution": operator_file(["rules_executorch::winograd_convolution.out"], ["convolution:epilogue", "convolution:winograd", "gemm:matmul", "optimized:dim_orders"]),
}
