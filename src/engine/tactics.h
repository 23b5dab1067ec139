// Tactics in an engine: which kernels were the fastest, as measured on one kind of device. Of use there and to the same version of Headrace
// only, and never needed: an engine whose tactics are damaged or of another device runs like one that has none. What a choice is, lowering
// knows; here it is JSON text.
#pragma once

#include "headrace/engine.h"

namespace headrace {

// For Engine::tactics. `device` is Device::fingerprint(); `choices` is JSON. Throws Error(kInvalidArgument) when it is not.
std::string make_tactics(const std::string& device, const std::string& choices);

// The choices that hold on this device, as JSON; "null" when there are none. A line in the log says when there are some of another device
// or version, or garbled ones.
std::string tactics_for(const Engine& engine, const std::string& device);

// On disk they carry a checksum. Throws Error(kInvalidArgument) for what is no JSON object.
std::string with_checksum(const std::string& tactics);
// "null", and a line in the log, unless the checksum is right.
std::string without_checksum(const std::string& stored, const std::string& where);

}  // namespace headrace
