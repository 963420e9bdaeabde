"""Shrinks configs. A model keeps its structure, and gets few and narrow layers, a small vocabulary and small images.

The rules use the names of attributes, which transformers' configs share. All widths shrink by the same factor, so that
equal widths stay equal and multiples stay multiples. The number of heads stays.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from transformers import PreTrainedConfig

WORDS = 512
IMAGE = 64
_FACTOR = 8
# Smaller widths do not shrink.
_NARROW = 64
_LAYERS = 2
# The patches in a row of an image, if patches are large.
_PATCHES = 4
_POSITIONS = 128
_LARGE_PATCH = 14

_WIDTH = re.compile(
    r"(^|_)(hidden_sizes?|hidden_dims?|d_model|d_ff|d_kv|d_inner|d_head|dims?|rank|n_embd|n_inner|embedding_sizes?|embed_dims?"
    r"|intermediate_sizes?|channels?|output_size|proj_size|projection_size|pooler_output_size|num_filters|units|width"
    r"|groups_width|hidden_channels|num_pos_feats|head_size|channel_list|neck_hidden_sizes|query_pre_attn_scalar"
    r"|mrope_section|output_sizes?|feature_sizes?)$"
)
_NO_WIDTH = re.compile(r"num_channels|vocab|codebook|quantization_dim|max_|num_mel|audio_channels|latent_channels")
_DEPTH = re.compile(
    r"(^|_)((num|n)_(\w+_)?layers?|layers|depths?|(num|n)_(\w+_)?blocks|num_block_repeats|layer_depths|stage_num_blocks)$"
)
_NO_DEPTH = re.compile(
    r"feat_extract|conv_layers|max_depth|min_depth|proj_layers|num_feature|per_layer|kv_shared|no_rope"
)
_EXPERTS = re.compile(r"(^|_)(num_experts|num_local_experts|n_routed_experts|moe_num_experts|num_routed_experts)$")
_POSITION = re.compile(
    r"^(max_position_embeddings|n_positions|max_(source|target)_positions|max_seq_len|max_sequence_length|n_ctx|seq_length"
    r"|\w+_max_position_embeddings)$"
)
_IMAGE = re.compile(r"(^|_)(image_size|img_size|pretrain_image_size|crop_size|max_img_size)$")
_TOKEN = re.compile(r"(_token_(id|index)|_token_ids|_token|_index)$")
# Attributes with the indices of layers whose outputs are used.
_PLACES = re.compile(r"(^|_)(indices|indexes|vision_feature_layers?|insert_layers)$")
_MOST = {
    "num_experts_per_tok": 2,
    "num_experts_per_token": 2,
    "top_k_experts": 2,
    "moe_topk": 2,
    "moe_k": 2,
    "n_group": 2,
    "num_expert_group": 2,
    "topk_group": 1,
    "first_k_dense_replace": 1,
    "num_dense_layers": 1,
    "sliding_window": 8,
    "sliding_window_size": 8,
    "attention_chunk_size": 8,
    "index_topk": 8,
    "attention_window": 16,
    "num_queries": 20,
    "num_frames": 4,
    "frames_per_clip": 4,
    "num_nextn_predict_layers": 0,
}
_LARGEST_EXPERTS = 8


@dataclasses.dataclass(frozen=True)
class Extent:
    """The parts that shrink, besides the number of layers, experts and words.

    Attributes:
        widths: whether widths shrink.
        images: whether images and windows shrink.
    """

    widths: bool = True
    images: bool = True


# Some convolutional networks have widths that are not in the config, and some windows need images of one size.
EXTENTS = (Extent(), Extent(widths=False), Extent(images=False), Extent(widths=False, images=False))


def shrink(
    config: PreTrainedConfig, own: Mapping[str, Any] | None = None, extent: Extent = EXTENTS[0]
) -> PreTrainedConfig:
    """Returns a smaller config of the same class.

    Args:
        config: the default config of its class.
        own: values that replace those of the rules, by the attribute's name. Attributes of a part's config have the
            part's name and a dot before the name.
        extent: the parts that shrink.
    Raises:
        Exception: any exception of the class for inconsistent values.
    """
    return _shrunk(config, own or {}, _Rules(extent, _tokens(config)))


@dataclasses.dataclass(frozen=True)
class _Rules:
    """The parameters of the rules.

    Attributes:
        extent: the parts that shrink.
        tokens: the new ids of special tokens.
    """

    extent: Extent
    tokens: Mapping[int, int]


def _tokens(config: PreTrainedConfig) -> Mapping[int, int]:
    """Returns new ids of the special tokens, in the smaller vocabulary. Equal ids stay equal."""
    numbers = sorted({number for part in parts(config) for number in _special(part) if number >= WORDS})
    taken = {number for part in parts(config) for number in _special(part)}
    free = iter([number for number in range(WORDS - 1, 0, -1) if number not in taken])
    return {number: next(free) for number in numbers}


def parts(config: PreTrainedConfig) -> Iterator[PreTrainedConfig]:
    """Yields a config and its nested configs."""
    yield config
    for value in vars(config).values():
        if isinstance(value, PreTrainedConfig):
            yield from parts(value)


def _special(config: PreTrainedConfig) -> Iterator[int]:
    for name, value in vars(config).items():
        if _TOKEN.search(name):
            yield from (one for one in _list(value) if _is_number(one))


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, (list, tuple)) else [value]


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _shrunk(config: PreTrainedConfig, own: Mapping[str, Any], rules: _Rules) -> PreTrainedConfig:
    kind = type(config)
    fields = {field.name for field in dataclasses.fields(kind)}
    try:
        usual: Mapping[str, Any] = vars(kind())
    except Exception:
        usual = {}
    kept = _kept_layers(config)
    values: dict[str, Any] = {}
    for name, value in vars(config).items():
        if isinstance(value, PreTrainedConfig):
            of_part = {key.removeprefix(f"{name}."): one for key, one in own.items() if key.startswith(f"{name}.")}
            values[name] = _shrunk(value, of_part, rules)
        elif name in fields:
            new = _value(config, name, value, kept, rules)
            if name not in usual or new != usual[name]:
                values[name] = new
    places = getattr(config, "_out_indices", None)
    if places:
        # Only indices are set, since the names of layers contain their numbers.
        values["out_indices"] = list(places) if _has_stages(config) else list(range(1, len(places) + 1))
    values |= {name: value for name, value in own.items() if "." not in name}
    return kind(**values)


def _has_stages(config: PreTrainedConfig) -> bool:
    """Returns whether the stages of a backbone are groups of layers. The number of such stages stays."""
    return len(getattr(config, "stage_names", ())) <= 6  # The stem and five stages.


def _layers(config: PreTrainedConfig) -> int | None:
    count = getattr(config, "num_hidden_layers", None)
    return count if isinstance(count, int) else None


def _kept_layers(config: PreTrainedConfig) -> Sequence[int]:
    """Returns the layers to keep: one of each type, at least two, and at least as many as indices refer to."""
    count = _layers(config)
    if count is None:
        return range(_LAYERS)
    if _counts_stages(config, count):
        return range(count)
    lists = [value for value in vars(config).values() if isinstance(value, (list, tuple)) and len(value) == count]
    sorts = list(zip(*lists, strict=True)) if lists else [()] * count
    first = [i for i in range(count) if all(isinstance(one, (str, int, bool, float, type(None))) for one in sorts[i])]
    first = [i for i in first if sorts[i] not in sorts[:i]]
    asked = [len(value) for name, value in vars(config).items() if _is_place_list(name, value)]
    if not _has_stages(config):
        asked.append(len(getattr(config, "_out_indices", None) or ()))
    others = [i for i in range(count) if i not in first]
    least = max([_LAYERS, *asked])
    return sorted([*first, *others[: max(0, least - len(first))]])


def _is_place_list(name: str, value: Any) -> bool:
    return bool(_PLACES.search(name)) and isinstance(value, (list, tuple)) and not name.startswith("_")


def _value(config: PreTrainedConfig, name: str, value: Any, kept: Sequence[int], rules: _Rules) -> Any:
    count = _layers(config)
    if name == "num_hidden_layers" and _is_number(value):
        return min(value, len(kept))
    if isinstance(value, (list, tuple)) and count is not None and len(value) == count > len(kept):
        return type(value)(value[i] for i in kept)
    if _is_place_list(name, value):
        return type(value)(range(len(value))) if all(_is_number(one) and one >= 0 for one in value) else value
    if isinstance(value, (list, tuple)):
        numbers = bool(value) and all(map(_is_number, value))
        if numbers and _is_width(name):
            return type(value)(_narrow(value)) if rules.extent.widths else value
        return type(value)(_number(config, name, one, rules) for one in value) if numbers else value
    if isinstance(value, dict) and "mrope_section" in value and rules.extent.widths:
        return {**value, "mrope_section": _sections(value["mrope_section"])}
    return _number(config, name, value, rules) if _is_number(value) else value


def _is_width(name: str) -> bool:
    return bool(_WIDTH.search(name)) and not _NO_WIDTH.search(name)


def _sections(sizes: Sequence[int]) -> list[int]:
    """Shrinks the sections of a head. The sum is the size of the smaller head."""
    smaller = [size // _FACTOR for size in sizes]
    for i in range(sum(sizes) // _FACTOR - sum(smaller)):
        smaller[i] += 1
    return smaller


def _counts_stages(config: PreTrainedConfig, value: int) -> bool:
    """Returns whether a number is the number of stages of a network: the length of a list in the config."""
    lists = (getattr(config, name, None) for name in ("depths", "hidden_sizes", "strides", "patch_sizes"))
    return any(isinstance(one, (list, tuple)) and len(one) == value for one in lists)


def _narrow(widths: Sequence[int]) -> Sequence[int]:
    for factor in (_FACTOR, _FACTOR // 2, 2):
        if all(width % factor == 0 and width // factor > 1 for width in widths) and max(widths) >= 2 * _FACTOR:
            return [width // factor for width in widths]
    return widths


def _number(config: PreTrainedConfig, name: str, value: int, rules: _Rules) -> int:
    if name in _MOST:
        return min(value, _MOST[name])
    if "vocab_size" in name or name in ("n_words",):
        return min(value, WORDS)
    if _TOKEN.search(name):
        return rules.tokens.get(value, value)
    if _EXPERTS.search(name):
        return min(value, _LARGEST_EXPERTS)
    if _POSITION.search(name):
        return min(value, _POSITIONS)
    if _IMAGE.search(name) and rules.extent.images:
        patch = max([one for one in _list(getattr(config, "patch_size", 1)) if _is_number(one)], default=1)
        return min(value, _PATCHES * patch if patch >= _LARGE_PATCH else IMAGE)
    if _DEPTH.search(name) and not _NO_DEPTH.search(name):
        return value if _counts_stages(config, value) else min(value, _LAYERS)
    if rules.extent.widths and _is_width(name) and value >= _NARROW and value % (2 * _FACTOR) == 0:
        return value // _FACTOR
    return value
