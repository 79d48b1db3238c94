// Tries on this machine what settings ask for, without starting a proxy or disturbing one.
#pragma once

#include <chrono>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "proxy/machine/limits.hpp"
#include "proxy/machine/service.hpp"

namespace proxy::check {

// The results of the check, each in one line for a person.
struct CheckReport {
  std::vector<std::string> warnings;     // what would fail, or fall short, and what to do
  std::vector<std::string> notes;        // what is worth to know
  std::vector<std::string> errors = {};  // for which the proxy would not start, and what to do
  bool runs = false;                     // a Hearsay runs at one of the addresses
  bool is_strict = false;                // a warning, too, keeps the settings from being good

  bool operator==(const CheckReport&) const = default;
};

// Each appends to `into`. All may block; the time is bounded by seconds. They create nothing and
// leave no trace.

// Whether the folder of the cache, and the log, exist or can be made, and can be written by this
// user, and whether the disk has room.
// `unit`: the service that runs with these settings; null: none does. Warns of what systemd keeps
// read-only for it.
void try_places(const config::Settings& settings, const machine::ServiceUnit* unit,
                CheckReport& into);

// Records which places systemd would keep read-only, for settings that the service does not run
// with.
void record_places_of(const config::Settings& settings, const machine::ServiceUnit& unit,
                      CheckReport& into);

// Whether the user that the proxy is to become exists, and can be given the cache, the log and the
// control socket. Warns if root's rights would be kept. A user who does not exist is an error, and
// so is a place to which root must not go.
void try_user(const config::Settings& settings, CheckReport& into);

// Whether each address of `listen` can be bound. It is a note if a running Hearsay has the port,
// and an error if another program has it. All else that keeps the proxy from starting is an error,
// too. `unit`: as above. If systemd listens for the unit, or lets it bind low ports, this process
// need not be able to. Sets CheckReport::runs.
void try_ports(const config::Settings& settings, const machine::ServiceUnit* unit,
               CheckReport& into);

// Tries to make the control socket. A failure is an error if the settings name the socket. A proxy
// that runs (CheckReport::runs) may have it. `unit`: as above; systemd may make its folder.
void try_control(const config::Settings& settings, const machine::ServiceUnit* unit,
                 CheckReport& into);

// Whether the names of neighbours and of the origins of `reverse` resolve. Asks for 64 of them at
// most, all at once, for 5 s at most.
void try_names(const config::Settings& settings, CheckReport& into);

// Warns of each neighbour that may read our digest, but may not ask for what it claims. Pure.
void try_access_of_neighbours(const config::Settings& settings, CheckReport& into);

// Asks at most 64 neighbours, all at once, for a URL that nobody holds, and waits at most 3 s.
// Warns of neighbours that refuse us, and of servers that are no proxies. A neighbour that does not
// run is no fault of the settings.
void try_neighbours(const config::Settings& settings, CheckReport& into);

// Whether the memory and the descriptors suffice. Pure.
void try_limits(const config::Settings& settings, const std::optional<machine::MemoryLimit>& memory,
                const machine::DescriptorLimit& descriptors, CheckReport& into);

// Tries what depends on the user that starts the proxy: places, user, ports and control socket. If
// there is a unit and this process is root, it becomes the user of the service after the ports, for
// good, as in try_as_user().
void try_as_starter(const config::Settings& settings, const machine::ServiceUnit* unit,
                    CheckReport& into);
// Becomes the user as whom the proxy runs, for good, and tries whether that user may write the
// files that the settings name. Does nothing if this process is not root, or if there is no such
// user. Call this while the process has one thread. Throws std::system_error.
void try_as_user(const config::Settings& settings, CheckReport& into);

// Writes the notes to `out`, errors and warnings to `err`, and at last whether the settings are
// good, which an error keeps them from. Returns whether they are.
bool report(const CheckReport& trial, std::ostream& out, std::ostream& err);

// The head of the answer to a GET of the URL with these fields, through a proxy unless its URL is
// empty; empty if no answer came within the time.
struct TrialQuestion {
  std::string url;
  std::vector<std::string> fields;
  std::chrono::milliseconds patience;
  std::string proxy = {};
};
std::string head_of_answer(const TrialQuestion& question);

// The settings in a few words: where it listens, for whom, with which cache and neighbours. Pure.
std::string summary(const config::Settings& settings);

}  // namespace proxy::check
