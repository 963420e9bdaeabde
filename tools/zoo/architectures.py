"""The architectures of the installed transformers, with the classes of the config and of the model with a head."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import transformers
from transformers.models.auto import configuration_auto, modeling_auto

# The kinds of models, and transformers' mappings with models of the kind. A model in several mappings belongs to the
# first one, so rare heads come before heads that most encoders have.
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
# The kinds of models without a head, by their main input.
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
        name: the name in transformers, `model_type` of the config.
        kind: the kind of the model; empty for a model without a head.
        family: the folder of transformers with the architecture. A folder may have several architectures.
        config: the name of the config's class.
        model: the name of the model's class.
    """

    name: str
    kind: str
    family: str
    config: str
    model: str

    def classes(self) -> tuple[type[Any], type[Any]]:
        """Returns the class of the config and the class of the model."""
        module = importlib.import_module(f"transformers.models.{self.family}")
        # Some architectures use classes of another family.
        config, model = (
            getattr(module, name) if hasattr(module, name) else getattr(transformers, name)
            for name in (self.config, self.model)
        )
        return config, model


def kind_of(architecture: Architecture, model: type[Any]) -> str:
    """Returns the kind of an architecture. `model` is the class of the model."""
    return architecture.kind or _KINDS.get(getattr(model, "main_input_name", ""), "other")


def find() -> Mapping[str, Architecture]:
    """Returns all architectures by name. The first architecture of each family comes before all others."""
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
