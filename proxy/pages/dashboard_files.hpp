// The files of the dashboard (the folder dashboard/), embedded by the build.
#pragma once

#include <span>
#include <string_view>

namespace proxy::pages {

struct DashboardFile {
  std::string_view name;  // "main.js"
  std::string_view content;
  std::string_view etag;  // with its quotes: a hash of the content
};

// All files, in the order of their names.
std::span<const DashboardFile> dashboard_files();

}  // namespace proxy::pages
