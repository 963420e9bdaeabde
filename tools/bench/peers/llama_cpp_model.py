"""Writes a Llama whose linear layers torchao has quantized to 4 bits as a GGUF file for llama.cpp.

The format of the file: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md.

A block of the type Q4_0 has a float16 scale and 16 bytes for 32 weights. Byte i has weight i in its lower half and
weight i + 16 in its upper half, each with 8 added (`block_q4_0` in ggml/src/ggml-common.h of llama.cpp).
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import torch
from transformers import LlamaConfig, LlamaForCausalLM

# The tensors of a layer: the name in a GGUF file, and the name in transformers.
_OF_LAYER = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}


def write(llama: LlamaForCausalLM, file: Path) -> None:
    """Writes the model. The weights of linear layers are torchao's, as Q4_0. All other weights are float32.

    Args:
        llama: the model. Groups of 32 weights have a scale and no zero point.
        file: the file to write.
    """
    gguf = importlib.import_module("gguf")
    config: LlamaConfig = llama.config
    heads = config.num_attention_heads
    writer = gguf.GGUFWriter(file, "llama")
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_dimension_count(config.hidden_size // heads)
    writer.add_vocab_size(config.vocab_size)
    writer.add_tokenizer_model("none")
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q4_0)

    def add(name: str, module: torch.nn.Module, *, heads: int = 0) -> None:
        weight: Any = module.weight
        if hasattr(weight, "qdata"):
            assert not weight.zero_point.any()
            rows = _blocks(weight.qdata, weight.scale)
            if heads:  # llama.cpp rotates pairs of neighbors, transformers the first half with the second half.
                rows = rows.reshape(heads, 2, -1, rows.shape[1]).transpose(1, 2).reshape(rows.shape)
            writer.add_tensor(f"{name}.weight", rows.numpy(), raw_dtype=gguf.GGMLQuantizationType.Q4_0)
        else:
            writer.add_tensor(f"{name}.weight", weight.detach().float().numpy())

    add("token_embd", llama.model.embed_tokens)
    add("output_norm", llama.model.norm)
    add("output", llama.lm_head)
    rotated = {"attn_q": heads, "attn_k": config.num_key_value_heads}
    for index, layer in enumerate(llama.model.layers):
        for name, path in _OF_LAYER.items():
            add(f"blk.{index}.{name}", layer.get_submodule(path), heads=rotated.get(name, 0))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _blocks(weights: torch.Tensor, scales: torch.Tensor) -> torch.Tensor:
    """Returns the blocks of Q4_0, uint8 [rows, bytes of a row].

    Args:
        weights: int8 [rows, columns] from -8 to 7.
        scales: float32 [rows, columns / 32].
    """
    halves = (weights + 8).to(torch.uint8).reshape(*scales.shape, 2, 16)
    content = halves[:, :, 0] | halves[:, :, 1] << 4
    return torch.cat([scales.half().unsqueeze(-1).view(torch.uint8), content], -1).flatten(1)
