"""Makes inputs for a model from its signature and its config.

A config does not determine the inputs, so there are several guesses, the most likely first. The first guess that the
eager model accepts is used.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch

Inputs = Mapping[str, torch.Tensor]

_LENGTH = 16
_DECODED = 8
_SIZES = (64, 128, 224)
_SAMPLES = 8000
_FRAMES = 64
# The largest number of guesses.
_MOST_GUESSES = 24
# The names of inputs with sound.
_SOUND = ("input_features", "input_values")


class _Guesses:
    """Guesses of each input, by the input's name."""

    def __init__(self, config: Any, kind: str, seed: int) -> None:
        self._config, self._kind = config, kind
        self._generator = torch.Generator().manual_seed(seed)
        self._parts = [config, *(value for value in vars(config).values() if hasattr(value, "sub_configs_defaults"))]

    def of(self, name: str) -> Sequence[torch.Tensor]:
        """Returns guesses of an input; empty if the input is unknown."""
        function: Callable[[], Sequence[torch.Tensor]] | None = getattr(self, f"_{name}", None)
        return function() if function else ()

    def _get(self, *names: str, default: int) -> int:
        """Returns the value of the first of some attributes that the config or one of its parts has."""
        for name in names:
            for part in self._parts:
                value = getattr(part, name, None)
                if isinstance(value, int) and not isinstance(value, bool) and value > 0:
                    return value
        return default

    def _random(self, *sizes: int) -> torch.Tensor:
        return torch.randn(sizes, generator=self._generator)

    def _words(self, length: int) -> torch.Tensor:
        words = self._get("vocab_size", "n_words", default=32)
        # The last ids are often special tokens.
        return torch.randint(min(4, words - 1), max(words - 40, words // 2 + 1), (1, length), generator=self._generator)

    def _input_ids(self) -> Sequence[torch.Tensor]:
        return [self._words(_LENGTH)]

    def _decoder_input_ids(self) -> Sequence[torch.Tensor]:
        return [self._words(_DECODED), self._words(_DECODED).unsqueeze(1).expand(1, 4, _DECODED)]

    def _attention_mask(self) -> Sequence[torch.Tensor]:
        return [(torch.arange(_LENGTH) < _LENGTH - 3).long().unsqueeze(0)]

    def _bbox(self) -> Sequence[torch.Tensor]:
        corners = torch.randint(0, 50, (1, _LENGTH, 2), generator=self._generator)
        return [torch.cat([corners, corners + 10], -1)]

    def _image_sizes(self) -> Iterator[tuple[int, int]]:
        for part in self._parts:
            value = getattr(part, "image_size", None) or getattr(part, "img_size", None)
            if isinstance(value, int):
                yield value, value
            elif isinstance(value, (list, tuple)) and len(value) == 2:
                yield value[0], value[1]
        yield from ((size, size) for size in _SIZES)

    def _pixel_values(self) -> Sequence[torch.Tensor]:
        channels = self._get("num_channels", "in_channels", "in_chans", default=3)
        frames = self._get("num_frames", "frames_per_clip", default=4)
        images = [self._random(1, channels, *size) for size in dict.fromkeys(self._image_sizes())]
        frames = 2 if self._kind == "keypoints" else frames  # Two images, whose keypoints are matched.
        clips = [self._random(1, frames, channels, *size) for size in dict.fromkeys(self._image_sizes())]
        return [*clips, *images] if self._kind == "video" else [*images, *clips[:2]]

    def _pixel_values_videos(self) -> Sequence[torch.Tensor]:
        return [one for one in self._pixel_values() if one.dim() == 5]

    def _input_values(self) -> Sequence[torch.Tensor]:
        bins = self._get("num_mel_bins", default=64)
        frames = self._get("max_length", default=_FRAMES)
        sound = self._random(1, _SAMPLES)
        return [sound, self._random(1, frames, bins), sound.unsqueeze(1)]

    def _input_features(self) -> Sequence[torch.Tensor]:
        bins = self._get(
            "num_mel_bins",
            "feature_size",
            "input_feat_per_channel",
            "input_dim",
            "feature_projection_input_dim",
            default=80,
        )
        frames = 2 * self._get("max_source_positions", default=_FRAMES // 2)
        return [self._random(1, bins, frames), self._random(1, _FRAMES, bins), self._random(1, 1, _FRAMES, bins)]

    def _input_features_mask(self) -> Sequence[torch.Tensor]:
        return [torch.ones(1, _FRAMES).long()]

    def _past_length(self) -> int:
        lags: Sequence[int] = getattr(self._config, "lags_sequence", None) or [0]
        return self._get("context_length", "prediction_length", "patch_length", default=32) + max(lags)

    def _past_values(self) -> Sequence[torch.Tensor]:
        channels = self._get("num_input_channels", default=1)
        length = self._past_length()
        if hasattr(self._config, "num_input_channels"):
            return [self._random(1, length, channels)]
        return [self._random(1, length), self._random(1, length, self._get("input_size", default=1))]

    def _past_time_features(self) -> Sequence[torch.Tensor]:
        return [self._random(1, self._past_length(), self._config.num_time_features)]

    def _past_observed_mask(self) -> Sequence[torch.Tensor]:
        return [torch.ones_like(one) for one in self._past_values()]

    def _future_values(self) -> Sequence[torch.Tensor]:
        return [self._random(1, self._config.prediction_length)]

    def _future_time_features(self) -> Sequence[torch.Tensor]:
        return [self._random(1, self._config.prediction_length, self._config.num_time_features)]

    def _noise(self) -> Sequence[torch.Tensor]:
        """Returns a number for each patch, by which masked autoencoders choose patches."""
        height, width = next(self._image_sizes())
        patch = self._get("patch_size", default=16)
        return [torch.rand(1, (height // patch) * (width // patch), generator=self._generator)]

    def _input_points(self) -> Sequence[torch.Tensor]:
        return [torch.tensor([[[[10.0, 12.0], [30.0, 20.0]]]])]

    def _flattened_patches(self) -> Sequence[torch.Tensor]:
        patch, channels = self._get("patch_size", default=16), self._get("num_channels", default=3)
        places = torch.stack(torch.meshgrid(torch.arange(4), torch.arange(4), indexing="ij"), -1).reshape(1, 16, 2)
        return [torch.cat([places + 1.0, self._random(1, 16, patch * patch * channels)], -1)]

    def _inputs(self) -> Sequence[torch.Tensor]:
        channels = self._get("num_channels", default=3)
        return [self._random(1, channels, *size) for size in ((224, 224), (64, 64))] + [self._words(_LENGTH)]

    def _task_inputs(self) -> Sequence[torch.Tensor]:
        return [self._words(self._get("task_seq_len", default=_LENGTH))]

    def _qformer_input_ids(self) -> Sequence[torch.Tensor]:
        return [self._words(_DECODED)]

    def _latents(self) -> Sequence[torch.Tensor]:
        return [self._random(1, self._get("hidden_size", default=64), 8)]

    def _grid_thw(self) -> Sequence[torch.Tensor]:
        return [torch.tensor([[1, 4, 4]])]

    _image_grid_thw = _grid_thw

    def _hidden_states(self) -> Sequence[torch.Tensor]:
        """Returns the patches of an image, one patch a row."""
        patch, channels = self._get("patch_size", default=16), self._get("num_channels", "in_channels", default=3)
        frames = self._get("temporal_patch_size", default=1)
        return [self._random(16, channels * frames * patch * patch), self._random(16, channels, patch, patch)]

    def patches(self) -> torch.Tensor:
        """Returns the patches of an image, for models that take patches in place of the image."""
        return self._hidden_states()[0]


def candidates(model: torch.nn.Module, kind: str, seed: int = 1) -> Iterator[Inputs]:
    """Yields guesses of a model's inputs, by the names of the parameters, the most likely first.

    Args:
        model: a model of transformers.
        kind: the kind of the model.
        seed: the seed of the values.
    """
    config: Any = model.config
    parameters = inspect.signature(model.forward).parameters
    guesses = _Guesses(config, kind, seed)
    names = _names(model, parameters, kind)
    found = {name: guesses.of(name) for name in names}
    if unknown := [name for name, values in found.items() if not values]:
        raise LookupError(f"no guess of {', '.join(unknown)}")
    if "input_ids" in found and _image_token(config) is not None and "pixel_values" in parameters:
        found.pop("pixel_values", None)
        found.pop("attention_mask", None)
        yield from _with_image(model, guesses, parameters, found)
    more = {name: guesses.of(name) for name in _SOUND if name in parameters and name not in found}
    if more and "input_ids" in found:
        yield from _products({**found, **more})
    yield from _products(found)


def _products(found: Mapping[str, Sequence[torch.Tensor]]) -> Iterator[Inputs]:
    for values in itertools.islice(itertools.product(*found.values()), _MOST_GUESSES):
        yield dict(zip(found, values, strict=True))


def _names(model: Any, parameters: Mapping[str, inspect.Parameter], kind: str) -> Sequence[str]:
    main = model.main_input_name
    wanted = [main] if isinstance(main, str) else list(main)
    wanted += [
        name
        for name, parameter in parameters.items()
        if parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
    ]
    wanted += [name for name in ("pixel_values", "input_ids", "bbox", "noise") if name in parameters]
    if "decoder_input_ids" in parameters and model.config.is_encoder_decoder:
        wanted.append("decoder_input_ids")
    if "past_values" in wanted and "future_values" in parameters:
        wanted += [name for name in ("future_values", "future_time_features") if name in parameters]
    if main == "input_ids" and kind != "decoder" and "attention_mask" in parameters:
        wanted.append("attention_mask")
    if "input_points" in parameters:
        wanted.append("input_points")
    # The result has the order of the signature.
    return [name for name in parameters if name in wanted]


def _image_token(config: Any) -> int | None:
    for name in ("image_token_id", "image_token_index"):
        if isinstance(getattr(config, name, None), int):
            return int(getattr(config, name))
    return None


def _with_image(
    model: Any,
    guesses: _Guesses,
    parameters: Mapping[str, inspect.Parameter],
    others: Mapping[str, Sequence[torch.Tensor]],
) -> Iterator[Inputs]:
    """Yields an image, and a text with a special token for each of the image's features."""
    token = _image_token(model.config)
    assert token is not None
    if "image_grid_thw" in parameters:
        images = [{"pixel_values": guesses.patches(), "image_grid_thw": guesses.of("image_grid_thw")[0]}]
    else:
        images = [{"pixel_values": one} for one in guesses.of("pixel_values")]
    for image in images:
        if "image_sizes" in parameters:
            image["image_sizes"] = torch.tensor([image["pixel_values"].shape[-2:]])
        try:
            with torch.no_grad():
                features = model.get_image_features(**image)
        except Exception:
            continue
        features = getattr(features, "pooler_output", features)
        tensors = [features] if isinstance(features, torch.Tensor) else list(features)
        count = sum(one.shape[:-1].numel() for one in tensors)
        text = others["input_ids"][0]
        ids = torch.cat([text[:, :4], torch.full((1, count), token), text[:, 4:]], 1)
        mm = {"mm_token_type_ids": (ids == token).long()} if "mm_token_type_ids" in parameters else {}
        rest = {name: values[0] for name, values in others.items() if name != "input_ids"}
        yield {"input_ids": ids, **image, **mm, **rest}
