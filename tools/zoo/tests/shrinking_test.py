from __future__ import annotations

from absl.testing import absltest
from transformers import (
    BertConfig,
    CLIPConfig,
    DPTConfig,
    Gemma3TextConfig,
    LlavaConfig,
    MixtralConfig,
    Qwen2VLConfig,
    SegformerConfig,
    SwinConfig,
    UperNetConfig,
)

from tools.zoo import shrinking
from tools.zoo.shrinking import Extent


class ShrinkingTest(absltest.TestCase):
    def test_text(self) -> None:
        config = shrinking.shrink(BertConfig())
        self.assertEqual(2, config.num_hidden_layers)
        self.assertEqual(12, config.num_attention_heads)
        self.assertEqual((96, 384), (config.hidden_size, config.intermediate_size))
        self.assertEqual((512, 128), (config.vocab_size, config.max_position_embeddings))

    def test_one_layer_of_each_sort_stays(self) -> None:
        whole = Gemma3TextConfig()
        config = shrinking.shrink(whole)
        self.assertEqual(set(whole.layer_types), set(config.layer_types))
        self.assertLen(config.layer_types, config.num_hidden_layers)
        self.assertEqual(2, config.num_hidden_layers)

    def test_experts(self) -> None:
        whole = MixtralConfig(num_local_experts=64, num_experts_per_tok=6)
        config = shrinking.shrink(whole)
        self.assertEqual((8, 2), (config.num_local_experts, config.num_experts_per_tok))

    def test_stages_stay(self) -> None:
        config = shrinking.shrink(SwinConfig())
        self.assertEqual([2, 2, 2, 2], list(config.depths))
        self.assertEqual([3, 6, 12, 24], list(config.num_heads))
        self.assertEqual(12, config.embed_dim)
        self.assertEqual(4, shrinking.shrink(SegformerConfig()).num_encoder_blocks)

    def test_stages_that_a_backbone_gives(self) -> None:
        config = shrinking.shrink(UperNetConfig())
        self.assertEqual(UperNetConfig().backbone_config.out_indices, config.backbone_config.out_indices)

    def test_parts_of_a_config(self) -> None:
        config = shrinking.shrink(CLIPConfig())
        self.assertEqual((64, 64), (config.text_config.hidden_size, config.projection_dim))
        self.assertEqual((96, 2), (config.vision_config.hidden_size, config.vision_config.num_hidden_layers))
        # Four patches of 32 in a row.
        self.assertEqual(128, config.vision_config.image_size)

    def test_special_words_stay_distinct_and_equal(self) -> None:
        config = shrinking.shrink(LlavaConfig(image_token_index=32000, text_config={"model_type": "llama"}))
        self.assertLess(config.image_token_id, config.text_config.vocab_size)
        videos = shrinking.shrink(Qwen2VLConfig())
        self.assertNotEqual(videos.image_token_id, videos.video_token_id)
        self.assertLess(max(videos.image_token_id, videos.video_token_id), videos.text_config.vocab_size)

    def test_places_of_layers(self) -> None:
        config = shrinking.shrink(DPTConfig(backbone_out_indices=[2, 5, 8, 11], is_hybrid=False))
        self.assertEqual([0, 1, 2, 3], list(config.backbone_out_indices))
        self.assertEqual(4, config.num_hidden_layers)

    def test_extent(self) -> None:
        config = shrinking.shrink(SwinConfig(), extent=Extent(widths=False, images=False))
        self.assertEqual((96, 224), (config.embed_dim, config.image_size))

    def test_values_of_its_own(self) -> None:
        config = shrinking.shrink(CLIPConfig(), {"projection_dim": 24, "text_config.num_hidden_layers": 3})
        self.assertEqual((24, 3), (config.projection_dim, config.text_config.num_hidden_layers))
        self.assertEqual(2, config.vision_config.num_hidden_layers)


if __name__ == "__main__":
    absltest.main()
