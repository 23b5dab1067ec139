#!/usr/bin/env python3
"""Corners of the configurations of the families, as very small checkpoints with what transformers computes from them.

One folder per case: config.json as written here, random bfloat16 weights, and expected.json. Decoders: for each prompt 24 greedy tokens,
found with the cache as generate() does it, and the logits of the positions that lead to them and of all of the prompt's
(expected.safetensors). Encoders: every output for each prompt.

    python make.py            # torch 2.15, transformers 5.24
"""
import json
import math
import os
import shutil

os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
import torch
import transformers
from safetensors.torch import save_file

HERE = os.path.dirname(os.path.abspath(__file__))
NEW = 24
MARGIN = 1e-3  # of a row's largest logit, between the best two: what rounding cannot turn
PROMPTS = [[5], [7, 3, 9, 11, 2, 36, 33, 21, 14], [(7 * i * i + 13 * i + 5) % 37 for i in range(41)]]


def decoder(kind, **over):
    c = dict(model_type=kind, vocab_size=37, hidden_size=24, intermediate_size=20, num_hidden_layers=2, num_attention_heads=3,
             num_key_value_heads=1, max_position_embeddings=96, rms_norm_eps=1e-5, torch_dtype="bfloat16")
    return {k: v for k, v in (c | over).items() if v != "absent"}


def gpt2(**over):
    return dict(model_type="gpt2", vocab_size=37, n_embd=24, n_layer=2, n_head=3, n_positions=96, torch_dtype="bfloat16") | over


def bert(kind, **over):
    return dict(model_type="bert", architectures=[kind], vocab_size=37, hidden_size=24, intermediate_size=20, num_hidden_layers=1,
                num_attention_heads=3, max_position_embeddings=64, torch_dtype="bfloat16") | over


LONGROPE = dict(type="longrope", short_factor=[1.0, 1.1, 1.3, 2.0], long_factor=[1.0, 2.0, 5.0, 9.0])
YARN = dict(rope_type="yarn", factor=4.0, beta_fast=8, beta_slow=2)
CASES = {
    # 9 + 24 tokens stay within the original context or cross it; 41 are beyond it from the start
    "llama_longrope": decoder("llama", original_max_position_embeddings=20, rope_scaling=LONGROPE),
    "qwen2_longrope_factors": decoder("qwen2", rope_parameters=LONGROPE | dict(
        rope_type="longrope", rope_theta=500.0, factor=3.0, attention_factor=0.9, original_max_position_embeddings=36)),
    "llama_yarn_top_level_context": decoder("llama", original_max_position_embeddings=16,
                                            rope_scaling=YARN | dict(original_max_position_embeddings=64)),
    "mistral_yarn_mscale_of_zero": decoder("mistral", sliding_window=None, attention_bias=True, rope_scaling=YARN | dict(
        original_max_position_embeddings=32, mscale=0.707, mscale_all_dim=0.0)),
    "qwen3_yarn_without_factor": decoder("qwen3", head_dim=8, attention_bias=True, rope_scaling=YARN | dict(
        factor=None, original_max_position_embeddings=24, truncate=False)),
    "llama_keys_without_meaning": decoder("llama", partial_rotary_factor=0.5, rope_interleaved=True, hidden_act="relu2",
                                          attention_bias=True, mlp_bias=True),
    "qwen2_layer_types": decoder("qwen2", use_sliding_window=True, sliding_window=5, mlp_bias=True, hidden_act="quick_gelu",
                                 layer_types=["sliding_attention", "full_attention"]),
    "qwen3_default_head_dim": decoder("qwen3", hidden_size=20, num_hidden_layers=1),
    "llama_tied_with_two_matrices": decoder("llama", tie_word_embeddings=True) | dict(stores="both"),
    "qwen2_tied_in_the_head": decoder("qwen2", tie_word_embeddings=True) | dict(stores="head"),
    "gpt2_general_names": dict(model_type="gpt2", vocab_size=37, hidden_size=24, num_hidden_layers=2, num_attention_heads=3,
                               max_position_embeddings=96, n_inner=20, scale_attn_by_inverse_layer_idx=True, torch_dtype="bfloat16"),
    "bert_masked_lm_untied": bert("BertForMaskedLM", tie_word_embeddings=False, hidden_act="gelu_python"),
    "bert_token_classification": bert("BertForTokenClassification", id2label={"0": "a", "1": "b", "2": "c"}),
    "bert_question_answering": bert("BertForQuestionAnswering"),
    "bert_next_sentence": bert("BertForNextSentencePrediction"),
}


def randomise(model, gen):
    for name, p in model.named_parameters():
        if p.dim() == 1:
            center = 1.0 if name.endswith("weight") else 0.0
            value = center + 0.3 * torch.randn(p.shape, generator=gen)
        elif any(part in name for part in ("embed", "wte", "wpe")):
            value = 0.5 * torch.randn(p.shape, generator=gen)
        else:
            value = 1.2 / math.sqrt(p.shape[-1]) * torch.randn(p.shape, generator=gen)
        p.copy_(value.bfloat16().float())


def greedy(model, ids):
    """Token by token with a cache; None where a choice is too close."""
    logits, new, cache = [], [], None
    step = torch.tensor([ids])
    for _ in range(NEW):
        out = model(step, past_key_values=cache, use_cache=True)
        cache = out.past_key_values
        logits.append(out.logits[0])
        best = out.logits[0, -1].topk(2)
        if best.values[0] - best.values[1] < MARGIN * out.logits[0, -1].abs().max():
            return None
        new.append(int(best.indices[0]))
        step = torch.tensor([new[-1:]])
    return new, torch.cat(logits)


def run_decoder(model):
    expected, tensors = {"prompts": []}, {}
    for i, ids in enumerate(PROMPTS):
        result = greedy(model, ids)
        if result is None:
            return None
        expected["prompts"].append({"ids": ids, "greedy": result[0]})
        tensors[f"prompt{i}.logits"] = result[1].contiguous()
    return expected, tensors


def run_encoder(model):
    names = {"BertForTokenClassification": "classification_logits", "BertForMaskedLM": "mlm_logits",
             "BertForNextSentencePrediction": "seq_relationship_logits"}
    expected, tensors = {"prompts": []}, {}
    for i, ids in enumerate(PROMPTS):
        out = model(torch.tensor([ids]), output_hidden_states=True)
        found = {"last_hidden_state": out.hidden_states[-1]}
        if "start_logits" in out:
            found["span_logits"] = torch.stack([out.start_logits, out.end_logits], -1)
        else:
            found[names[type(model).__name__]] = out.logits
        expected["prompts"].append({"ids": ids})
        for name, value in found.items():
            tensors[f"prompt{i}.{name}"] = value.reshape(-1, value.shape[-1]).contiguous()
    return expected, tensors


def read_back(cls, folder, expected, tensors):
    """What counts is what transformers makes of the files."""
    model = cls.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32).eval()
    again = (run_encoder if "last_hidden_state" in str(list(tensors)) else run_decoder)(model)
    assert again[0]["prompts"] == expected["prompts"]
    assert all(torch.equal(again[1][key], value) for key, value in tensors.items()), folder


@torch.no_grad()
def make(name, config):
    config = dict(config)
    stores = config.pop("stores", "embeddings")  # of tied words: which of the two matrices the file has
    folder = os.path.join(HERE, name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    with open(f"{folder}/config.json", "w") as f:
        json.dump(config, f, indent=1)
    parsed = transformers.AutoConfig.from_pretrained(folder)
    encoder = config["model_type"] == "bert"
    cls = getattr(transformers, config["architectures"][0]) if encoder else transformers.AutoModelForCausalLM
    build = cls._from_config if encoder else cls.from_config
    for seed in range(1, 500):
        model = build(parsed, attn_implementation="eager").float().eval()
        if stores == "both":
            model.lm_head.weight = torch.nn.Parameter(torch.empty_like(model.lm_head.weight))
        randomise(model, torch.Generator().manual_seed(seed))
        result = run_encoder(model) if encoder else run_decoder(model)
        if result:
            break
    expected, tensors = result
    expected["seed"] = seed
    weights = {k: v.bfloat16().contiguous() for k, v in model.state_dict().items()}
    if stores == "head":
        weights.pop("model.embed_tokens.weight")
    elif stores == "embeddings" and parsed.tie_word_embeddings:
        for tied in ("lm_head.weight", "cls.predictions.decoder.weight", "cls.predictions.decoder.bias"):
            weights.pop(tied, None)
    save_file(weights, f"{folder}/model.safetensors", {"format": "pt"})
    read_back(cls, folder, expected, tensors)
    save_file(tensors, f"{folder}/expected.safetensors")
    with open(f"{folder}/expected.json", "w") as f:
        json.dump(expected, f)
    print(f"{name}: seed {seed}, {sum(os.path.getsize(os.path.join(folder, x)) for x in os.listdir(folder)) >> 10} KB")


if __name__ == "__main__":
    torch.set_num_threads(1)
    for case, settings in CASES.items():
        make(case, settings)
