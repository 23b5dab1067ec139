#include "engine/tactics.h"

#include "core/json.h"
#include "core/log.h"
#include "engine/checksum.h"

namespace headrace {
namespace {

std::string checksum_of(const Json& tactics) {
  const std::string text = tactics.dump();
  return fmt::format("{:016x}", checksum(std::as_bytes(std::span(text))));
}

std::string none(const std::string& where, std::string_view why) {
  log(LogLevel::kWarning, "{}: its tactics {}; kernels are chosen without them", where, why);
  return {};
}

}  // namespace

std::string tactics_for(const Engine& engine, const std::string& device) try {
  if (engine.tactics.empty()) return {};
  const Json tactics = parse_json(engine.tactics, "tactics");
  const auto timed_on = require<std::string>(tactics, "device", "tactics");
  const auto timed_by = require<std::string>(tactics, "version", "tactics");
  if (timed_on != device) return none(engine.origin, fmt::format("are of device {}, this is {}", printable(timed_on), device));
  if (timed_by != version()) return none(engine.origin, fmt::format("are of Headrace {}, this is {}", printable(timed_by), version()));
  return engine.tactics;
} catch (const Error& e) {
  return none(engine.origin, fmt::format("are damaged ({})", e.what()));
}

std::string with_checksum(const std::string& tactics) {
  const Json json = parse_json(tactics, "tactics");
  if (!json.is_object()) invalid("tactics: wanted a JSON object, found {}", json.type_name());
  return Json{{"checksum", checksum_of(json)}, {"tactics", json}}.dump();
}

std::string without_checksum(const std::string& stored, const std::string& where) try {
  const Json json = parse_json(stored, "tactics");
  const auto tactics = require<Json>(json, "tactics", "tactics");
  if (require<std::string>(json, "checksum", "tactics") != checksum_of(tactics)) return none(where, "are damaged (another checksum)");
  return tactics.dump();
} catch (const Error& e) {
  return none(where, fmt::format("are damaged ({})", e.what()));
}

}  // namespace headrace
