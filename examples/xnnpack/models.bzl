"""The models of this folder, for its BUILD file and tools/bench."""

# Each model is built in floats and in 8 bits. min_snr is the least signal-to-noise ratio of the outputs in 8 bits, in decibels.
MODELS = {
    "bert": struct(
        deps = [],
        min_snr = "28",
        model = "bert.py",
        quantize = "xnnpack_int8",
    ),
    "mobilenet_v2": struct(
        deps = ["//examples/mobilenet_v2:model_py"],
        min_snr = "18",
        model = "mobilenet_v2.py",
        quantize = "xnnpack_int8",
    ),
    "tiny_llama": struct(
        deps = [],
        min_snr = "30",
        model = "//examples/tiny_llama:model.py",
        quantize = "xnnpack_int8_dynamic",
    ),
}
