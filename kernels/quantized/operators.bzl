"""The files of quantized kernels, with the operators that each file implements and the targets that it needs."""

load("//kernels:operator_file.bzl", "operator_file")

# The keys are the names of the files' targets, sorted.
OPERATOR_FILES = {
    "op_add": operator_file(["quantized_decomposed::add.out"], ["math:vector_math", "quantize:quantization", "tensors"]),
    "op_choose_qparams": operator_file(["quantized_decomposed::choose_qparams.Tensor_out"], ["math:extremes", "math:vector_math", "quantize:quantization", "reduce", "tensors"]),
    "op_choose_qparams_per_token_asymmetric": operator_file(["quantized_decomposed::choose_qparams_per_token_asymmetric.out"], ["math:extremes", "math:vector_math", "parallel:parallel_for", "quantize:quantization", "reduce", "tensors", "views"]),
    "op_dequantize_per_channel": operator_file(["quantized_decomposed::dequantize_per_channel.out"], ["quantize:quantization", "tensors"]),
    "op_dequantize_per_tensor": operator_file(["quantized_decomposed::dequantize_per_tensor.Tensor_out", "quantized_decomposed::dequantize_per_tensor.out"], ["elementwise", "quantize:quantization", "tensors"]),
    "op_dequantize_per_token": operator_file(["quantized_decomposed::dequantize_per_token.out"], ["quantize:quantization", "tensors"]),
    "op_embedding_2bit": operator_file(["quantized_decomposed::embedding_2bit.dtype_out", "quantized_decomposed::embedding_2bit.out"], ["quantize:quantized_embedding"]),
    "op_embedding_4bit": operator_file(["quantized_decomposed::embedding_4bit.dtype_out", "quantized_decomposed::embedding_4bit.out"], ["quantize:quantized_embedding"]),
    "op_embedding_byte": operator_file(["quantized_decomposed::embedding_byte.dtype_out", "quantized_decomposed::embedding_byte.out"], ["quantize:quantized_embedding"]),
    "op_mixed_linear": operator_file(["quantized_decomposed::mixed_linear.out"], ["gemm:matmul", "math:vectorize", "tensors", "tensors:convert", "views"]),
    "op_mixed_mm": operator_file(["quantized_decomposed::mixed_mm.out"], ["gemm:matmul", "math:vectorize", "tensors", "tensors:convert", "views"]),
    "op_quantize_per_channel": operator_file(["quantized_decomposed::quantize_per_channel.out"], ["quantize:quantization", "tensors"]),
    "op_quantize_per_tensor": operator_file(["quantized_decomposed::quantize_per_tensor.Tensor_out", "quantized_decomposed::quantize_per_tensor.out"], ["math:vector_math", "quantize:quantization", "tensors"]),
    "op_quantize_per_token": operator_file(["quantized_decomposed::quantize_per_token.out"], ["quantize:quantization", "tensors"]),
}
