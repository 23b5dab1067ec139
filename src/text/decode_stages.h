// The stages of decoder.h. Private to it.
#pragma once

#include "text/decoder.h"

namespace headrace {

std::string replace_all(std::string_view text, std::string_view pattern, std::string_view content);

// Parts of one token to that token.
class CollectStage final : public DecodeStage {
 public:
  void token(std::string_view text) override { text_ += text; }
  void finish() override { put(text_); }

 private:
  std::string text_;
};

class ReplaceStage final : public DecodeStage {
 public:
  ReplaceStage(std::string pattern, std::string content) : pattern_(std::move(pattern)), content_(std::move(content)) {}
  void token(std::string_view text) override { put(replace_all(text, pattern_, content_)); }

 private:
  std::string pattern_, content_;
};

// Over parts: holds an end that may be the beginning of the pattern.
class FusedReplaceStage final : public DecodeStage {
 public:
  FusedReplaceStage(std::string pattern, std::string content) : pattern_(std::move(pattern)), content_(std::move(content)) {}
  void token(std::string_view text) override;
  void finish() override { put(held_); }

 private:
  std::string pattern_, content_, held_;
};

class RegexReplaceStage final : public DecodeStage {
 public:
  RegexReplaceStage(Regex pattern, std::string content) : pattern_(std::move(pattern)), content_(std::move(content)) {}
  void token(std::string_view text) override;

 private:
  Regex pattern_;
  std::string content_;
};

class ByteRunStage final : public DecodeStage {
 public:
  void token(std::string_view text) override;
  void finish() override { end_run(); }

 private:
  void end_run();
  std::string run_;
};

class ByteTokenStage final : public DecodeStage {
 public:
  void token(std::string_view text) override;
};

class DropLeadingStage final : public DecodeStage {
 public:
  DropLeadingStage(std::string mark, bool repeat) : mark_(std::move(mark)), repeat_(repeat) {}
  void token(std::string_view text) override;

 private:
  std::string mark_;
  bool repeat_, started_ = false;
};

class ByteLevelStage final : public DecodeStage {
 public:
  void token(std::string_view text) override;
};

class StripStage final : public DecodeStage {
 public:
  StripStage(std::string content, size_t start, size_t stop) : content_(std::move(content)), start_(start), stop_(stop) {}
  void token(std::string_view text) override;

 private:
  std::string content_;
  size_t start_, stop_;
};

class FusedStripStage final : public DecodeStage {
 public:
  FusedStripStage(std::string content, size_t start, size_t stop) : content_(std::move(content)), start_(start), stop_(stop) {}
  void token(std::string_view text) override;
  void finish() override;

 private:
  std::string content_, held_;
  size_t start_, stop_;
};

class MetaspaceStage final : public DecodeStage {
 public:
  MetaspaceStage(std::string replacement, bool drop_first) : replacement_(std::move(replacement)), first_(drop_first) {}
  void token(std::string_view text) override {
    put(replace_all(text, replacement_, first_ ? "" : " "));
    first_ = false;
  }

 private:
  std::string replacement_;
  bool first_;
};

class WordPieceStage final : public DecodeStage {
 public:
  explicit WordPieceStage(Decoder::WordPieceOptions options) : options_(std::move(options)) {}
  void token(std::string_view text) override;

 private:
  Decoder::WordPieceOptions options_;
  bool first_ = true;
};

class WordSuffixStage final : public DecodeStage {
 public:
  explicit WordSuffixStage(std::string suffix) : suffix_(std::move(suffix)) {}
  void token(std::string_view text) override;
  void finish() override;

 private:
  std::string suffix_, held_;  // whether a token is the last one is known only later
};

class CtcStage final : public DecodeStage {
 public:
  explicit CtcStage(Decoder::CtcOptions options) : options_(std::move(options)) {}
  void token(std::string_view text) override;

 private:
  Decoder::CtcOptions options_;
  std::string previous_;
  bool first_ = true;
};

class JoinStage final : public DecodeStage {
 public:
  explicit JoinStage(std::string separator) : separator_(std::move(separator)) {}
  void token(std::string_view text) override {
    if (!first_) put(separator_);
    put(text);
    first_ = false;
  }

 private:
  std::string separator_;
  bool first_ = true;
};

class CleanupStage final : public DecodeStage {
 public:
  void token(std::string_view text) override;
  void finish() override { put(clean_up_spaces(held_)); }

 private:
  std::string held_;
};

}  // namespace headrace
