"""The chat against PyTorch, against Hugging Face's Llama, and its C++ program."""

import os
import subprocess
from pathlib import Path

import torch
from absl.testing import absltest
from tokenizers import Tokenizer
from transformers import LlamaConfig, LlamaForCausalLM

from examples.chat import generation, model, train_tokenizer
from examples.chat.generation import Generator, Sampler
from examples.chat.llama import Config

_TOKENIZER = Path(__file__).with_name("tokenizer.json")
_TEXT = "You may add Your own copyright statement to Your modifications: naïve, 日本, 🙂."


def _eager(prompt: list[int], count: int) -> list[int]:
    """Returns the most likely tokens by the eager module, which reads one token after another."""
    llama, _ = model.get_model()
    ids = list(prompt)
    with torch.no_grad():
        for position in range(len(prompt) + count):
            logits = llama(torch.tensor([[ids[position]]]), torch.tensor([position]))
            if position + 1 >= len(ids):
                ids.append(int(logits.argmax()))
    return ids[len(prompt) : len(prompt) + count]


class ChatTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.tokenizer = Tokenizer.from_file(str(_TOKENIZER))
        # Longer than a chunk.
        self.prompt = self.tokenizer.encode(f"<s>{_TEXT}").ids
        self.assertGreater(len(self.prompt), model.CHUNK)

    def test_llama_is_that_of_hugging_face(self) -> None:
        config = Config()
        sizes = {name: value for name, value in vars(config).items() if name != "cache_length"}
        other = LlamaForCausalLM(LlamaConfig(**sizes, max_position_embeddings=config.cache_length)).eval()
        llama = model.make_llama()
        other.load_state_dict(llama.state_dict())
        tokens = torch.randint(config.vocab_size, (1, 40))
        with torch.no_grad():
            for first in (0, 32):
                logits = llama(tokens[:, first : first + 32], torch.tensor([first]))
            torch.testing.assert_close(logits, other(tokens).logits[:, -1])

    def test_most_likely_tokens_are_those_of_pytorch(self) -> None:
        ids = list(Generator().generate(self.prompt, 12, Sampler(temperature=0)))
        self.assertEqual(ids, _eager(self.prompt, 12))

    def test_each_generator_has_its_own_cache(self) -> None:
        first, second = Generator(), Generator()
        logits = first.read(self.prompt[:5])
        second.read(self.prompt[5:9])
        self.assertEqual(first.read([7]).tolist(), _after(self.prompt[:5], 7))
        self.assertNotEqual(logits.tolist(), second.read([7]).tolist())

    def test_sizes_are_those_of_the_model(self) -> None:
        self.assertEqual((generation.CHUNK, generation.CACHE_LENGTH), (model.CHUNK, Config().cache_length))
        full = Generator()
        full.read([1] * generation.CACHE_LENGTH)
        with self.assertRaisesRegex(ValueError, "1 tokens after 256"):
            full.read([1])
        self.assertLen(list(Generator().generate([1] * 250, 99, Sampler())), 7)

    def test_cpp_has_the_same_tokens(self) -> None:
        for temperature, top_p, seed in ((0.0, 1.0, 0), (0.8, 0.95, 0), (1.5, 0.7, 3), (2.0, 1.0, 2**32 - 1)):
            with self.subTest(temperature=temperature, top_p=top_p, seed=seed):
                ids = list(Generator().generate(self.prompt, 40, Sampler(temperature, top_p, seed)))
                command = [os.environ["CHAT"], os.environ["PROGRAM"], ",".join(map(str, self.prompt)), "40"]
                command += [str(temperature), str(top_p), str(seed)]
                text = subprocess.run(command, capture_output=True, check=True, text=True).stdout
                self.assertEqual(list(map(int, text.split())), ids)

    def test_samples_have_the_probabilities(self) -> None:
        logits = torch.tensor([2.0, 1.0, 0.0, -1.0]).numpy()
        sampler = Sampler(temperature=0.5, top_p=0.99, seed=1)
        counts = torch.bincount(torch.tensor([sampler.choose(logits) for _ in range(20000)]), minlength=4)
        # Without the last two, whose probabilities are 0.016 and 0.002: the first two have 0.98 together.
        expected = torch.softmax(torch.tensor([4.0, 2.0, 0.0]), 0)
        torch.testing.assert_close(counts[:3] / 20000, expected, rtol=0, atol=0.01)
        self.assertEqual(counts[3], 0)

    def test_tokenizer(self) -> None:
        self.assertEqual(self.tokenizer.decode(self.prompt), _TEXT)
        self.assertEqual(self.tokenizer.get_vocab_size(), Config().vocab_size)
        self.assertEqual(_TOKENIZER.read_text(), train_tokenizer.train(Path("LICENSE").read_text()))


def _after(prompt: list[int], token: int) -> list[float]:
    generator = Generator()
    generator.read(prompt)
    logits: list[float] = generator.read([token]).tolist()
    return logits


if __name__ == "__main__":
    absltest.main()
