// Compares what a neighbour gave with what the origin says. Tells a lie of a neighbour from a
// change at the origin, and from servers of the origin that disagree, by several answers of the
// origin. Pure.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "proxy/cache/entry.hpp"
#include "proxy/http/head.hpp"

namespace proxy {

// Whether a difference between a neighbour's response and the origin's shows that the neighbour's
// never was the origin's. `length`: the complete length of the neighbour's, if known; `origin`: the
// head of the origin's answer to a plain GET; `origin_length`: of its body, if known.
//
// There are two such differences, and both compare only a 200 with a 200:
// - the same strong validator, but another length in the same encoding;
// - no validator in common, though the origin's Last-Modified is older than the neighbour's Date,
//   and Last-Modified or the length differs, too. The servers of one origin may make a tag each for
//   the same file, so another tag alone shows nothing.
// Every other difference may be a change at the origin since the neighbour has asked there.
bool contradicts(const http::ResponseHead& origin, std::optional<std::uint64_t> origin_length,
                 const cache::Entry& given, std::optional<std::uint64_t> length);

// What one answer of the origin says about a response that a neighbour gave.
struct Testimony {
  bool contradicts = false;
  std::string version;  // validators and length; empty if the answer is of no version
};
// The parameters are those of contradicts().
Testimony testimony_of(const http::ResponseHead& origin, std::optional<std::uint64_t> origin_length,
                       const cache::Entry& given, std::optional<std::uint64_t> length);

// The answer to the first question may come on a pooled connection. Each further question takes a
// connection of its own, so that a load balancer may lead it to another server.
inline constexpr std::size_t kQuestions = 3;

enum class Ruling : std::uint8_t {
  ask_again,      // the answers so far contradict the neighbour
  nothing,        // the answers say nothing against the neighbour
  origin_varies,  // the answers do not agree: the origin is no witness
  contradicted,   // all answers agree, and contradict the neighbour
};
// `answers`: all so far, at least one.
Ruling ruling_on(std::span<const Testimony> answers);

// How long to wait after so many answers (at least one) before the next question. `first`: the
// setting digest.check_pause. Each further pause is five times as long, since servers of one origin
// may take seconds or minutes to get a change.
std::chrono::milliseconds pause_after(std::size_t answers, std::chrono::milliseconds first);

}  // namespace proxy
