"""A Llama that keeps the keys and values of earlier tokens in buffers. Its parameters have Hugging Face's names."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    """The sizes of a Llama, under the names of Hugging Face's config.json.

    Attributes:
        cache_length: the largest number of tokens, of the prompt and the answer together.
    """

    vocab_size: int = 512
    hidden_size: int = 128
    intermediate_size: int = 256
    num_hidden_layers: int = 4
    num_attention_heads: int = 4
    num_key_value_heads: int = 2
    rms_norm_eps: float = 1e-5
    rope_theta: float = 10000.0
    cache_length: int = 256

    @property
    def head_size(self) -> int:
        return self.hidden_size // self.num_attention_heads


class Attention(nn.Module):
    keys: Tensor
    values: Tensor

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.heads, self.key_heads, self.size = config.num_attention_heads, config.num_key_value_heads, config.head_size
        self.q_proj = nn.Linear(config.hidden_size, self.heads * self.size, bias=False)
        self.k_proj = nn.Linear(config.hidden_size, self.key_heads * self.size, bias=False)
        self.v_proj = nn.Linear(config.hidden_size, self.key_heads * self.size, bias=False)
        self.o_proj = nn.Linear(self.heads * self.size, config.hidden_size, bias=False)
        cache = torch.zeros(1, self.key_heads, config.cache_length, self.size)
        self.register_buffer("keys", cache, persistent=False)
        self.register_buffer("values", cache.clone(), persistent=False)

    def forward(self, x: Tensor, positions: Tensor, rotation: tuple[Tensor, Tensor], mask: Tensor) -> Tensor:
        query, key, value = (
            layer(x).unflatten(-1, (heads, self.size)).transpose(1, 2)
            for layer, heads in (
                (self.q_proj, self.heads),
                (self.k_proj, self.key_heads),
                (self.v_proj, self.key_heads),
            )
        )
        self.keys.index_copy_(2, positions, _rotated(key, *rotation))
        self.values.index_copy_(2, positions, value)
        result = nn.functional.scaled_dot_product_attention(
            _rotated(query, *rotation), self.keys, self.values, attn_mask=mask, enable_gqa=True
        )
        return self.o_proj(result.transpose(1, 2).flatten(2))


class Mlp(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.up_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.down_proj = nn.Linear(config.intermediate_size, config.hidden_size, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.down_proj(nn.functional.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.self_attn, self.mlp = Attention(config), Mlp(config)
        self.input_layernorm = nn.RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.post_attention_layernorm = nn.RMSNorm(config.hidden_size, config.rms_norm_eps)

    def forward(self, x: Tensor, positions: Tensor, rotation: tuple[Tensor, Tensor], mask: Tensor) -> Tensor:
        x = x + self.self_attn(self.input_layernorm(x), positions, rotation, mask)
        return x + self.mlp(self.post_attention_layernorm(x))


class Decoder(nn.Module):
    cos: Tensor
    sin: Tensor
    places: Tensor

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.num_hidden_layers))
        self.norm = nn.RMSNorm(config.hidden_size, config.rms_norm_eps)
        frequencies = config.rope_theta ** -(torch.arange(0, config.head_size, 2) / config.head_size)
        angles = torch.outer(torch.arange(config.cache_length), frequencies).repeat(1, 2)
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)
        self.register_buffer("places", torch.arange(config.cache_length), persistent=False)

    def forward(self, tokens: Tensor, start: Tensor) -> Tensor:
        positions = start + torch.arange(tokens.shape[1])
        rotation = self.cos[positions], self.sin[positions]
        # A token sees itself and the tokens before. What the cache has of an earlier text is after all of these.
        mask = self.places <= positions[:, None]
        x = self.embed_tokens(tokens)
        for layer in self.layers:
            x = layer(x, positions, rotation, mask)
        return self.norm(x[:, -1])


class Llama(nn.Module):
    """int64 [1, n] tokens, int64 [1] position of the first one -> float32 [1, vocab_size] logits of the next token."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.model = Decoder(config)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)

    def forward(self, tokens: Tensor, start: Tensor) -> Tensor:
        return self.lm_head(self.model(tokens, start))


def _rotated(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotates queries or keys by the angles of their positions, as RoPE does with Hugging Face's order of features."""
    first, second = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-second, first), dim=-1) * sin
