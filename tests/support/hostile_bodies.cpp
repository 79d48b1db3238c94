#include "tests/support/hostile_messages.hpp"

namespace support {
namespace {

using namespace std::string_literals;

HostileRequest post(const char* name, const std::string& framing, const std::string& body,
                    int status = 400) {
  return {name, "POST http://\x01/a HTTP/1.1\r\nHost: \x01\r\n" + framing + "\r\n" + body, status};
}
HostileRequest length(const char* name, const std::string& line, int status = 400) {
  return post(name, line, "abc", status);
}
HostileRequest coding(const char* name, const std::string& line, int status = 400) {
  return post(name, line, "3\r\nabc\r\n0\r\n\r\n", status);
}
HostileRequest chunks(const char* name, const std::string& body, int status = 0) {
  return post(name, "Transfer-Encoding: chunked\r\n", body, status);
}

std::vector<HostileRequest> lengths() {
  return {
      length("LengthTwice", "Content-Length: 3\r\nContent-Length: 3\r\n"),
      length("TwoLengths", "Content-Length: 3\r\nContent-Length: 4\r\n"),
      length("SecondLengthEmpty", "Content-Length: 3\r\nContent-Length:\r\n"),
      length("ListOfLengths", "Content-Length: 3, 3\r\n"),
      length("ListOfTwoLengths", "Content-Length: 3, 4\r\n"),
      length("LengthAndComma", "Content-Length: 3,\r\n"),
      length("LengthPlus", "Content-Length: +3\r\n"),
      length("LengthMinus", "Content-Length: -3\r\n"),
      length("LengthHex", "Content-Length: 0x3\r\n"),
      length("LengthOctal", "Content-Length: 0o3\r\n"),
      length("LengthDecimal", "Content-Length: 3.0\r\n"),
      length("LengthWithExponent", "Content-Length: 3e0\r\n"),
      length("LengthWithUnderscore", "Content-Length: 0_3\r\n"),
      length("LengthQuoted", "Content-Length: \"3\"\r\n"),
      length("LengthAndJunk", "Content-Length: 3a\r\n"),
      length("LengthInTwoParts", "Content-Length: 3 3\r\n"),
      length("LengthEmpty", "Content-Length:\r\n"),
      length("LengthBlank", "Content-Length:  \t\r\n"),
      length("LengthHuge", "Content-Length: 99999999999999999999\r\n"),
      length("LengthOverflows", "Content-Length: 18446744073709551619\r\n"),
      length("LengthSignedOverflow", "Content-Length: 9223372036854775808\r\n"),
      length("LengthWithVerticalTab", "Content-Length: \v3\r\n"),
      length("LengthWithNul", "Content-Length: 3\0\r\n"s),
      length("LengthFolded", "Content-Length:\r\n 3\r\n"),
      length("LengthSpaceBeforeColon", "Content-Length : 3\r\n"),
      length("LengthOutsideAscii", "Content-Length: \xd9\xa3\r\n"),
      length("LengthWithZeros", "Content-Length: 0003\r\n", 200),
      length("LengthWithSpaces", "Content-Length:\t 3 \t\r\n", 200),
      post("BodyCut", "Content-Length: 300000\r\n", "abc", 0),
  };
}

std::vector<HostileRequest> codings() {
  return {
      coding("LengthAndCoding", "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n"),
      coding("CodingAndLength", "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n"),
      coding("LengthAndUnknownCoding", "Content-Length: 3\r\nTransfer-Encoding: x\r\n"),
      coding("XChunked", "Transfer-Encoding: xchunked\r\n"),
      coding("ChunkedX", "Transfer-Encoding: chunkedx\r\n"),
      coding("Identity", "Transfer-Encoding: identity\r\n"),
      coding("Gzip", "Transfer-Encoding: gzip\r\n"),
      coding("ChunkedNotLast", "Transfer-Encoding: chunked, identity\r\n"),
      coding("ChunkedTwice", "Transfer-Encoding: chunked, chunked\r\n"),
      coding("ChunkedOnTwoLines", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
      coding("ChunkedAndIdentityLines",
             "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n"),
      coding("GzipThenChunked", "Transfer-Encoding: gzip, chunked\r\n", 501),
      coding("CommaFirst", "Transfer-Encoding: , chunked\r\n", 501),
      coding("CommaLast", "Transfer-Encoding: chunked,\r\n", 501),
      coding("ChunkedWithParameter", "Transfer-Encoding: chunked;q=1\r\n"),
      coding("ChunkedQuoted", "Transfer-Encoding: \"chunked\"\r\n"),
      coding("CodingEmpty", "Transfer-Encoding:\r\n"),
      coding("CodingWithVerticalTab", "Transfer-Encoding: \vchunked\r\n"),
      coding("CodingWithFormFeed", "Transfer-Encoding: chunked\f\r\n"),
      coding("CodingWithNul", "Transfer-Encoding: chunked\0\r\n"s),
      coding("CodingWithCr", "Transfer-Encoding: chunked\r\r\n"),
      coding("CodingFolded", "Transfer-Encoding:\r\n chunked\r\n"),
      coding("CodingSpaceBeforeColon", "Transfer-Encoding : chunked\r\n"),
      coding("CodingLf", "X: y\nTransfer-Encoding: chunked\r\n"),
      coding("CodingTwoWords", "Transfer-Encoding: chunked chunked\r\n"),
      coding("CodingInUpperCase", "TRANSFER-ENCODING: CHUNKED\r\n", 200),
      coding("CodingAfterTab", "Transfer-Encoding:\tchunked\r\n", 200),
      coding("CodingNamedInConnection",
             "Connection: Transfer-Encoding\r\nTransfer-Encoding: chunked\r\n", 200),
      {"CodingInHttp10",
       "POST http://\x01/a HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"},
      {"ConnectWithABody",
       "CONNECT 127.0.0.1:1 HTTP/1.1\r\nHost: 127.0.0.1:1\r\nContent-Length: 3\r\n\r\nabc", 403},
      {"TraceWithABody",
       "TRACE http://\x01/a HTTP/1.1\r\nHost: \x01\r\nContent-Length: 3\r\n\r\nabc"},
  };
}

std::vector<HostileRequest> chunk_lines() {
  const auto sized = [](const std::string& size) { return size + "\r\nabc\r\n0\r\n\r\n"; };
  return {
      chunks("SizeNegative", sized("-3")),
      chunks("SizePlus", sized("+3")),
      chunks("SizeWith0x", sized("0x3")),
      chunks("SizeWithUnderscore", sized("0_3")),
      chunks("SizeOverflows", sized("10000000000000003")),
      chunks("SizeOverflows32", sized("100000003")),
      chunks("SizeHuge", sized("fffffffffffffffff")),
      chunks("SizeNoNumber", sized("xyz")),
      chunks("SizeEmpty", sized("")),
      chunks("SizeAfterSpace", sized(" 3")),
      chunks("SizeBeforeSpace", sized("3 ")),
      chunks("SizeBeforeTab", sized("3\t")),
      chunks("SizeWithComma", sized("3,3")),
      chunks("SizeQuoted", sized("\"3\"")),
      chunks("SizeWithNul", sized("3\0"s)),
      chunks("SizeLf", "3\nabc\r\n0\r\n\r\n"),
      chunks("SizeCr", "3\rabc\r\n0\r\n\r\n"),
      chunks("SizeCrCrLf", "3\r\r\nabc\r\n0\r\n\r\n"),
      chunks("ExtensionWithCr", sized("3;a\rb")),
      chunks("ExtensionWithLf", "3;a\nabc\r\n0\r\n\r\n"),
      chunks("ExtensionWithNul", sized("3;a\0"s)),
      chunks("ExtensionHuge", sized("3;" + std::string(10'000, 'a'))),
      chunks("ExtensionWithoutEnd", "3;abc"),
      chunks("DataTooLong", "3\r\nabcd\r\n0\r\n\r\n"),
      chunks("DataTooShort", "5\r\nabc\r\n0\r\n\r\n"),
      chunks("DataWithoutEnd", "3\r\nabc0\r\n\r\n"),
      chunks("DataLf", "3\r\nabc\n0\r\n\r\n"),
      chunks("NoLastChunk", "3\r\nabc\r\n"),
      chunks("LastChunkCut", "3\r\nabc\r\n0\r\n\r"),
      chunks("LastChunkLf", "3\r\nabc\r\n0\n\n"),
      chunks("LastChunkSpace", "3\r\nabc\r\n0 \r\n\r\n"),
      chunks("TrailerLf", "3\r\nabc\r\n0\r\nX: y\n\r\n"),
      chunks("TrailerFolded", "3\r\nabc\r\n0\r\nX: y\r\n z\r\n\r\n"),
      chunks("TrailerSpaceBeforeColon", "3\r\nabc\r\n0\r\nX : y\r\n\r\n"),
      chunks("TrailerNoField", "3\r\nabc\r\n0\r\nX\r\n\r\n"),
      chunks("TrailerWithNul", "3\r\nabc\r\n0\r\nX: \0\r\n\r\n"s),
      chunks("TrailersHuge", "3\r\nabc\r\n0\r\nX: " + std::string(20'000, 'y') + "\r\n\r\n"),
      chunks("SizeInUpperCase", "A\r\nabcdefghij\r\n00\r\n\r\n", 200),
      chunks("SizeWithZeros", sized("0003"), 200),
      chunks("Extension", sized("3;a=b;c=\"d\""), 200),
      chunks("ExtensionAfterBlanks", sized("3 \t;a"), 200),
      chunks("ExtensionOfJunk", sized("3;;\"="), 200),  // it ends here
      chunks("Trailer", "3\r\nabc\r\n0\r\nContent-Length: 7\r\nX: y\r\n\r\n", 200),
  };
}

}  // namespace

std::vector<HostileRequest> hostile_bodies() {
  auto all = lengths();
  for (const auto& more : {codings(), chunk_lines()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace support
