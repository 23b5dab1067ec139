"""Makes the vocabularies of this folder and what other libraries say about them.

    pip install tokenizers sentencepiece; python make.py

Every vocabulary is trained on CORPUS. NAME/cases.jsonl holds a case per line: text, ids (without special tokens, control tokens of the
text not parsed), special_ids (with both), decoded (of special_ids). SentencePiece knows no special_ids: decoded is that of ids, unless one
of them is the unknown token, which it writes in its own way.
"""
import base64
import io
import json
import pathlib
import random

import sentencepiece
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

HERE = pathlib.Path(__file__).parent
CORPUS = """
A small boat left the harbour at seven in the morning, and nobody aboard had slept. The captain's dog barked twice.
"We'll be back by noon," she said; it wasn't true, but they'd heard it 1000 times before and didn't mind.
Prices rose from 12.50 to 1,234,567.89 in 2024: that is 98,765 percent, isn't it? He wrote for (i = 0; i < 10; ++i) { total += i * i; }
Der Bäcker öffnet früh, und die Straße riecht nach Brot. Größere Brötchen kosten fünfzig Pfennig mehr.
L'été dernier, nous avons mangé des crêpes à la plage; c'était très agréable, même s'il pleuvait.
El niño pequeño corrió mañana por la montaña. ¿Dónde está el señor Ibáñez? ¡Aquí!
Маленькая лодка вышла из гавани рано утром, и никто не спал. Собака капитана лаяла дважды.
小さな船が朝早く港を出ました。誰も眠っていませんでした。船長の犬が二回吠えました。
小船清晨离开港口，没有人睡觉。船长的狗叫了两声。中文没有空格，所以切分很难。
작은 배가 아침 일찍 항구를 떠났다. 아무도 자지 않았다.
غادر القارب الصغير الميناء في الصباح الباكر ولم ينم أحد.
हर सुबह एक छोटी नाव बंदरगाह से निकलती है।
Emoji 🙂 are 👍🏽 fun 👩‍👩‍👧‍👦, flags 🇫🇷 too. Tabs\tand\nnew lines\r\n  and   runs of     spaces matter.
The ﬁrst ﬂight of the Åland crew: ① ② ③ ½ ¾ x² H₂O ™ … “quoted” ‘single’ — dash – and ﬀ.
""" * 6
TRICKY = [
    "", " ", "  ", "   a", "a   ", "\t", "\n", "\n\n\n", " \n \t x", "Hello world", " Hello world", "Hello  world", "hello, World! it's we'll I'M",
    "12345678901 1,234.5", "a1b2c3", "naïve café Å A\u030a e\u0301\u0323 \u1e69 s\u0323\u0307 s\u0307\u0323", "가각힣 \u1100\u1161\u11a8", "ﬁ ﬂ ①½ｘＡ ㍿ ﷺ",
    "İstanbul IJ ẞ Σίσυφος ΟΔΟΣ", "中文没有空格 ひらがな カタカナ 한국어", "🙂🙂 👩‍👩‍👧‍👦 🇫🇷", "\u200b\u200d\ufeff\u00ad\u2028\u2029\u0085\u00a0\u3000x", "\x00\x01\x7f\x0b\x0c",
    "x=1;y+=2/*z*/", "$100 + €20 = £5 ~ `code` ^_^ |pipe| <tag>", "don't Don'T DON'T 's", "▁under ▁▁ score_", "<s>hi</s> <unk> [CLS] [MASK] <0x41>",
    "<|endoftext|> <|user|> mid<|user|>dle <wide>   spaced   <mask>  x word", "aword word aword", "\ufffd\ufffd \ue000 \U000e0001 \u0378 \U0001f9ff", "a" * 120, "ab" * 60,
    "́́ leading marks", "مرحبا بالعالم ١٢٣", "हिन्दी में पाठ", "tail newline\n", "\r\n\r\n", "…“”‘’—–", "supercalifragilistic", "Ça va?  Ok . No ! Yes , 've n't",
]


def texts():
    rng = random.Random(7)
    words = CORPUS.split(" ")
    pool = [0x20, 0x09, 0x0A, 0x41, 0x61, 0x301, 0x323, 0xE9, 0x3B1, 0x416, 0x4E2D, 0x3042, 0xAC00, 0x1100, 0x1161, 0x1F600, 0x200D, 0x2581, 0x30, 0x2E, 0x27]
    for text in TRICKY:
        yield text
    for _ in range(12):
        yield " ".join(rng.choices(words, k=rng.randint(1, 8)))
    for _ in range(12):
        yield "".join(chr(rng.choice(pool) + rng.randint(0, 3)) for _ in range(rng.randint(1, 20)))


def write_cases(name, encode, encode_special, decode):
    with open(HERE / name / "cases.jsonl", "w", encoding="utf-8") as out:
        for text in texts():
            case = {"text": text, "ids": encode(text)}
            if encode_special:
                case["special_ids"] = encode_special(text)
            case["decoded"] = decode(case.get("special_ids", case["ids"]))
            out.write(json.dumps(case, ensure_ascii=False) + "\n")


def save(name, tokenizer):
    (HERE / name).mkdir(exist_ok=True)
    text = tokenizer.to_str(pretty=False)
    (HERE / name / "tokenizer.json").write_text(text, encoding="utf-8")

    def plain(text):
        tokenizer.encode_special_tokens = True
        return tokenizer.encode(text, add_special_tokens=False).ids

    def special(text):
        tokenizer.encode_special_tokens = False
        return tokenizer.encode(text, add_special_tokens=True).ids

    write_cases(name, plain, special, lambda ids: tokenizer.decode(ids, skip_special_tokens=False))


def added(tokenizer):
    tokenizer.add_special_tokens(["<|endoftext|>", AddedToken("<mask>", lstrip=True, special=True)])
    tokenizer.add_tokens([AddedToken("<|user|>", normalized=False), AddedToken("<wide>", lstrip=True, rstrip=True, normalized=False),
                          AddedToken("word", single_word=True, normalized=True)])


def byte_level():
    t = Tokenizer(models.BPE(ignore_merges=True))
    pattern = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), "isolated"), pre_tokenizers.ByteLevel(False, use_regex=False)])
    t.decoder = decoders.ByteLevel()
    t.train_from_iterator([CORPUS], trainers.BpeTrainer(vocab_size=420, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    added(t)
    t.post_processor = processors.TemplateProcessing("<|endoftext|> $A", "<|endoftext|> $A <|endoftext|> $B:1",
                                                     [("<|endoftext|>", t.token_to_id("<|endoftext|>"))])
    return t


def byte_fallback(scheme):
    special = ["<unk>", "<s>", "</s>"] + [f"<0x{i:02X}>" for i in range(256)]
    t = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    t.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    if scheme == "first":
        t.normalizer = None
        t.pre_tokenizer = pre_tokenizers.Metaspace("▁", prepend_scheme="first", split=False)
    t.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    t.train_from_iterator(CORPUS.split("\n"), trainers.BpeTrainer(vocab_size=480, limit_alphabet=70, special_tokens=special, show_progress=False))
    state = json.loads(t.to_str())
    state["added_tokens"] = [a for a in state["added_tokens"] if not a["content"].startswith("<0x")]
    t = Tokenizer.from_str(json.dumps(state))
    added(t)
    t.post_processor = processors.TemplateProcessing("<s> $A </s>", "<s> $A </s> $B:1 </s>:1", [("<s>", 1), ("</s>", 2)])
    return t


def wordpiece():
    t = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=100))
    t.normalizer = normalizers.BertNormalizer(lowercase=True)
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    t.decoder = decoders.WordPiece("##", cleanup=True)
    t.train_from_iterator([CORPUS], trainers.WordPieceTrainer(vocab_size=400, limit_alphabet=150, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"],
                                                              show_progress=False))
    t.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return t


def word_suffix():
    t = Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
    t.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()])
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Digits(individual_digits=True)])
    t.decoder = decoders.BPEDecoder("</w>")
    t.train_from_iterator([CORPUS], trainers.BpeTrainer(vocab_size=400, limit_alphabet=120, special_tokens=["<unk>"], end_of_word_suffix="</w>", show_progress=False))
    return t


def odd():
    t = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True))
    t.normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKD(), normalizers.StripAccents(), normalizers.Strip()])
    t.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(" ", "merged_with_next"), pre_tokenizers.Split(Regex(r"[,;]"), "merged_with_previous"),
        pre_tokenizers.Split(Regex(r"\d+"), "contiguous", invert=True), pre_tokenizers.Punctuation("contiguous"),
        pre_tokenizers.CharDelimiterSplit("q"), pre_tokenizers.FixedLength(7)])
    t.train_from_iterator([CORPUS], trainers.BpeTrainer(vocab_size=380, limit_alphabet=110, special_tokens=["<unk>"], show_progress=False))
    return t


def sentencepiece_model(name, **options):
    (HERE / name).mkdir(exist_ok=True)
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(CORPUS.split("\n")), model_writer=model, minloglevel=2, num_threads=1, **options)
    (HERE / name / "tokenizer.model").write_bytes(model.getvalue())
    sp = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    write_cases(name, sp.encode, None, lambda ids: None if sp.unk_id() in ids else sp.decode(ids))
    return model.getvalue()


def rules():
    path = HERE / "rules.tsv"
    pairs = [("ﬁ", "fi"), ("ﬂ", "fl"), ("①", "1"), ("½", "1/2"), ("A\u030a", "Å"), ("e\u0301", "é"), ("e\u0301\u0323", "ẹ́"), ("\t", " "), ("\n", " "),
             ("\u00a0", " "), ("\u3000", " "), ("\u200b", ""), ("…", "..."), ("ｘ", "x")]
    path.write_text("".join(" ".join(f"{ord(c):X}" for c in a) + "\t" + " ".join(f"{ord(c):X}" for c in b) + "\n" for a, b in pairs))
    return path


def ranks(tokenizer, name):
    """The byte-level vocabulary as tiktoken's file; its ids are ranks only if the merges' order is that of the ids, as training leaves it."""
    table = {c: b for b, c in enumerate(alphabet())}
    (HERE / name).mkdir(exist_ok=True)
    vocab = sorted(((i, t) for t, i in tokenizer.get_vocab(with_added_tokens=False).items()))
    lines = [base64.b64encode(bytes(table[c] for c in token)).decode() + f" {i}" for i, token in vocab]
    (HERE / name / "vocab.tiktoken").write_text("\n".join(lines) + "\n")


def alphabet():
    visible = list(range(0x21, 0x7F)) + list(range(0xA1, 0xAD)) + list(range(0xAE, 0x100))
    hidden = [b for b in range(256) if b not in visible]
    return [chr(b) if b in visible else chr(0x100 + hidden.index(b)) for b in range(256)]


def main():
    plain = byte_level()
    save("byte_level", plain)
    ranks(plain, "tiny-llama3")
    save("byte_fallback", byte_fallback("always"))
    save("metaspace_first", byte_fallback("first"))
    save("wordpiece", wordpiece())
    save("word_suffix", word_suffix())
    save("odd", odd())
    path = rules()
    sentencepiece_model("sentencepiece_bpe", model_type="bpe", vocab_size=580, byte_fallback=True, character_coverage=0.98, normalization_rule_name="identity",
                        remove_extra_whitespaces=False, user_defined_symbols=["<|user|>", "word"], hard_vocab_limit=False)
    sentencepiece_model("sentencepiece_unigram", model_type="unigram", vocab_size=400, character_coverage=0.99, normalization_rule_tsv=str(path),
                        user_defined_symbols=["<|user|>"], hard_vocab_limit=False)
    path.unlink()


if __name__ == "__main__":
    main()
