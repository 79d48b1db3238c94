#include "proxy/command/any_digest.hpp"

#include <sys/stat.h>

#include "digest/mapped_filter.hpp"
#include "digest/sizing.hpp"
#include "proxy/command/digest.hpp"
#include "tests/proxy/command/digest_invocation.hpp"

namespace proxy::command {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr int kMembers = 200;

digest::Key key_of_number(int i) {
  return *key_of("http://example.com/" + std::to_string(i), Spelling::url);
}

template <class Filter>
Filter filled(Filter filter) {
  for (int i = 0; i < kMembers; ++i) (void)filter.insert(key_of_number(i));
  return filter;
}

digest::BloomFilter salted_filter() {
  digest::Shape shape = *digest::shape_for(kMembers);
  shape.derivation = digest::Derivation::salted;
  shape.salt.fill(0x5a);
  return filled(*digest::BloomFilter::create(shape));
}

Bytes native_snapshot() {
  digest::NativeDigest native{0x1234, 7, 300, kMembers, 0, salted_filter()};
  native.checksum = digest::checksum_of(native.filter.bytes());
  return digest::encode_snapshot(native);
}

Bytes counting_file() {
  auto filter = *digest::CountingFilter::create(*digest::shape_for(kMembers));
  for (int i = 0; i < kMembers; ++i) filter.add(key_of_number(i));
  return filter.save();
}

Bytes text_of(const digest::BloomFilter& filter) {
  std::string text = filter.to_text() + '\n';
  for (std::size_t at = 76; at < text.size(); at += 77) text.insert(at, "\n");  // as base64(1)
  return {text.begin(), text.end()};
}

struct Form {
  std::string name;
  std::string kind;
  Bytes file;
};

void write_bytes(const std::filesystem::path& path, const Bytes& bytes) {
  write_file(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

std::vector<Form> forms() {
  const auto bloom = filled(*digest::BloomFilter::create(*digest::shape_for(kMembers)));
  return {
      {"Bloom", "bloom", bloom.save()},
      {"BloomAsText", "bloom", text_of(bloom)},
      {"Salted", "bloom", salted_filter().save()},
      {"Counting", "counting", counting_file()},
      {"Scalable", "scalable", filled(*digest::ScalableFilter::create()).save()},
      {"Blocked", "blocked", filled(*digest::BlockedFilter::for_capacity(kMembers, 0.001)).save()},
      {"Quotient", "quotient",
       filled(*digest::QuotientFilter::for_capacity(kMembers, 0.001)).save()},
      {"Native", "native", native_snapshot()},
      {"Squid", "squid", *digest::encode(filled(*digest::SquidDigest::empty(kMembers, 12)))},
  };
}

class EveryForm : public ::testing::TestWithParam<Form> {
 protected:
  EveryForm() { write_bytes(path_, GetParam().file); }

  const TemporaryDirectory directory_;
  const std::string path_ = directory_ / "digest";
};

TEST_P(EveryForm, IsAsked) {
  const std::string members = numbered_urls("", kMembers);
  EXPECT_EQ(run_digest({"query", path_}, members).out, members);
  const Said others = run_digest({"query", path_}, numbered_urls("out/", 1000));
  EXPECT_LE(lines_in(others.out), 100U);
}

TEST_P(EveryForm, DescribesItselfByTheSameNames) {
  const Json told = json_of(run_digest({"info", "--json", path_}));
  EXPECT_EQ(told.at("kind"), GetParam().kind);
  EXPECT_EQ(told.at("bytes"), GetParam().file.size());
  EXPECT_EQ(told.at("entries"), GetParam().kind == "blocked" ? Json() : Json(kMembers));
  EXPECT_GT(told.at("bits"), 0);
  const double rate = told.at("false_positive_rate");
  EXPECT_GT(rate, 0);
  EXPECT_LT(rate, 0.05);
  for (const char* name : {"hashes", "capacity", "fill_ratio", "epoch", "generation", "salted",
                           "estimated_entries", "bits_set", "bits_per_entry"}) {
    EXPECT_TRUE(told.contains(name)) << name;
  }
}

TEST_P(EveryForm, NeverTellsItsSalt) {
  for (const auto& arguments : {std::vector<std::string>{"info", path_},
                                std::vector<std::string>{"info", "--json", path_}}) {
    auto told = run_digest(arguments).out;
    told.erase(told.find(path_), path_.size());  // random
    EXPECT_FALSE(contains(told, "5a5a")) << told;
    EXPECT_FALSE(contains(told, "ZZ")) << told;
  }
}

TEST_P(EveryForm, IsRefusedWithItsNameWhenCut) {
  for (const std::size_t length : {std::size_t{0}, std::size_t{3}, std::size_t{20},
                                   GetParam().file.size() / 2, GetParam().file.size() - 2}) {
    const Bytes cut(GetParam().file.begin(),
                    GetParam().file.begin() + static_cast<std::ptrdiff_t>(length));
    write_bytes(path_, cut);
    const Said said = run_digest({"query", path_, "http://example.com/"});
    EXPECT_EQ(said.code, 2) << length;
    EXPECT_TRUE(contains(said.err, path_)) << said.err;
    EXPECT_EQ(lines_in(said.err), 1U) << said.err;
  }
}

// Squid's form has no checksum.
TEST_P(EveryForm, IsRefusedWhenDamaged) {
  if (GetParam().kind == "squid") return;
  for (std::size_t at = 0; at < GetParam().file.size(); at += 37) {
    Bytes damaged = GetParam().file;
    damaged[at] = static_cast<std::uint8_t>(damaged[at] ^ 0x10);
    EXPECT_FALSE(AnyDigest::decode(damaged, "it")) << at;
  }
}

INSTANTIATE_TEST_SUITE_P(AnyDigest, EveryForm, ::testing::ValuesIn(forms()),
                         [](const auto& of) { return of.param.name; });

TEST(AnyDigest, OpensAMappedFilterAsItIsNow) {
  const TemporaryDirectory directory;
  const std::string path = directory / "mapped";
  auto mapped = digest::MappedFilter::create(path, *digest::shape_for(kMembers));
  ASSERT_TRUE(mapped.has_value());
  for (int i = 0; i < kMembers; ++i) EXPECT_TRUE(mapped->insert(key_of_number(i)).has_value());
  const std::string members = numbered_urls("", kMembers);
  EXPECT_EQ(run_digest({"query", path}, members).out, members);
  EXPECT_EQ(json_of(run_digest({"info", "--json", path})).at("kind"), "mapped");
}

TEST(AnyDigest, KnowsWhatARealSquidServed) {
  const std::string golden = FUZZ_CORPUS "/squid_digest/idle_squid";
  const Json told = json_of(run_digest({"info", "--json", golden}));
  EXPECT_EQ(told.at("kind"), "squid");
  EXPECT_EQ(told.at("entries"), 51);
  EXPECT_EQ(told.at("capacity"), 51);
  EXPECT_EQ(told.at("bits"), 256);
  EXPECT_EQ(told.at("bits_set"), 136);
  EXPECT_EQ(told.at("hashes"), 4);
  EXPECT_EQ(told.at("salted"), false);
  const std::string icon = "http://squid.test:9003/squid-internal-static/icons/silk/layout.png";
  EXPECT_EQ(run_digest({"query", golden, icon}).code, 0);
  EXPECT_EQ(run_digest({"query", golden, "http://squid.test:9003/absent"}).code, 1);
}

TEST(AnyDigest, TakesNoOtherFileForADigest) {
  const TemporaryDirectory directory;
  write_file(directory / "text", numbered_urls("", 100));
  const Said said = run_digest({"info", directory / "text"});
  EXPECT_EQ(said.code, 2);
  EXPECT_TRUE(contains(said.err, "begins as no digest of ours, and as one of Squid's: "))
      << said.err;
  EXPECT_EQ(run_digest({"info", directory / "nothing"}).code, 2);
  EXPECT_EQ(run_digest({"info", directory.path()}).code, 2);
}

TEST(AnyDigest, ReadsNothingLargerThanItsKindCanBe) {
  const TemporaryDirectory directory;
  write_file(directory / "huge", "x");
  std::filesystem::resize_file(directory / "huge", std::uintmax_t{65} << 20);
  const Said said = run_digest({"info", directory / "huge"});
  EXPECT_EQ(said.code, 2);
  EXPECT_TRUE(contains(said.err, "larger than any digest")) << said.err;
}

TEST(AnyDigest, ReadsNoFilterThatIsNotAsLongAsItSays) {
  const TemporaryDirectory directory;
  for (const Form& form : forms()) {
    write_bytes(directory / form.name, form.file);
    std::filesystem::resize_file(directory / form.name, std::uintmax_t{3} << 30);
    const Said said = run_digest({"info", directory / form.name});
    EXPECT_EQ(said.code, 2);
    const bool sized = form.kind != "native" && form.kind != "squid";
    EXPECT_TRUE(contains(said.err, sized ? "another length than it says" : "larger than any"))
        << form.name << said.err;
  }
}

TEST(AnyDigest, ReadsNoFilterThatSaysItIsLargerThanItsKindCanBe) {
  const TemporaryDirectory directory;
  Bytes file = forms().front().file;
  const std::uint64_t payload = std::uint64_t{1} << 30;
  for (std::size_t i = 0; i < 8; ++i) file[8 + i] = static_cast<std::uint8_t>(payload >> (8 * i));
  write_bytes(directory / "bloom", file);
  std::filesystem::resize_file(directory / "bloom", payload + digest::kEnvelopeBytes);
  const Said said = run_digest({"info", directory / "bloom"});
  EXPECT_EQ(said.code, 2);
  EXPECT_TRUE(contains(said.err, "larger than any digest of its kind")) << said.err;
}

TEST(AnyDigest, IsNoPipeAndNobodyWaitsForItsWriter) {
  const TemporaryDirectory directory;
  const std::string pipe = directory / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::string filter = directory / "filter";
  write_bytes(filter, forms().front().file);
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"info", pipe},
        {"query", pipe, "http://example.com/"},
        {"union", filter, pipe, "-o", directory / "out"},
        {"common", filter, pipe},
        {"common", pipe, filter}}) {
    const Said said = run_digest(arguments);
    EXPECT_EQ(said.code, 2) << arguments.front();
    EXPECT_TRUE(contains(said.err, pipe + ": is no ordinary file")) << said.err;
  }
}

}  // namespace
}  // namespace proxy::command
