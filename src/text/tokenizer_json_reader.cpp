#include "text/tokenizer_json_reader.h"

namespace headrace {
namespace {

constexpr std::string_view kWhere = "tokenizer.json";

// The interface that nlohmann::json::sax_parse calls.
class Reader {
 public:
  explicit Reader(TokenizerJson& out) : out_(out) {}

  bool null() { return scalar(nullptr); }
  bool boolean(bool value) { return scalar(value); }
  bool number_integer(int64_t value) { return number(value); }
  bool number_unsigned(uint64_t value) { return number(value); }
  bool number_float(double value, const std::string&) { return number(value); }
  bool binary(Json::binary_t&) { return false; }

  bool string(std::string& value) {
    if (area_ == Area::kVocab && list_depth() == 2) {
      token_ = value;
      if (++parts_ != 1) bad("model.vocab", "a pair of strings");
      return true;
    }
    if (area_ == Area::kMerges) return merge_string(value);
    if (area_ == Area::kVocab) bad("model.vocab", "a string");
    return scalar(std::move(value));
  }

  bool start_object(size_t) {
    if (area_ == Area::kVocab && depth_ == area_depth_ && !out_.vocab_is_list && !inside_) {
      inside_ = true;
      return deeper();
    }
    if (area_ != Area::kTree) bad(area_name(), "an object");
    stack_.push_back(place(Json::object()));
    return deeper();
  }

  bool end_object() {
    --depth_;
    if (area_ == Area::kVocab) return leave();
    stack_.pop_back();
    return true;
  }

  bool key(std::string& name) {
    if (area_ == Area::kVocab) {
      token_ = name;
      return true;
    }
    key_ = name;
    if (stack_.size() == 1) in_model_ = name == "model";
    if (stack_.size() == 2 && in_model_) {
      if (name == "vocab") enter(Area::kVocab);
      if (name == "merges") enter(Area::kMerges);
    }
    return true;
  }

  bool start_array(size_t) {
    if (area_ != Area::kTree) {
      if (depth_ == area_depth_ && !inside_) {
        inside_ = true;
        if (area_ == Area::kVocab) out_.vocab_is_list = true;
      } else if (list_depth() != 1 || (area_ == Area::kVocab && !out_.vocab_is_list)) {
        bad(area_name(), "an array");
      }
      parts_ = 0;
      return deeper();
    }
    stack_.push_back(place(Json::array()));
    return deeper();
  }

  bool end_array() {
    --depth_;
    if (area_ != Area::kTree) {
      if (depth_ == area_depth_) return leave();
      if (parts_ != 2) bad(area_name(), "an entry that is no pair");
      return true;
    }
    stack_.pop_back();
    return true;
  }

  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception& e) {
    invalid("{}: not valid JSON: {}", kWhere, printable(e.what(), 200));
  }

 private:
  enum class Area { kTree, kVocab, kMerges };

  [[noreturn]] void bad(std::string_view place, std::string_view found) const {
    invalid("{}: {} holds {}, wanted tokens with ids or scores, or pairs of tokens", kWhere, place, found);
  }
  std::string_view area_name() const { return area_ == Area::kVocab ? "model.vocab" : "model.merges"; }
  int list_depth() const { return depth_ - area_depth_; }

  void enter(Area area) {
    area_ = area;
    area_depth_ = depth_;
    inside_ = false;
  }
  bool leave() {
    area_ = Area::kTree;
    return true;
  }
  bool deeper() {
    if (++depth_ > kMaxJsonDepth) invalid("{}: JSON nested deeper than {} levels", kWhere, kMaxJsonDepth);
    return true;
  }

  template <typename T>
  bool number(T value) {
    if (area_ == Area::kTree) return scalar(value);
    if (area_ == Area::kMerges) bad(area_name(), "a number");
    if (!inside_) return leave();
    if (out_.vocab_is_list) {
      if (list_depth() != 2 || ++parts_ != 2) bad(area_name(), "a number");
      out_.vocabulary.add(token_);
      out_.scores.push_back(static_cast<double>(value));
      return true;
    }
    const auto id = static_cast<double>(value);
    if (!std::is_integral_v<T> || id < 0 || id > INT32_MAX) bad(area_name(), "an id that is no token number");
    out_.vocabulary.set(static_cast<int32_t>(id), token_);
    return true;
  }

  // A merge is "left right", or ["left", "right"].
  bool merge_string(const std::string& value) {
    const auto at = static_cast<uint32_t>(out_.merge_text.size());
    if (out_.merge_text.size() + value.size() > UINT32_MAX - 1) invalid("{}: model.merges is larger than 4 GiB", kWhere);
    if (list_depth() == 1) {
      const size_t space = value.find(' ');
      if (value.starts_with("#version") && out_.merges.empty()) return true;
      if (space == std::string::npos || value.find(' ', space + 1) != std::string::npos)
        invalid("{}: the merge '{}' is not two tokens with a space between them", kWhere, printable(value));
      out_.merge_text.append(value, 0, space).append(value, space + 1);
      out_.merges.push_back({at, at + static_cast<uint32_t>(space), static_cast<uint32_t>(out_.merge_text.size())});
      return true;
    }
    if (list_depth() != 2 || ++parts_ > 2) bad(area_name(), "more than two tokens");
    out_.merge_text += value;
    const auto end = static_cast<uint32_t>(out_.merge_text.size());
    if (parts_ == 1) {
      out_.merges.push_back({at, end, end});
    } else {
      out_.merges.back().end = end;
    }
    return true;
  }

  template <typename T>
  bool scalar(T&& value) {
    if (area_ != Area::kTree) {
      if (inside_) bad(area_name(), "a value of a wrong type");
      leave();  // "merges": null
    }
    place(Json(std::forward<T>(value)));
    return true;
  }

  Json* place(Json value) {
    if (stack_.empty()) {
      out_.root = std::move(value);
      return &out_.root;
    }
    Json& top = *stack_.back();
    if (top.is_array()) {
      top.push_back(std::move(value));
      return &top.back();
    }
    Json& slot = top[key_];
    slot = std::move(value);
    return &slot;
  }

  TokenizerJson& out_;
  std::vector<Json*> stack_;
  std::string key_, token_;
  Area area_ = Area::kTree;
  bool in_model_ = false, inside_ = false;  // inside: the area's list or object has begun
  int depth_ = 0, area_depth_ = 0, parts_ = 0;
};

}  // namespace

TokenizerJson read_tokenizer_json(std::string_view text) {
  TokenizerJson result;
  result.vocabulary.reserve(text.size() / 64, text.size() / 8);
  Reader reader(result);
  if (!Json::sax_parse(text.begin(), text.end(), &reader)) invalid("{}: not valid JSON", kWhere);
  if (!result.root.is_object()) invalid("{}: wanted a JSON object, found {}", kWhere, result.root.type_name());
  return result;
}

}  // namespace headrace
