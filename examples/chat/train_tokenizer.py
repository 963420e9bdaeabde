"""Trains the tokenizer, a BPE of bytes, on a text file, and writes tokenizer.json.

tools/bazel run //examples/chat:train_tokenizer -- $PWD/LICENSE $PWD/examples/chat/tokenizer.json
"""

import sys
from collections.abc import Sequence

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from examples.chat.llama import Config

BEGIN = "<s>"
END = "</s>"


def train(text: str) -> str:
    """Returns the JSON of a tokenizer that is trained on a text."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=Config().vocab_size,
        special_tokens=[BEGIN, END],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator([text], trainer)
    return tokenizer.to_str(pretty=True) + "\n"


def main(arguments: Sequence[str]) -> int:
    if len(arguments) != 2:
        print("usage: train_tokenizer TEXT_FILE TOKENIZER_JSON", file=sys.stderr)
        return 2
    with open(arguments[0], encoding="utf-8") as source:
        text = train(source.read())
    with open(arguments[1], "w", encoding="utf-8") as file:
        file.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
