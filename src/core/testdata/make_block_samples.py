#!/usr/bin/env python3
"""Writes block_samples.h: random blocks of every GGUF type and what the `gguf` package (0.19.0) says they mean.

    python make_block_samples.py > block_samples.h
"""
import gguf
import numpy as np
from gguf.quants import dequantize

TYPES = "Q8_0 Q4_0 Q4_1 Q5_0 Q5_1 Q2_K Q3_K Q4_K Q5_K Q6_K IQ4_NL F16 BF16".split()
SCALES = {"Q8_0": [0], "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "IQ4_NL": [0], "Q2_K": [80, 82], "Q3_K": [108],
          "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208]}


def sample(rng, kind):
    elements, size = gguf.GGML_QUANT_SIZES[kind]
    if kind.name in ("F16", "BF16"):
        values = rng.normal(0, 1, 32).astype(np.float32)
        return values.astype(np.float16).view(np.uint8) if kind.name == "F16" else (values.view(np.uint32) >> 16).astype(np.uint16).view(np.uint8)
    block = rng.integers(0, 256, size, np.uint8)
    for at in SCALES[kind.name]:  # random bytes would make odd scales
        block[at:at + 2] = np.array([rng.normal(0, 0.1)], np.float16).view(np.uint8)
    return block


def lines(items, per_line):
    return ",\n     ".join(", ".join(items[i:i + per_line]) for i in range(0, len(items), per_line))


rng = np.random.default_rng(1)
print("// Made by make_block_samples.py: one random block of every type, and the fp32 bits that it means. Do not edit.")
print("#pragma once\n\n#include <cstdint>\n#include <vector>\n\n#include \"headrace/types.h\"\n\nnamespace headrace::testdata {\n")
print("struct BlockSample {\n  DType dtype;\n  std::vector<uint8_t> bytes;\n  std::vector<uint32_t> values;\n};\n")
print("// clang-format off\ninline const BlockSample kBlockSamples[] = {")
for name in TYPES:
    kind = gguf.GGMLQuantizationType[name]
    block = sample(rng, kind)
    values = dequantize(block.reshape(1, -1), kind).ravel().astype(np.float32)
    print(f"    {{DType::k{name},\n     {{{lines([str(b) for b in block], 32)}}},")
    print(f"     {{{lines([f'0x{b:x}' for b in values.view(np.uint32)], 12)}}}}},")
print("};\n\n}  // namespace headrace::testdata")
