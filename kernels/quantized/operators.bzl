"""The quantized kernels: which file implements which operators, and which targets of kernels/common it includes."""

load("//kernels/common:operator_file.bzl", "operator_file")

# By the name of the file's target, sorted.
OPERATOR_FILES = {
    "op_dequantize_per_channel": operator_file(["quantized_decomposed::dequantize_per_channel.out"], ["dims", "quantization", "resize"]),
    "op_dequantize_per_tensor": operator_file(["quantized_decomposed::dequantize_per_tensor.Tensor_out", "quantized_decomposed::dequantize_per_tensor.out"], ["elementwise", "quantization", "resize"]),
    "op_dequantize_per_token": operator_file(["quantized_decomposed::dequantize_per_token.out"], ["quantization", "resize"]),
    "op_quantize_per_channel": operator_file(["quantized_decomposed::quantize_per_channel.out"], ["dims", "quantization", "resize"]),
    "op_quantize_per_tensor": operator_file(["quantized_decomposed::quantize_per_tensor.Tensor_out", "quantized_decomposed::quantize_per_tensor.out"], ["elementwise", "quantization", "resize", "vector_math"]),
    "op_quantize_per_token": operator_file(["quantized_decomposed::quantize_per_token.out"], ["quantization", "resize"]),
}
