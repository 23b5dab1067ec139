// From tokens back to text, as a chain of stages that work token by token. Decoding a whole list and decoding a stream are the same
// thing: what the stages have put out is never taken back, what could still change is held.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/regex.h"

namespace headrace {

// One stage of one stream.
class DecodeStage {
 public:
  virtual ~DecodeStage() = default;
  virtual void token(std::string_view text) = 0;
  virtual void finish() {}  // no more tokens
  void connect(DecodeStage& next) { next_ = &next; }

 protected:
  void put(std::string_view text) { next_->token(text); }

 private:
  DecodeStage* next_ = nullptr;
};

// The list of stages, from which streams are made.
class Decoder {
 public:
  using MakeStage = std::function<std::unique_ptr<DecodeStage>()>;

  // Tokens are taken one by one until a stage fuses them: then the stages behind it see parts of one long token.
  Decoder& replace(std::string pattern, std::string content);
  Decoder& replace(Regex pattern, std::string content);
  Decoder& byte_fallback_runs();   // <0xE4> ...: a run of byte tokens that is not UTF-8 becomes one U+FFFD for each byte
  Decoder& byte_fallback_bytes();  // the same, but the bytes come out as they are
  Decoder& drop_leading(std::string mark,
                        bool repeat);  // one mark of the first token; repeat: of the next ones too, while nothing came out
  Decoder& fuse();
  Decoder& byte_level();                                           // GPT-2's alphabet to bytes; fuses
  Decoder& strip(std::string content, size_t start, size_t stop);  // up to so many from either end of a token
  Decoder& metaspace(std::string replacement, bool drop_first);    // marks to spaces; those of the first token to nothing
  struct WordPieceOptions {
    std::string prefix = "##";
    bool cleanup = true;  // no space before punctuation
  };
  Decoder& wordpiece(WordPieceOptions options);
  Decoder& word_suffix(std::string suffix);  // a space at the end of each word but the last
  struct CtcOptions {
    std::string pad = "<pad>", delimiter = "|";
    bool cleanup = true;
  };
  Decoder& ctc(CtcOptions options);      // drops repeats and blanks
  Decoder& join(std::string separator);  // between tokens
  Decoder& cleanup();                    // the whole text without spaces before punctuation and English contractions

 private:
  friend class DecodeStream;
  Decoder& add(MakeStage stage) { return stages_.push_back(std::move(stage)), *this; }
  // For stages that need whole tokens, behind one that fused them.
  void collect_if_fused();
  std::vector<MakeStage> stages_;
  bool fused_ = false;
};

// Tokens in, bytes out.
class DecodeStream {
 public:
  explicit DecodeStream(const Decoder& decoder);
  ~DecodeStream();
  DecodeStream(DecodeStream&&) noexcept;
  void token(std::string_view text) { stages_.front()->token(text); }
  void finish();
  // What came out since the last call.
  std::string take();

 private:
  class Output;
  std::vector<std::unique_ptr<DecodeStage>> stages_;  // the last one is the output
  Output* output_;
};

// Hugging Face's clean_up_tokenization: " ." to ".", " n't" to "n't" and so on.
std::string clean_up_spaces(std::string text);

}  // namespace headrace
