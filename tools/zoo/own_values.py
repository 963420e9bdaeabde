"""Values of configs for architectures that the rules of shrinking.py do not cover."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from transformers import ResNetConfig

# A backbone of transformers, since timm is not a dependency of transformers.
_BACKBONE = ResNetConfig(embedding_size=8, hidden_sizes=[16, 32, 64, 128], depths=[2, 2, 2, 2], out_features=["stage4"])
_BACKBONE_OF_LEVELS = ResNetConfig(
    embedding_size=8, hidden_sizes=[16, 32, 64, 128], depths=[2, 2, 2, 2], out_features=["stage2", "stage3", "stage4"]
)
_FORECAST = {"prediction_length": 8, "context_length": 16, "lags_sequence": [1, 2, 3], "num_time_features": 1}

# The sections of a rotary head, in place of the defaults in the models' code.
_SECTIONS = {"text_config.rope_parameters": {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [2, 3, 3]}}

# Required arguments of config classes.
REQUIRED: Mapping[str, Mapping[str, Any]] = {
    "autoformer": _FORECAST,
    "conditional_detr": {"backbone_config": _BACKBONE},
    "dab-detr": {"backbone_config": _BACKBONE},
    "deformable_detr": {"backbone_config": _BACKBONE_OF_LEVELS},
    "detr": {"backbone_config": _BACKBONE},
    "gemma4_assistant": {"hidden_size_per_layer_input": 0},
    "informer": _FORECAST,
    "omdet-turbo": {"backbone_config": _BACKBONE_OF_LEVELS},
    "table-transformer": {"backbone_config": _BACKBONE},
    "time_series_transformer": _FORECAST,
}

# Values that replace those of the rules, by the attribute's name. Attributes of a part's config have the part's name
# and a dot before the name.
OF: Mapping[str, Mapping[str, Any]] = {
    "beit": {"num_hidden_layers": 4, "out_indices": [1, 2, 3, 4]},
    # The model's code needs in each stage at least as many layers as there are stages before it.
    "cvt": {"depth": [1, 2, 3]},
    "deepseek_v2": {"num_experts_per_tok": 2},
    "esm": {"vocab_size": 33},
    "glm46v": _SECTIONS,
    "glm4v": _SECTIONS,
    "glmga": _SECTIONS,
    "gpt_neo": {"num_layers": 2, "attention_types": [[["global", "local"], 1]]},
    "hunyuan_v1_dense": {"head_dim": 16},
    "hunyuan_v1_moe": {"head_dim": 16},
    "ministral": {"head_dim": 16},
    "nemotron": {"num_key_value_heads": 8},
    "paddleocr_vl": _SECTIONS,
    "qwen2_vl": _SECTIONS,
    "wav2vec2-bert": {"vocab_size": 32},
    "wav2vec2-conformer": {"vocab_size": 32},
}
