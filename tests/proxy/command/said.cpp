#include "tests/proxy/command/said.hpp"

#include <unistd.h>

#include <stdexcept>

namespace proxy::command {

StreamFile::StreamFile(std::string_view content) : file_(std::tmpfile()) {
  if (file_ == nullptr) throw std::runtime_error("no temporary file");
  if (!content.empty()) std::fwrite(content.data(), 1, content.size(), file_);
  std::rewind(file_);
}

StreamFile::~StreamFile() {
  std::fclose(file_);
}

int StreamFile::descriptor() const {
  return ::fileno(file_);
}

std::string StreamFile::content() const {
  std::string text(static_cast<std::size_t>(::lseek(descriptor(), 0, SEEK_END)), '\0');
  const ssize_t count = ::pread(descriptor(), text.data(), text.size(), 0);
  text.resize(static_cast<std::size_t>(count < 0 ? 0 : count));
  return text;
}

}  // namespace proxy::command
