// Folders: those that others use, too, and those that this process or a service cannot write.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace proxy::machine {

// The path itself if it exists, as far as this user can see, else the folder above it that does.
std::filesystem::path nearest_that_exists(std::filesystem::path path);

// Whether others than we keep files in the folder, such as /etc or a home.
bool is_shared(const std::filesystem::path& folder);

// The nearest folder that exists above a missing one, which the sandbox may grant until the missing
// one is there. Empty: others keep files there, so the sandbox must not.
std::filesystem::path own_folder_above(const std::filesystem::path& missing);

// The service of systemd that this process belongs to, such as "hearsay.service"; that name if none
// is known. Reads /proc/self/cgroup at the first call, which is to be before the sandbox.
const std::string& own_service();
// The innermost service in the text of /proc/self/cgroup; empty: there is none. Pure.
std::string service_in(std::string_view proc_self_cgroup);

// The drop-in, word for word, that lets this service of systemd write the folder.
std::string drop_in_for(const std::string& service, const std::filesystem::path& folder);

// Advice to a person if the folder is read-only for this process whatever its user; with a service
// manager around, drop_in_for(). If the folder is missing, the one above it counts. Empty: the
// folder is not read-only.
std::string read_only_advice(const std::filesystem::path& folder);

struct WriteAdvice {
  std::string text;
  bool needs_restart = false;  // of the proxy: until then, a new try cannot succeed
};
// What a person does if a running proxy was not allowed to write `item` in the folder, or the
// folder is missing: read_only_advice(), else what the user lacks, or the sandbox.
WriteAdvice write_advice(const std::filesystem::path& folder, const std::filesystem::path& item);

}  // namespace proxy::machine
