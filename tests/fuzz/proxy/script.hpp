// An input as a script: how the proxy is set up, then what happens to it, step by step.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fuzz {

// The text up to the first kStep is the set-up, one letter per choice; other letters mean nothing:
//   r  reverse mode for every host, by two origins      s  ... whose responses neighbours may see
//   d  a disk; bodies over 8 KiB are kept in blocks     2  ... admitted on the second request
//   n  two neighbours: b claims every key, c none       o  offline
//   l  the clients are on loopback: admins              p  they have public addresses
//   b  they have neighbour b's address                  m  little memory
//   a  Forwarded is appended to                         x  Forwarded and its like are removed
//   t  rules for two sites                              j  an access log
//   i  192.0.2.7 and the hosts of a.test are mirrored  v  recipes are, and 192.0.2.7 below /hub/
//
// Each step begins with kStep and a letter; the rest are its bytes:
//   c  the client sends them. The first client connects by itself.
//   k  one more client connects, and sends them. Later steps of a client are its own.
//   h  the client sends no more          q  the client leaves
//   w  the client stops reading          W  the client reads again
//   o  an origin answers with them: on the connection that has waited longest for an answer; if
//   none
//      waits, on the connection that was answered last
//   O  the same; then the origin closes the connection
//   n  N  the same by a neighbour
//   t  time passes: a number of seconds
//   f  F  the clock is set ahead, or back, by a number of seconds
//   d  a neighbour's answer to a poll: status, Server, Via and ETag on a line each, then the body
//   R  the proxy ends, and starts again with its disk
// Other letters mean nothing.
inline constexpr char kStep = '\x1e';
// In the bytes, kFill with a number and a semicolon stands for so many bytes of a pattern, which
// differs from step to step.
inline constexpr char kFill = '\x1d';

struct Step {
  char kind;
  std::string bytes;
};

struct Script {
  std::string setup;
  std::vector<Step> steps;

  bool has(char choice) const { return setup.find(choice) != std::string::npos; }
};

// Never fails. Ignores steps beyond the 48th, and fills with at most 3 MiB in all.
Script read_script(std::string_view input);

}  // namespace fuzz
