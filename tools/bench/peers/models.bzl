"""The models and operators of peers_bench."""

def _model(
        title,
        model,
        deps = [],
        entry_point = "get_model",
        quantize = "",
        min_snr = 0,
        tolerance = 1e-4,
        without = {},
        work = None,
        has_gguf = False):
    """Defines a row of the table.

    Args:
      title: str, the title in the table.
      model: label, the Python file.
      deps: list[label], Python libraries that the file imports.
      entry_point: str, function in the file.
      quantize: str, recipe of executorch_program; empty for none.
      min_snr: int, the lowest signal-to-noise ratio of a quantized program's outputs, in decibels.
      tolerance: float, the absolute and relative tolerance of other programs' outputs.
      without: dict[str, str], the columns (aoti, xnnpack) without a program of the model, with the reasons.
      work: struct, for a row of one operator: `gflop` or `gigabytes` of a call, and `goal`, the share of the machine's peak.
      has_gguf: bool, whether llama.cpp runs the model.
    Returns:
      A struct of the arguments.
    """
    return struct(
        deps = deps,
        entry_point = entry_point,
        has_gguf = has_gguf,
        min_snr = min_snr,
        model = model,
        quantize = quantize,
        title = title,
        tolerance = tolerance,
        without = without,
        work = work,
    )

_NO_RECIPE = {"aoti": "no quantization recipe for this peer"}

_BERT = struct(
    model = "//tools/bench/peers:bert.py",
    deps = ["//examples/models:minilm_py"],
)

# ExecuTorch repeats the cell for each time step: thousands of calls, whose export takes minutes.
_UNROLLED = {"xnnpack": "ExecuTorch has a call for each operation of each time step"}

_MOBILENET = struct(
    model = "//examples/models:mobilenet_v2.py",
    deps = ["//examples/mobilenet_v2:model_py"],
)

MODELS = {
    "bert": _model(
        "BERT-shaped encoder, 6x384, 32 tokens",
        model = _BERT.model,
        deps = _BERT.deps,
    ),
    "mobilenet_v2": _model(
        "MobileNetV2 1.0, 224",
        model = _MOBILENET.model,
        deps = _MOBILENET.deps,
    ),
    "resnet18": _model(
        "ResNet-18, 224",
        entry_point = "get_full_size_model",
        model = "//examples/models:resnet18.py",
    ),
    "vit_s": _model(
        "ViT-S/16, 224",
        entry_point = "get_full_size_model",
        model = "//examples/models:vit_s.py",
    ),
    "gpt2_small": _model(
        "GPT-2 small, 32 tokens",
        entry_point = "get_full_size_model",
        model = "//examples/models:gpt2_small.py",
    ),
    "whisper_tiny": _model(
        "Whisper-tiny encoder, 30 s",
        entry_point = "get_full_size_model",
        model = "//examples/models:whisper_tiny_encoder.py",
    ),
    "llama_token": _model(
        "Llama, 12x768, one token with a cache",
        entry_point = "get_token_model",
        model = "//tools/bench/peers:llama.py",
    ),
    "llama_token_4bit": _model(
        "Llama, 12x768, one token with a cache, 4-bit weights",
        entry_point = "get_4bit_token_model",
        has_gguf = True,
        # llama.cpp rounds weights and activations otherwise than torchao.
        min_snr = 15,
        model = "//tools/bench/peers:llama.py",
        without = _NO_RECIPE,
    ),
    "llama_prompt": _model(
        "Llama, 12x768, prompt of 128 tokens",
        entry_point = "get_prompt_model",
        model = "//tools/bench/peers:llama.py",
    ),
    "regnet": _model(
        "RegNetY-400MF, 224, groups of 8",
        model = "//tools/bench/peers:regnet.py",
    ),
    "swin_t": _model(
        "Swin-T, 224",
        model = "//tools/bench/peers:swin.py",
    ),
    "wav2vec2": _model(
        "wav2vec2-base, 1 s",
        entry_point = "get_wav2vec2_model",
        model = "//tools/bench/peers:sound.py",
    ),
    "encodec": _model(
        "EnCodec's encoder, 24 kHz, 1 s",
        entry_point = "get_encodec_model",
        model = "//tools/bench/peers:sound.py",
    ),
    "voice": _model(
        "Voice encoder, LSTM 3x256, 160 steps",
        entry_point = "get_voice_model",
        model = "//tools/bench/peers:recurrent.py",
        without = _UNROLLED,
    ),
    "letters": _model(
        "CRNN's LSTM 2x256, both directions, 24 steps",
        entry_point = "get_letters_model",
        model = "//tools/bench/peers:recurrent.py",
        without = _UNROLLED,
    ),
    "gru": _model(
        "GRU 2x256, both directions, 100 steps",
        entry_point = "get_gru_model",
        model = "//tools/bench/peers:recurrent.py",
        without = _UNROLLED,
    ),
    "bart": _model(
        "BART-base, 32 tokens to 16",
        model = "//tools/bench/peers:bart.py",
    ),
    "distilbert": _model(
        "DistilBERT, 96 of 128 tokens",
        model = "//tools/bench/peers:distilbert.py",
    ),
    "mobilenet_v3": _model(
        "MobileNetV3-Large, 224",
        model = "//tools/bench/peers:mobilenet_v3.py",
    ),
    "video": _model(
        "R(2+1)D-18, 8 frames of 112",
        model = "//tools/bench/peers:video.py",
    ),
    "dlrm": _model(
        "DLRM, 26 tables, batch of 128",
        model = "//tools/bench/peers:dlrm.py",
    ),
    "mamba": _model(
        "Mamba, 4x384, 64 tokens",
        model = "//tools/bench/peers:mamba.py",
    ),
    "mobilenet_v2_int8": _model(
        "MobileNetV2 1.0, 224, int8",
        # With random weights, each layer amplifies the quantization noise of 8 bits.
        min_snr = 3,
        without = _NO_RECIPE,
        model = _MOBILENET.model,
        quantize = "xnnpack_int8",
        deps = _MOBILENET.deps,
    ),
    "bert_int8": _model(
        "BERT-shaped encoder, 6x384, 32 tokens, int8",
        min_snr = 15,
        without = _NO_RECIPE,
        model = _BERT.model,
        quantize = "xnnpack_int8",
        deps = _BERT.deps,
    ),
}

def _operator(title, entry_point, **work):
    return _model(title, model = "//tools/bench/peers:operators.py", entry_point = entry_point, work = struct(**work))

_MIB16 = 16 * 1024 * 1024 / 1e9

# Operators as programs of one operator, or of one several times, with the share of the machine's peak that is the goal.
OPERATORS = {
    "op_mm": _operator("mm 512x512x512", "get_mm", gflop = 2 * 512 * 512 * 512 / 1e9, goal = 0.85),
    "op_linear": _operator("linear 32x384x1536", "get_linear", gflop = 2 * 32 * 384 * 1536 / 1e9, goal = 0.85),
    "op_conv": _operator("convolution 3x3, 64x56x56 to 64", "get_conv", gflop = 2 * 64 * 64 * 9 * 56 * 56 / 1e9, goal = 0.6),
    "op_conv1d": _operator(
        "convolution 3, 512x3199 to 512, stride 2",
        "get_conv1d",
        gflop = 2 * 512 * 512 * 3 * 1599 / 1e9,
        goal = 0.6,
    ),
    "op_conv3d": _operator(
        "convolution 3x3x3, 64x8x28x28 to 64",
        "get_conv3d",
        gflop = 2 * 64 * 64 * 27 * 8 * 28 * 28 / 1e9,
        goal = 0.8,
    ),
    "op_conv3d_slices": _operator(
        "convolution 1x3x3, 64x8x56x56 to 144",
        "get_conv3d_slices",
        gflop = 2 * 64 * 144 * 9 * 8 * 56 * 56 / 1e9,
        goal = 0.8,
    ),
    "op_conv3d_depth": _operator(
        "convolution 3x1x1, 144x8x56x56 to 64",
        "get_conv3d_depth",
        gflop = 2 * 144 * 64 * 3 * 8 * 56 * 56 / 1e9,
        goal = 0.7,
    ),
    "op_grouped_convs": _operator(
        "8 convolutions 3x3, 104x28x28, groups of 8",
        "get_grouped_convs",
        gflop = 8 * 2 * 104 * 8 * 9 * 28 * 28 / 1e9,
        goal = 0.35,
    ),
    "op_add": _operator("add, 16 MB", "get_add", gigabytes = 3 * _MIB16, goal = 0.8),
    "op_exp": _operator("exp, 16 MB", "get_exp", gigabytes = 2 * _MIB16, goal = 0.8),
    "op_softmax": _operator("softmax, 16 MB", "get_softmax", gigabytes = 2 * _MIB16, goal = 0.8),
}

def described():
    """Returns all models and operators as JSON, for Python.

    Returns:
      A string.
    """
    rows = {
        name: {
            "entry_point": model.entry_point,
            "file": model.model.removeprefix("//").replace(":", "/"),
            "has_gguf": model.has_gguf,
            "min_snr": model.min_snr,
            "quantize": model.quantize,
            "title": model.title,
            "tolerance": model.tolerance,
            "without": model.without,
        } | ({"work": model.work} if model.work else {})
        for name, model in (MODELS | OPERATORS).items()
    }
    return json.encode_indent(rows, indent = "  ")
