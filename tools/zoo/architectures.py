"""The architectures of the installed transformers: for each, the class of its config and of the model with a head."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import transformers
from transformers.models.auto import configuration_auto, modeling_auto

# What a model is for, and the mappings of transformers that hold such models. A model in several belongs to the first,
# so heads that few other models have come before those of which most encoders have one.
_MAPPINGS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("detection", ("OBJECT_DETECTION", "ZERO_SHOT_OBJECT_DETECTION")),
    ("image and text", ("MULTIMODAL_LM", "IMAGE_TEXT_TO_TEXT", "VISUAL_QUESTION_ANSWERING", "RETRIEVAL")),
    ("segmentation", ("UNIVERSAL_SEGMENTATION", "INSTANCE_SEGMENTATION", "IMAGE_SEGMENTATION", "MASK_GENERATION")),
    ("dense images", ("DEPTH_ESTIMATION", "NORMAL_ESTIMATION", "POINTMAP_ESTIMATION", "IMAGE_MATTING")),
    ("dense images", ("IMAGE_TO_IMAGE",)),
    ("segmentation", ("SEMANTIC_SEGMENTATION",)),
    ("keypoints", ("KEYPOINT_DETECTION", "KEYPOINT_MATCHING", "POSE_ESTIMATION")),
    ("video", ("VIDEO_CLASSIFICATION",)),
    ("images", ("IMAGE_CLASSIFICATION", "TEXT_RECOGNITION", "TABLE_RECOGNITION", "CAUSAL_IMAGE_MODELING")),
    ("audio", ("SPEECH_SEQ_2_SEQ", "CTC", "RNNT", "TDT", "AUDIO_CLASSIFICATION", "TEXT_TO_SPECTROGRAM")),
    ("audio", ("TEXT_TO_WAVEFORM",)),
    ("time series", ("TIME_SERIES_PREDICTION", "TIME_SERIES_REGRESSION", "TIME_SERIES_CLASSIFICATION")),
    ("text to text", ("SEQ_TO_SEQ_CAUSAL_LM",)),
    ("encoder", ("MASKED_LM", "TABLE_QUESTION_ANSWERING")),
    ("decoder", ("CAUSAL_LM",)),
    ("images", ("BACKBONE", "IMAGE")),
    ("other", ("DECISION",)),
)
# Of models without a head: what they are for, by what they take first.
_KINDS = {
    "pixel_values": "images",
    "pixel_values_videos": "video",
    "input_values": "audio",
    "input_features": "audio",
    "past_values": "time series",
    "input_ids": "encoder",
}


@dataclass(frozen=True)
class Architecture:
    """One architecture.

    Attributes:
        name: what transformers calls it, `model_type` of its config.
        kind: what its model is for; empty for a model without a head.
        family: the folder of transformers that defines it; several architectures may be in one.
        config: the name of the class of its config.
        model: the name of the class of its model.
    """

    name: str
    kind: str
    family: str
    config: str
    model: str

    def classes(self) -> tuple[type[Any], type[Any]]:
        """The class of the config and that of the model."""
        module = importlib.import_module(f"transformers.models.{self.family}")
        # Some take the classes of another family.
        config, model = (
            getattr(module, name) if hasattr(module, name) else getattr(transformers, name)
            for name in (self.config, self.model)
        )
        return config, model


def kind_of(architecture: Architecture, model: type[Any]) -> str:
    """What an architecture is for, of a model whose class is loaded."""
    return architecture.kind or _KINDS.get(getattr(model, "main_input_name", ""), "other")


def find() -> Mapping[str, Architecture]:
    """All architectures by their names, the first of each family before the others."""
    both = modeling_auto.MODEL_FOR_ZERO_SHOT_IMAGE_CLASSIFICATION_MAPPING_NAMES
    found = {name: ("image and text", _first(classes)) for name, classes in both.items()}
    for kind, mappings in _MAPPINGS:
        for mapping in mappings:
            for name, classes in getattr(modeling_auto, f"MODEL_FOR_{mapping}_MAPPING_NAMES").items():
                found.setdefault(name, (kind, _first(classes)))
    for mapping in ("MODEL_MAPPING_NAMES", "MODEL_FOR_PRETRAINING_MAPPING_NAMES"):
        for name, classes in getattr(modeling_auto, mapping).items():
            found.setdefault(name, ("", _first(classes)))
    first: dict[str, Architecture] = {}
    others: dict[str, Architecture] = {}
    families: set[str] = set()
    for name, config in configuration_auto.CONFIG_MAPPING_NAMES.items():
        if name in found:
            kind, model = found[name]
            family = configuration_auto.model_type_to_module_name(name)
            (others if family in families else first)[name] = Architecture(name, kind, family, config, model)
            families.add(family)
    return {**first, **others}


def _first(classes: str | tuple[str, ...]) -> str:
    return classes if isinstance(classes, str) else classes[0]
