#include "proxy/http/text.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace proxy::http {
namespace {

TEST(PieceWriter, AppendsAllPiecesInOrder) {
  std::string text = "so far: ";
  std::string expected = text;
  PieceWriter writer(text);
  for (const std::size_t size : {0U, 1U, 1000U, 30U, 5000U, 2U}) {
    const std::string piece(size, 'p');
    writer << piece << "," << std::uint64_t{size} << ";";
    expected += piece + "," + std::to_string(size) + ";";
    EXPECT_EQ(writer.size(), expected.size());
  }
  writer << std::numeric_limits<std::uint64_t>::max();
  writer.flush();
  EXPECT_EQ(text, expected + "18446744073709551615");
}

}  // namespace
}  // namespace proxy::http
