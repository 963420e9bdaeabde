"""Makes a model of the zoo: a shrunk config, weights from a seed, accepted inputs, and tensors as outputs."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from transformers.integrations.executorch import TorchExportableModuleWithStaticCache

from tools.zoo import architectures, inputs, own_values, shrinking
from tools.zoo.architectures import Architecture

# Larger models take too long. The architecture of a model that stays larger needs an entry in own_values.py.
_MOST_PARAMETERS = 100_000_000
_CACHE = 32
# Outputs that are not results: the state of a decoder, and outputs for the inspection of a model.
_NO_RESULTS = frozenset({"past_key_values", "hidden_states", "attentions", "cache_params", "mems", "state"})


class TooLargeError(Exception):
    """A model is too large after shrinking."""


class NoInputsError(Exception):
    """A model accepts no guess of inputs."""


@dataclass(frozen=True)
class Made:
    """A model, ready to export.

    Attributes:
        module: the module, which takes the inputs in their order and returns a tuple of tensors.
        kind: the kind of the model.
        inputs: the inputs, by the model's names.
        parameters: the number of weights.
    """

    module: torch.nn.Module
    kind: str
    inputs: Mapping[str, torch.Tensor]
    parameters: int


class Results(torch.nn.Module):
    """A model with only tensors as outputs."""

    def __init__(self, model: torch.nn.Module, names: tuple[str, ...]) -> None:
        super().__init__()
        self.model = model
        self.names = names
        parameters = inspect.signature(model.forward).parameters
        self.settings = {"use_cache": False} if "use_cache" in parameters else {}

    def forward(self, *values: torch.Tensor) -> tuple[torch.Tensor, ...]:
        results = self.model(**dict(zip(self.names, values, strict=True)), **self.settings)
        return tuple(_tensors(results))


def _tensors(results: Any) -> Iterator[torch.Tensor]:
    if isinstance(results, torch.Tensor):
        yield results
    elif isinstance(results, Mapping):
        for name, value in results.items():
            if name not in _NO_RESULTS:
                yield from _tensors(value)
    elif isinstance(results, (tuple, list)):
        for value in results:
            yield from _tensors(value)


def make(architecture: Architecture, *, with_cache: bool = False, seed: int = 1) -> Made:
    """Makes the model of an architecture.

    Args:
        architecture: an architecture of transformers.
        with_cache: whether the model decodes one token at a time with a static cache, as transformers exports models
            for ExecuTorch.
        seed: the seed of weights and inputs.
    Raises:
        TooLargeError: the model is too large.
        NoInputsError: the model accepts no guess of inputs.
        Exception: any exception of transformers.
    """
    config_class, model_class = architecture.classes()
    kind = architectures.kind_of(architecture, model_class)
    config = config_class(**own_values.REQUIRED.get(architecture.name, {}))
    own = own_values.OF.get(architecture.name, {})
    first: Exception | None = None
    for extent in shrinking.EXTENTS:
        try:
            model, count = _built(model_class, shrinking.shrink(config, own, extent), seed)
            return _with_cache(model, kind, count) if with_cache else Made(*_accepted(model, kind), count)
        except ImportError:
            raise
        except Exception as error:
            first = first or error
    assert first is not None
    raise first


def _built(model_class: type[Any], config: Any, seed: int) -> tuple[Any, int]:
    """Makes the model with random weights. Returns the model and the number of weights."""
    with torch.device("meta"):
        count = sum(one.numel() for one in model_class(config).parameters())
    if count > _MOST_PARAMETERS:
        raise TooLargeError(f"{count / 1e6:.0f} million parameters")
    torch.manual_seed(seed)
    model = model_class(config).float().eval()
    if model._can_set_experts_implementation():
        # By default, transformers runs experts with its own operator, which a program cannot call.
        model.set_experts_implementation("batched_mm")
    _randomize(model, seed)
    return model, count


def _with_cache(model: Any, kind: str, count: int) -> Made:
    model.generation_config.use_cache = True
    model.generation_config.cache_implementation = "static"
    exportable = TorchExportableModuleWithStaticCache(model, batch_size=1, max_cache_len=_CACHE)
    given = {"input_ids": torch.tensor([[7]]), "cache_position": torch.tensor([0])}
    return Made(_Step(exportable.eval()), kind, given, count)


class _Step(torch.nn.Module):
    """A decoder that takes one token at a time."""

    def __init__(self, decoder: torch.nn.Module) -> None:
        super().__init__()
        self.decoder = decoder

    def forward(self, word: torch.Tensor, position: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return (self.decoder(input_ids=word, cache_position=position),)


def _accepted(model: Any, kind: str) -> tuple[torch.nn.Module, str, Mapping[str, torch.Tensor]]:
    first = ""
    for given in inputs.candidates(model, kind):
        module = Results(model, tuple(given)).eval()
        try:
            with torch.no_grad():
                results = module(*(value.clone() for value in given.values()))
        except Exception as error:
            first = first or f"{type(error).__name__}: {error}"
            continue
        if results:
            return module, kind, given
        first = first or "no tensors come out"
    raise NoInputsError(first or "none to try")


def _randomize(model: torch.nn.Module, seed: int) -> None:
    """Replaces weights that are all equal, such as zero biases, by random values, since equal ones hide mistakes."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            if (
                parameter.is_floating_point()
                and parameter.numel()
                and bool((parameter == parameter.flatten()[0]).all())
            ):
                parameter.add_(0.1 * torch.randn(parameter.shape, generator=generator))
        for name, buffer in model.named_buffers():
            if name.endswith("running_mean"):
                buffer.add_(0.1 * torch.randn(buffer.shape, generator=generator))
            elif name.endswith("running_var"):
                buffer.mul_(0.5 + torch.rand(buffer.shape, generator=generator))
