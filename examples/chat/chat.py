"""Answers lines of text with a Llama of random weights, so with nonsense.

tools/bazel run //examples/chat -- --prompt "You may reproduce" --tokens 40
"""

import argparse
import sys
import time
from pathlib import Path

from tokenizers import Tokenizer

from examples.chat.generation import Generator, Sampler


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--prompt", default="", help="the text to continue; default: each line of the standard input")
    parser.add_argument("--tokens", type=int, default=64, help="the most tokens of an answer; default: 64")
    parser.add_argument("--temperature", type=float, default=0.8, help="0 for the most likely tokens; default: 0.8")
    parser.add_argument("--top_p", type=float, default=0.95, help="default: 0.95")
    parser.add_argument("--seed", type=int, default=0, help="of the random numbers; default: 0")
    parser.add_argument("--ids", action="store_true", help="print the numbers of the tokens")
    given = parser.parse_args()
    tokenizer = Tokenizer.from_file(str(Path(__file__).with_name("tokenizer.json")))
    for line in [given.prompt] if given.prompt else map(str.rstrip, sys.stdin):
        prompt = tokenizer.encode(f"<s>{line}").ids
        start = time.perf_counter()
        sampler = Sampler(given.temperature, given.top_p, given.seed)
        ids = list(Generator().generate(prompt, given.tokens, sampler, tokenizer.token_to_id("</s>")))
        seconds = time.perf_counter() - start
        print(*ids) if given.ids else print(line + tokenizer.decode(ids))
        print(f"{len(prompt)} + {len(ids)} tokens, {len(ids) / seconds:.1f} tokens per second", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
