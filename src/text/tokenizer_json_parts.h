// The small parts of tokenizer.json, each a "type" with its settings. Private to the loader.
#pragma once

#include "core/json.h"
#include "text/tokenizer_parts.h"

namespace headrace {

// Sequences are flattened. null gives nothing.
void parse_normalizer(const Json& json, std::vector<Normalizer>& out);
void parse_pre_tokenizer(const Json& json, std::vector<PreTokenizer>& out);
PostTemplate parse_post_processor(const Json& json);
Decoder parse_decoder(const Json& json);
std::vector<AddedToken> parse_added_tokens(const Json& json);
// One entry of added_tokens, or of tokenizer_config.json's added_tokens_decoder.
AddedToken parse_added_token(const Json& json, int32_t id, std::string_view where);

std::string base64_decode(std::string_view text, std::string_view where);

}  // namespace headrace
