#include "proxy/http/framing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace proxy::http {
namespace {

using namespace std::string_literals;
using State = ChunkedDecoder::State;

struct Outcome {
  State state = State::reading;
  std::string body;
  std::size_t consumed = 0;
};

// Feeds the input in pieces of `piece` bytes.
Outcome decode(const std::string& input, std::size_t piece) {
  ChunkedDecoder decoder;
  Outcome outcome;
  for (std::size_t at = 0; at < input.size() && outcome.state == State::reading; at += piece) {
    const std::string part = input.substr(at, piece);  // a copy, for ASan to see reads beyond it
    for (std::string_view rest = part; !rest.empty() && outcome.state == State::reading;) {
      const auto step = decoder.feed(rest);
      outcome.state = step.state;
      outcome.body += step.body;
      outcome.consumed += step.consumed;
      if (step.consumed == 0) break;
      rest.remove_prefix(step.consumed);
    }
  }
  return outcome;
}

TEST(ChunkedDecoder, ReadsTheSameAtEveryCut) {
  const std::string coded = "5\r\nhello\r\n00A;x=\"y\"\r\n, dear me.\r\n0\r\nT: 1\r\n\r\n";
  for (std::size_t piece = 1; piece <= coded.size() + 4; ++piece) {
    const Outcome outcome = decode(coded + "NEXT", piece);
    EXPECT_EQ(outcome.state, State::done);
    EXPECT_EQ(outcome.body, "hello, dear me.");
    EXPECT_EQ(outcome.consumed, coded.size());
  }
}

TEST(ChunkedDecoder, IsNeverDoneOrFailedBeforeTheEnd) {
  const std::string coded = "5;a\r\nhello\r\n0\r\nT: 1\r\n\r\n";
  for (std::size_t size = 0; size < coded.size(); ++size)
    EXPECT_EQ(decode(coded.substr(0, size), 7).state, State::reading) << size;
}

TEST(ChunkedDecoder, BodyIsASliceOfTheInput) {
  const std::string coded = "3\r\nabc\r\n";
  ChunkedDecoder decoder;
  const auto step = decoder.feed(coded);
  EXPECT_EQ(step.body.data(), coded.data() + 3);
  EXPECT_EQ(step.consumed, 6u);
}

TEST(ChunkedDecoder, RefusesEverythingElse) {  // RFC 9112 7.1
  const std::string chunk = "1\r\na";
  for (const std::string& wrong : {"\r\n"s,
                                   "\n"s,
                                   ";\r\n"s,
                                   "g\r\n"s,
                                   "-1\r\n"s,
                                   "+1\r\n"s,
                                   "0x1\r\n"s,
                                   " 1\r\n"s,
                                   "1 \r\n"s,
                                   "1 \t\r\n"s,
                                   "1 1;a\r\n"s,
                                   "1 a;a\r\n"s,
                                   "1\n"s,
                                   "1\r\r"s,
                                   "1\rX"s,
                                   "1;a\n"s,
                                   "1;a\0\r\n"s,
                                   "1;a\rb"s,
                                   "1, 2\r\n"s,
                                   chunk + "b"s,
                                   chunk + "\n"s,
                                   chunk + "\rX"s,
                                   chunk + "\r\n\r\n"s,
                                   chunk + "\r\n \r\n"s,
                                   "0000000000000001\r\n"s,
                                   "ffffffffffffffff\r\n"s,
                                   "0\r\nA\r\n"s,
                                   "0\r\n: a\r\n"s,
                                   "0\r\nA : b\r\n"s,
                                   "0\r\nA: b\n"s,
                                   "0\r\nA: b\r\n c\r\n"s,
                                   "0\r\nA: \0"s,
                                   "0\r\n\n"s,
                                   "0\r\n\rX"s,
                                   "0\n"s})
    for (const std::size_t piece : {1u, 100u})
      EXPECT_EQ(decode(wrong, piece).state, State::failed) << testing::PrintToString(wrong);
}

TEST(ChunkedDecoder, ConsumesNothingAfterItsEnd) {
  ChunkedDecoder done;
  EXPECT_EQ(done.feed("0\r\n\r\nX").consumed, 5u);
  EXPECT_TRUE(done.done());
  EXPECT_EQ(done.feed("X").consumed, 0u);
  ChunkedDecoder failed;
  EXPECT_EQ(failed.feed("1\r\naXX").body, "a");
  EXPECT_EQ(failed.feed("XX").consumed, 0u);
  EXPECT_EQ(failed.feed("\r\n").state, State::failed);
}

TEST(ChunkedDecoder, BoundsExtensionsPerChunkAndTrailersInAll) {
  const auto with_extension = [](std::size_t size) {
    return "1;" + std::string(size, 'a') + "\r\na\r\n";
  };
  const std::string most = with_extension(ChunkedDecoder::kMaxExtensions);
  EXPECT_EQ(decode(most + most + "0\r\n\r\n", 1000).state, State::done);
  EXPECT_EQ(decode(with_extension(ChunkedDecoder::kMaxExtensions + 1), 1000).state, State::failed);
  std::string many;
  const auto enough = ChunkedDecoder::kMoreExtensions / (ChunkedDecoder::kMaxExtensions - 1);
  for (std::size_t i = 0; i < enough; ++i) many += most;
  EXPECT_EQ(decode(many + "0\r\n\r\n", 1000).state, State::done);
  EXPECT_EQ(decode(many + most + "0\r\n\r\n", 1000).state, State::failed);
  EXPECT_EQ(decode(many + "1000\r\n" + std::string(4096, 'a') + "\r\n" + most, 1000).state,
            State::reading);
  const auto trailers = [](std::size_t lines) {
    std::string text = "0\r\n";
    for (std::size_t i = 0; i < lines; ++i) text += "A:" + std::string(1022, 'b') + "\r\n";
    return text + "\r\n";
  };
  EXPECT_EQ(decode(trailers(ChunkedDecoder::kMaxTrailers / 1024), 1000).state, State::done);
  EXPECT_EQ(decode(trailers(ChunkedDecoder::kMaxTrailers / 1024 + 1), 1000).state, State::failed);
}

TEST(ChunkedDecoder, ReadsWhatWeWrite) {
  std::string coded;
  std::string body;
  for (const std::size_t size : {1u, 9u, 10u, 15u, 16u, 255u, 65536u}) {
    const std::string data(size, static_cast<char>('a' + size % 26));
    append_chunk_size(coded, size);
    (coded += data) += "\r\n";
    body += data;
  }
  coded += kLastChunk;
  const Outcome outcome = decode(coded, 4096);
  EXPECT_EQ(outcome.state, State::done);
  EXPECT_EQ(outcome.body, body);
}

}  // namespace
}  // namespace proxy::http
