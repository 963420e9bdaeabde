"""The models of this folder: what the BUILD file and tools/bench say of each."""

load("//rules:defs.bzl", "executorch_generated_lib")

# The models of which `tools/bazel test //...` runs the tests; //:slow has those of the others.
SAMPLE = [
    "lstm",
    "qwen2_dynamic",
]

def kernels_library(name, quantized, kernels = "portable", **kwargs):
    """A library of the kernels that a model needs.

    Args:
      name: str
      quantized: bool, whether kernels/quantized has more of them.
      kernels: str, the folder of the others: portable or optimized.
      **kwargs: as executorch_generated_lib takes them.
    """
    executorch_generated_lib(
        name = name,
        kernel_deps = ["//kernels/{}:operators".format(kernels)] + (["//kernels/quantized:operators"] if quantized else []),
        **kwargs
    )

def _model(
        deps = [],
        dtype_selective_build = False,
        full_size = True,
        full_size_tolerance = None,
        min_snr = "0",
        quantized = False,
        tolerance = "1e-5"):
    """What differs between models.

    Args:
      deps: list[str], Python libraries that <name>.py imports besides torch, executorch and transformers.
      dtype_selective_build: bool, whether the kernels of the test are compiled for the model's dtypes only.
      full_size: bool, whether <name>.py has a get_full_size_model(), because get_model() is cut down.
      full_size_tolerance: str, in place of `tolerance` at the full size.
      min_snr: str, in decibels, in place of `tolerance` with all graph passes.
      quantized: bool, whether the program has operators of quantized_decomposed.
      tolerance: str, absolute and relative.
    Returns:
      A struct of these.
    """
    return struct(
        deps = deps,
        dtype_selective_build = dtype_selective_build,
        full_size = full_size,
        full_size_tolerance = full_size_tolerance or tolerance,
        min_snr = min_snr,
        quantized = quantized,
        tolerance = tolerance,
    )

# Models whose programs come with all graph passes as well: the model file, by name.
WITH_ALL_PASSES = {
    "bert_base": "bert_base.py",
    "clip_half": "clip_half.py",
    "convnext_tiny": "convnext_tiny.py",
    "efficientnet_b0": "efficientnet_b0.py",
    "gemma3_bfloat16": "gemma3_bfloat16.py",
    "gpt2_small": "gpt2_small.py",
    "lstm": "lstm.py",
    "minilm_weights": "minilm_weights.py",
    "mobilenet_v2": "mobilenet_v2.py",
    "mobilenet_v2_bfloat16": "mobilenet_v2_bfloat16.py",
    "mobilenet_v2_quantized": "mobilenet_v2_quantized.py",
    "qwen2_dynamic": "qwen2_dynamic.py",
    "resnet18": "resnet18.py",
    "resnet18_half": "resnet18_half.py",
    "resnet18_quantized": "resnet18_quantized.py",
    "tiny_llama": "//examples/tiny_llama:model.py",
    "unet": "unet.py",
    "vit_s": "vit_s.py",
    "whisper_tiny_encoder": "whisper_tiny_encoder.py",
}

# By the name of the Python file.
MODELS = {
    "bert_base": _model(),
    "clip_half": _model(
        dtype_selective_build = True,
        tolerance = "1e-2",
    ),
    "convnext_tiny": _model(),
    "gemma3_bfloat16": _model(
        dtype_selective_build = True,
        # 18 layers of roundings. PyTorch's own logits differ by 0.061 between AVX-512 and SSE 4.1, and by 0.056 from those
        # in Float; they are 0.5 in the root mean square.
        full_size_tolerance = "8e-2",
        # PyTorch's logits are 40 dB from those in Float. Those of the passes, which round less often, are 41 dB from PyTorch's.
        min_snr = "38",
        tolerance = "2e-2",
    ),
    "gpt2_small": _model(),
    "lstm": _model(full_size = False),
    "minilm": _model(),
    "mobilenet_v2": _model(
        deps = ["//examples/mobilenet_v2:model_py"],
        full_size = False,
        tolerance = "1e-4",
    ),
    "qwen2_dynamic": _model(full_size = False),
    "resnet18": _model(),
    "resnet18_quantized": _model(
        deps = [
            "//examples/models:resnet18_py",
            "@executorch_python//:torchao",
        ],
        quantized = True,
        tolerance = "1e-2",
    ),
    "t5_small": _model(),
    "unet": _model(deps = ["//examples/mobilenet_v2:model_py"]),
    "vit_s": _model(),
    "vit_s_quantized": _model(
        deps = [
            "//examples/models:vit_s_py",
            "@executorch_python//:torchao",
        ],
        dtype_selective_build = True,
        full_size = False,
        quantized = True,
        tolerance = "1e-2",
    ),
    "whisper_tiny_encoder": _model(),
}

# Models whose programs are here with all graph passes only.
ONLY_WITH_ALL_PASSES = {
    "efficientnet_b0": _model(),
    "minilm_weights": _model(
        deps = [
            "//examples/models:minilm_py",
            "@executorch_python//:torchao",
        ],
    ),
    "mobilenet_v2_bfloat16": _model(
        deps = [
            "//examples/mobilenet_v2:model_py",
            "//examples/models:mobilenet_v2_py",
        ],
        # 52 layers of roundings, and random weights: PyTorch's logits are 21 dB from those in Float, those of the passes, with
        # batch norms rounded into weights, 20 dB, and 17 dB from PyTorch's.
        min_snr = "14",
    ),
    "mobilenet_v2_quantized": _model(
        deps = [
            "//examples/mobilenet_v2:model_py",
            "@executorch_python//:torchao",
        ],
        # Without FMA, some bytes differ by a step, and each changes many of the layers after it.
        min_snr = "20",
    ),
    "resnet18_half": _model(
        deps = ["//examples/models:resnet18_py"],
        min_snr = "50",
    ),
}
