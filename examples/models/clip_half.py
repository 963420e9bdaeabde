"""CLIP ViT-B/32 in half precision, with random weights: how well each of two texts describes an image."""

import torch
from transformers import CLIPConfig, CLIPModel, CLIPTextConfig, CLIPVisionConfig


class Matcher(torch.nn.Module):
    """float16 [1, 3, 224, 224] image and int64 [2, 16] tokens -> float16 [1, 2] logits."""

    def __init__(self, *, layers: int, vocabulary: int) -> None:
        super().__init__()
        # The last token of a text has the highest number.
        text = CLIPTextConfig(num_hidden_layers=layers, vocab_size=vocabulary, eos_token_id=vocabulary - 1)
        vision = CLIPVisionConfig(num_hidden_layers=layers)
        self.clip = CLIPModel(CLIPConfig(text_config=text, vision_config=vision)).half()

    def forward(self, image: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.clip(input_ids=tokens, pixel_values=image).logits_per_image
        return logits


def _model(*, layers: int, vocabulary: int) -> tuple[torch.nn.Module, tuple[torch.Tensor, torch.Tensor]]:
    generator = torch.Generator().manual_seed(1)
    image = torch.rand(1, 3, 224, 224, generator=generator).half()
    tokens = torch.randint(1000, (2, 16), generator=generator)
    tokens[0, 9], tokens[1, 15] = vocabulary - 1, vocabulary - 1
    return Matcher(layers=layers, vocabulary=vocabulary), (image, tokens)


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor, torch.Tensor]]:
    return _model(layers=1, vocabulary=1001)


def get_full_size_model() -> tuple[torch.nn.Module, tuple[torch.Tensor, torch.Tensor]]:
    return _model(layers=12, vocabulary=49408)
