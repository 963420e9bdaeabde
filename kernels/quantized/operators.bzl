"""The quantized kernels: which file implements which operators, and which targets of kernels/common it includes."""

load("//kernels/common:operator_file.bzl", "operator_file")

# By the name of the file's target, sorted.
OPERATOR_FILES = {
    "op_add": operator_file(["quantized_decomposed::add.out"], ["quantization", "resize", "vector_math"]),
    "op_choose_qparams": operator_file(["quantized_decomposed::choose_qparams.Tensor_out"], ["extremes", "min_max", "quantization", "resize", "vector_math"]),
    "op_choose_qparams_per_token_asymmetric": operator_file(["quantized_decomposed::choose_qparams_per_token_asymmetric.out"], ["extremes", "loop_nest", "min_max", "parallel_for", "quantization", "resize", "strided_view", "vector_math"]),
    "op_dequantize_per_channel": operator_file(["quantized_decomposed::dequantize_per_channel.out"], ["dims", "quantization", "resize"]),
    "op_dequantize_per_tensor": operator_file(["quantized_decomposed::dequantize_per_tensor.Tensor_out", "quantized_decomposed::dequantize_per_tensor.out"], ["elementwise", "quantization", "resize"]),
    "op_dequantize_per_token": operator_file(["quantized_decomposed::dequantize_per_token.out"], ["quantization", "resize"]),
    "op_embedding_2bit": operator_file(["quantized_decomposed::embedding_2bit.dtype_out", "quantized_decomposed::embedding_2bit.out"], ["quantized_embedding"]),
    "op_embedding_4bit": operator_file(["quantized_decomposed::embedding_4bit.dtype_out", "quantized_decomposed::embedding_4bit.out"], ["quantized_embedding"]),
    "op_embedding_byte": operator_file(["quantized_decomposed::embedding_byte.dtype_out", "quantized_decomposed::embedding_byte.out"], ["quantized_embedding"]),
    "op_mixed_linear": operator_file(["quantized_decomposed::mixed_linear.out"], ["convert", "matmul", "resize", "strided_view", "vectorize"]),
    "op_mixed_mm": operator_file(["quantized_decomposed::mixed_mm.out"], ["convert", "matmul", "resize", "strided_view", "vectorize"]),
    "op_quantize_per_channel": operator_file(["quantized_decomposed::quantize_per_channel.out"], ["dims", "quantization", "resize"]),
    "op_quantize_per_tensor": operator_file(["quantized_decomposed::quantize_per_tensor.Tensor_out", "quantized_decomposed::quantize_per_tensor.out"], ["quantization", "resize", "vector_math"]),
    "op_quantize_per_token": operator_file(["quantized_decomposed::quantize_per_token.out"], ["quantization", "resize"]),
}
