#include "text/decoder.h"

#include <utility>

#include "text/decode_stages.h"

namespace headrace {

class DecodeStream::Output final : public DecodeStage {
 public:
  void token(std::string_view text) override { text_ += text; }
  std::string take() { return std::exchange(text_, {}); }

 private:
  std::string text_;
};

DecodeStream::DecodeStream(const Decoder& decoder) {
  for (const auto& make : decoder.stages_) stages_.push_back(make());
  auto output = std::make_unique<Output>();
  output_ = output.get();
  stages_.push_back(std::move(output));
  for (size_t i = 0; i + 1 < stages_.size(); ++i) stages_[i]->connect(*stages_[i + 1]);
}

DecodeStream::~DecodeStream() = default;
DecodeStream::DecodeStream(DecodeStream&&) noexcept = default;

void DecodeStream::finish() {
  for (const auto& stage : stages_) stage->finish();
}

std::string DecodeStream::take() { return output_->take(); }

void Decoder::collect_if_fused() {
  if (fused_) add([] { return std::make_unique<CollectStage>(); });
}

Decoder& Decoder::replace(std::string pattern, std::string content) {
  return add([=, fused = fused_]() -> std::unique_ptr<DecodeStage> {
    if (fused) return std::make_unique<FusedReplaceStage>(pattern, content);
    return std::make_unique<ReplaceStage>(pattern, content);
  });
}

Decoder& Decoder::replace(Regex pattern, std::string content) {
  collect_if_fused();
  return add([=] { return std::make_unique<RegexReplaceStage>(pattern, content); });
}

Decoder& Decoder::byte_fallback_runs() {
  collect_if_fused();
  return add([] { return std::make_unique<ByteRunStage>(); });
}

Decoder& Decoder::byte_fallback_bytes() {
  return add([] { return std::make_unique<ByteTokenStage>(); });
}

Decoder& Decoder::drop_leading(std::string mark, bool repeat) {
  collect_if_fused();
  return add([=] { return std::make_unique<DropLeadingStage>(mark, repeat); });
}

Decoder& Decoder::fuse() {
  fused_ = true;
  return *this;
}

Decoder& Decoder::byte_level() {
  collect_if_fused();
  fused_ = true;
  return add([] { return std::make_unique<ByteLevelStage>(); });
}

Decoder& Decoder::strip(std::string content, size_t start, size_t stop) {
  return add([=, fused = fused_]() -> std::unique_ptr<DecodeStage> {
    if (fused) return std::make_unique<FusedStripStage>(content, start, stop);
    return std::make_unique<StripStage>(content, start, stop);
  });
}

Decoder& Decoder::metaspace(std::string replacement, bool drop_first) {
  collect_if_fused();
  return add([=] { return std::make_unique<MetaspaceStage>(replacement, drop_first); });
}

Decoder& Decoder::wordpiece(WordPieceOptions options) {
  collect_if_fused();
  return add([=] { return std::make_unique<WordPieceStage>(options); });
}

Decoder& Decoder::word_suffix(std::string suffix) {
  collect_if_fused();
  return add([=] { return std::make_unique<WordSuffixStage>(suffix); });
}

Decoder& Decoder::ctc(CtcOptions options) {
  collect_if_fused();
  return add([=] { return std::make_unique<CtcStage>(options); });
}

Decoder& Decoder::join(std::string separator) {
  collect_if_fused();
  return add([=] { return std::make_unique<JoinStage>(separator); });
}

Decoder& Decoder::cleanup() {
  fused_ = true;
  return add([] { return std::make_unique<CleanupStage>(); });
}

}  // namespace headrace
