// Tactics in an engine: which kernels were the fastest, as timed on one kind of device. Of use there and to the same version of Headrace
// only, and never needed: an engine whose tactics are damaged or of another device runs like one that has none. What they say, lowering
// knows; here they are the text of a JSON object that has "device" and "version", the version of Headrace.
#pragma once

#include "headrace/engine.h"

namespace headrace {

// The engine's tactics, if they are of this device (Device::fingerprint()) and this version. Otherwise nothing, and a line in the log if
// there are some.
std::string tactics_for(const Engine& engine, const std::string& device);

// On disk: {"checksum": ..., "tactics": ...}. Throws Error(kInvalidArgument) for what is no JSON object.
std::string with_checksum(const std::string& tactics);
// Nothing, and a line in the log, unless the checksum is right.
std::string without_checksum(const std::string& stored, const std::string& where);

}  // namespace headrace
