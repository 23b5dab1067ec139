// Post-processors: what stands around a text.
#include <algorithm>

#include "text/tokenizer_json_parts.h"

namespace headrace {
namespace {

constexpr int kMostTexts = 16;

constexpr std::string_view kWhere = "tokenizer.json, post_processor";
using Kind = TemplatePart::Kind;

int32_t checked_id(int64_t id) {
  if (id < 0 || id > INT32_MAX) invalid("{}: token id {}", kWhere, id);
  return static_cast<int32_t>(id);
}

std::vector<int32_t> special_ids(const Json& json, const std::string& name) {
  const auto table = json.find("special_tokens");
  if (table == json.end() || !table->is_object() || !table->contains(name))
    invalid("{}: the template uses '{}', which special_tokens lacks", kWhere, printable(name));
  std::vector<int32_t> ids;
  for (const int64_t id : require<std::vector<int64_t>>((*table)[name], "ids", kWhere)) ids.push_back(checked_id(id));
  return ids;
}

std::vector<TemplatePart> parse_template(const Json& json, const char* key) {
  std::vector<TemplatePart> parts;
  const auto list = json.find(key);
  if (list == json.end() || !list->is_array()) invalid("{}: '{}' is missing", kWhere, key);
  for (const Json& element : *list) {
    if (!element.is_object() || element.size() != 1) invalid("{}: an element of '{}' is no object with one key", kWhere, key);
    const std::string kind = element.begin().key();
    const Json& body = element.begin().value();
    TemplatePart part;
    part.type_id = checked_id(find_or<int64_t>(body, "type_id", 0, kWhere));
    const auto id = require<std::string>(body, "id", kWhere);
    if (kind == "SpecialToken") {
      part.ids = special_ids(json, id);
    } else if (kind == "Sequence") {
      part.kind = id == "B" ? Kind::kSecond : Kind::kFirst;
    } else {
      invalid("{}: an element of '{}' is a '{}', wanted SpecialToken or Sequence", kWhere, key, printable(kind));
    }
    if (part.kind != Kind::kTokens || !part.ids.empty()) parts.push_back(std::move(part));
  }
  return parts;
}

// ["</s>", 2]
int32_t named_id(const Json& json, const char* key) {
  const auto pair = json.find(key);
  if (pair == json.end() || !pair->is_array() || pair->size() != 2 || !(*pair)[1].is_number_integer())
    invalid("{}: '{}' is no pair of a token and its id", kWhere, key);
  return checked_id((*pair)[1].get<int64_t>());
}

PostTemplate bert(int32_t cls, int32_t sep) {
  PostTemplate post;
  post.single = {{Kind::kTokens, {cls}, 0}, {Kind::kFirst, {}, 0}, {Kind::kTokens, {sep}, 0}};
  post.pair = post.single;
  post.pair.push_back({Kind::kSecond, {}, 1});
  post.pair.push_back({Kind::kTokens, {sep}, 1});
  return post;
}

PostTemplate roberta(int32_t cls, int32_t sep) {
  PostTemplate post = bert(cls, sep);
  post.pair = post.single;
  post.pair.push_back({Kind::kTokens, {sep}, 0});
  post.pair.push_back({Kind::kSecond, {}, 0});
  post.pair.push_back({Kind::kTokens, {sep}, 0});
  return post;
}

// `outer` around what `inner` gives.
std::vector<TemplatePart> nest(const std::vector<TemplatePart>& outer, const std::vector<TemplatePart>& inner) {
  std::vector<TemplatePart> parts;
  for (const TemplatePart& part : outer) {
    if (part.kind == Kind::kFirst) {
      parts.insert(parts.end(), inner.begin(), inner.end());
    } else {
      parts.push_back(part);
    }
  }
  return parts;
}

PostTemplate parse_one(const Json& json, const std::string& type) {
  if (type == "TemplateProcessing") return {parse_template(json, "single"), parse_template(json, "pair")};
  if (type == "BertProcessing") return bert(named_id(json, "cls"), named_id(json, "sep"));
  if (type == "RobertaProcessing") return roberta(named_id(json, "cls"), named_id(json, "sep"));
  if (type == "ByteLevel") return {};  // moves offsets only
  fail(ErrorCode::kUnsupported, "{}: '{}' is not known here", kWhere, printable(type));
}

// A text that is repeated for each part of a hostile template fills any memory.
PostTemplate checked(PostTemplate post) {
  if (post.single.empty()) invalid("{}: its 'single' has no part; wanted at least the text, a Sequence with the id A", kWhere);
  for (const auto* parts : {&post.single, &post.pair})
    if (std::count_if(parts->begin(), parts->end(), [](const TemplatePart& part) { return part.kind != TemplatePart::Kind::kTokens; }) >
        kMostTexts)
      invalid("{}: the text is repeated more than {} times", kWhere, kMostTexts);
  return post;
}

PostTemplate parse_all(const Json& json) {
  PostTemplate post;
  const auto type = require<std::string>(json, "type", kWhere);
  if (type != "Sequence") return parse_one(json, type);
  const auto list = json.find("processors");
  if (list == json.end() || !list->is_array()) invalid("{}: a Sequence without 'processors'", kWhere);
  for (const Json& element : *list) {
    const PostTemplate next = parse_one(element, require<std::string>(element, "type", kWhere));
    if (!next.adds_tokens()) continue;
    post.pair = post.adds_tokens() ? nest(next.single, post.pair) : next.pair;
    post.single = nest(next.single, post.single);
    if (post.single.size() > 4096) invalid("{}: too many tokens around a text", kWhere);
  }
  return post;
}

}  // namespace

PostTemplate parse_post_processor(const Json& json) { return json.is_null() ? PostTemplate() : checked(parse_all(json)); }

}  // namespace headrace
