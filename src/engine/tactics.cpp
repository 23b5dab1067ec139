#include "engine/tactics.h"

#include "core/json.h"
#include "core/log.h"
#include "engine/checksum.h"

namespace headrace {
namespace {

constexpr char kNone[] = "null";

std::string checksum_of(const Json& tactics) {
  const std::string text = tactics.dump();
  return fmt::format("{:016x}", checksum(std::as_bytes(std::span(text))));
}

std::string ignore(const std::string& where, std::string_view why) {
  log(LogLevel::kWarning, "{}: its tactics {}; kernels are chosen without them", where, why);
  return kNone;
}

}  // namespace

std::string make_tactics(const std::string& device, const std::string& choices) {
  return Json{{"device", device}, {"version", version()}, {"choices", parse_json(choices, "tactics")}}.dump();
}

std::string tactics_for(const Engine& engine, const std::string& device) try {
  if (engine.tactics == kNone) return kNone;
  const Json tactics = parse_json(engine.tactics, "tactics");
  const auto measured_on = require<std::string>(tactics, "device", "tactics"),
             measured_by = require<std::string>(tactics, "version", "tactics");
  if (measured_on != device) return ignore(engine.origin, fmt::format("are of device {}, this is {}", printable(measured_on), device));
  if (measured_by != version())
    return ignore(engine.origin, fmt::format("are of Headrace {}, this is {}", printable(measured_by), version()));
  return require<Json>(tactics, "choices", "tactics").dump();
} catch (const Error& e) {
  return ignore(engine.origin, fmt::format("are damaged ({})", e.what()));
}

std::string with_checksum(const std::string& tactics) {
  Json stored = parse_json(tactics, "tactics");
  if (!stored.is_object()) invalid("tactics: wanted a JSON object, found {}", stored.type_name());
  const std::string sum = checksum_of(stored);
  stored["checksum"] = sum;
  return stored.dump();
}

std::string without_checksum(const std::string& stored, const std::string& where) try {
  Json tactics = parse_json(stored, "tactics");
  const auto sum = require<std::string>(tactics, "checksum", "tactics");
  tactics.erase("checksum");
  return sum == checksum_of(tactics) ? tactics.dump() : ignore(where, "are damaged (another checksum)");
} catch (const Error& e) {
  return ignore(where, fmt::format("are damaged ({})", e.what()));
}

}  // namespace headrace
