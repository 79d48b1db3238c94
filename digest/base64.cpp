#include "digest/base64.hpp"

// As in key.cpp, with which this file may be compiled as one.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/evp.h>

namespace digest {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string to_base64(std::span<const std::uint8_t> bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // libcrypto ends it with a zero
  auto* to = reinterpret_cast<unsigned char*>(text.data());
  EVP_EncodeBlock(to, bytes.data(), static_cast<int>(bytes.size()));
  text.pop_back();
  return text;
}

// libcrypto's decoder skips blanks and takes any unused bits, so both are looked for here.
std::optional<std::vector<std::uint8_t>> from_base64(std::string_view text) {
  if (text.size() % 4 != 0 || text.size() > kMostBase64) return std::nullopt;
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  const auto digits = text.substr(0, text.size() - padding);
  if (digits.find_first_not_of(kAlphabet) != digits.npos) return std::nullopt;
  std::vector<std::uint8_t> bytes(text.size() / 4 * 3);
  const auto* from = reinterpret_cast<const unsigned char*>(text.data());
  if (EVP_DecodeBlock(bytes.data(), from, static_cast<int>(text.size())) < 0) return std::nullopt;
  bytes.resize(bytes.size() - padding);
  const std::size_t last = padding == 0 ? 0 : 3 - padding;  // bytes in the group with padding
  const bool is_exact = text.ends_with(to_base64(std::span(bytes).last(last)));
  return is_exact ? std::optional(std::move(bytes)) : std::nullopt;
}

}  // namespace digest
