// The .npy reader and writer: every accepted form, every refusal, and round trips.
#include "npy.h"

#include <convoy/convoy.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>

#include "files.h"

namespace convoy::cli {
namespace {

std::string with_head(std::string_view text, int major, std::string_view data) {
  std::string file = "\x93NUMPY";
  file += {static_cast<char>(major), '\0'};
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i)
    file += static_cast<char>(text.size() >> (8 * i) & 0xff);
  return file + std::string(text) + std::string(data);
}

std::string dictionary(std::string_view descr, std::string_view shape, bool fortran = false) {
  return fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}          \n", descr,
                     fortran ? "True" : "False", shape);
}

Result<NpyHeader> parse(const std::string& file) {
  return parse_npy_header(std::string_view(file).substr(0, kNpyHeadBytes),
                          static_cast<int64_t>(file.size()), "x 'a.npy'");
}

template <class T>
std::string raw(const std::vector<T>& values, bool big_endian = false) {
  std::string bytes(values.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  if (big_endian) {
    for (size_t i = 0; i < bytes.size(); i += sizeof(T))
      std::reverse(&bytes[i], &bytes[i] + sizeof(T));
  }
  return bytes;
}

template <class T>
std::vector<T> decode(const std::string& file, DType dtype, std::vector<int64_t> sizes) {
  const Result<NpyHeader> header = parse(file);
  EXPECT_TRUE(header.ok()) << header.status().message();
  if (!header) return {};
  std::vector<T> values(static_cast<size_t>(header->elements()));
  decode_npy(*header, std::string_view(file).substr(static_cast<size_t>(header->data_offset)),
             packed(values.data(), dtype, sizes));
  return values;
}

void expect_refused(const std::string& file, std::string_view word) {
  const Result<NpyHeader> header = parse(file);
  ASSERT_FALSE(header.ok()) << word;
  EXPECT_EQ(header.status().code(), Code::kInvalid);
  const std::string& message = header.status().message();
  EXPECT_NE(message.find(word), std::string::npos) << message;
  EXPECT_TRUE(message.starts_with("x 'a.npy': ")) << message;
  EXPECT_LT(message.size(), 300U);
}

TEST(Npy, ReadsEveryDtypeAndVersion) {
  const std::vector<float> expected = {1.5F, -2, 0.25F, 8, 0, -0.5F};
  const std::vector<double> f64(expected.begin(), expected.end());
  std::vector<uint16_t> f16;
  for (const float v : expected)
    f16.push_back(Half::from(v).bits);
  for (const bool big : {false, true}) {
    const std::string order = big ? ">" : "<";
    for (const int major : {1, 2, 3}) {
      for (const auto& [size, data] :
           {std::pair{"2", raw(f16, big)}, {"4", raw(expected, big)}, {"8", raw(f64, big)}}) {
        const std::string head = dictionary(order + "f" + size, "(2, 3)");
        EXPECT_EQ(decode<float>(with_head(head, major, data), DType::kF32, {2, 3}), expected)
            << order << size << " v" << major;
      }
    }
  }
}

TEST(Npy, ReadsFortranOrder) {
  const std::string file =
      with_head(dictionary(">f8", "(2, 3)", true), 1, raw<double>({0, 3, 1, 4, 2, 5}, true));
  EXPECT_EQ(decode<float>(file, DType::kF32, {2, 3}), (std::vector<float>{0, 1, 2, 3, 4, 5}));
}

TEST(Npy, DecodesIntoAnyStrides) {
  const std::string file =
      with_head(dictionary("<f4", "(1, 2, 3)"), 1, raw<float>({0, 1, 2, 3, 4, 5}));
  const Result<NpyHeader> header = parse(file);
  ASSERT_TRUE(header.ok());
  std::vector<float> values(6);
  const std::vector<int64_t> sizes = {1, 2, 3};
  decode_npy(*header, std::string_view(file).substr(static_cast<size_t>(header->data_offset)),
             packed(values.data(), DType::kF32, sizes, Layout::kNhwc));
  EXPECT_EQ(values, (std::vector<float>{0, 3, 1, 4, 2, 5}));
}

TEST(Npy, AcceptsKeysInAnyOrderAndQuotes) {
  const std::string text = "{\"shape\":(3,),\"descr\":\"<f4\",\"fortran_order\":False}\n";
  EXPECT_EQ(decode<float>(with_head(text, 1, raw<float>({1, 2, 3})), DType::kF32, {3}),
            (std::vector<float>{1, 2, 3}));
}

TEST(Npy, RoundsOnceToNearestEven) {
  // 1 + 2^-8 is half way between two bf16 values; 2^-40 more than that decides upward. Rounding to
  // f32 first would lose the 2^-40 and fall on the tie.
  const std::vector<double> values = {
      1 + 0x1p-8, 1 + 0x1p-8 + 0x1p-40, 1 + 3 * 0x1p-8, 0x1p-133, 0x1p-135, 3.4e38, 1e300, -1e300};
  const std::string file = with_head(dictionary("<f8", "(8,)"), 1, raw(values));
  const auto bf16 = decode<BFloat16>(file, DType::kBf16, {8});
  ASSERT_EQ(bf16.size(), 8U);
  const std::vector<uint16_t> expected = {0x3f80, 0x3f81, 0x3f82, 0x0001,
                                          0x0000, 0x7f80, 0x7f80, 0xff80};
  for (size_t i = 0; i < 8; ++i)
    EXPECT_EQ(bf16[i].bits, expected[i]) << i;
  const auto f16 = decode<Half>(
      with_head(dictionary("<f8", "(3,)"), 1, raw<double>({65519.9, 65520, 1 + 0x1p-11 + 0x1p-50})),
      DType::kF16, {3});
  EXPECT_EQ(f16[0].bits, 0x7bff);
  EXPECT_EQ(f16[1].bits, 0x7c00);
  EXPECT_EQ(f16[2].bits, 0x3c01);
  const auto f32 = decode<float>(file, DType::kF32, {8});
  EXPECT_EQ(f32[6], std::numeric_limits<float>::infinity());
}

TEST(Npy, KeepsNanAndInf) {
  const auto values =
      decode<float>(with_head(dictionary("<f8", "(2,)"), 1, raw<double>({std::nan(""), -INFINITY})),
                    DType::kF32, {2});
  EXPECT_TRUE(std::isnan(values[0]));
  EXPECT_EQ(values[1], -INFINITY);
}

TEST(Npy, ReadsEmptyArrays) {
  const Result<NpyHeader> header = parse(with_head(dictionary("<f4", "(0, 4, 5)"), 1, ""));
  ASSERT_TRUE(header.ok()) << header.status().message();
  EXPECT_EQ(header->elements(), 0);
}

TEST(Npy, RefusesOtherDtypesByName) {
  for (const char* descr :
       {"<i4", "|i1", "|f4", "=f4", "f4", "<f16", "<c8", "<U3", "|V2", "", "<f"})
    expect_refused(with_head(dictionary(descr, "(1,)"), 1, "abcd"), fmt::format("'{}'", descr));
  expect_refused(
      with_head("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", 1, "abcd"),
      "structured dtype [('a', '<f4')]");
  expect_refused(with_head(dictionary(std::string(60000, 'q'), "(1,)"), 1, "abcd"), "qqqq");
}

TEST(Npy, RefusesWrongSizes) {
  const std::string head = dictionary("<f4", "(2, 3)");
  expect_refused(with_head(head, 1, std::string(23, 'x')), "truncated");
  expect_refused(with_head(head, 1, std::string(25, 'x')), "trailing");
  const std::string whole = with_head(head, 1, std::string(24, 'x'));
  ASSERT_TRUE(parse(whole).ok());
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(parse(whole.substr(0, size)).ok()) << size;
}

TEST(Npy, RefusesHostileShapes) {
  for (const char* shape :
       {"(-1,)", "(1, -2)", "(99999999999999999999,)", "(1.5,)", "(1e3,)", "(0x10,)", "1", "(1)",
        "[1, 2]", "((1,),)", "(1,,2)", "(1 2)", "(,)", "('1',)", "(True,)", "(1,"})
    expect_refused(with_head(dictionary("<f4", shape), 1, "abcd"), "shape");
  expect_refused(with_head(dictionary("<f4", "()"), 1, "abcd"), "no axes");
  expect_refused(with_head(dictionary("<f4", "(1, 1, 1, 1, 1, 1)"), 1, "abcd"), "more than 5");
  expect_refused(with_head(dictionary("<f4", "(4294967296, 4294967296)"), 1, ""), "2^59");
  expect_refused(with_head(dictionary("<f8", "(0, 4294967296, 4294967296)"), 1, ""), "2^59");
  expect_refused(with_head(dictionary("<f4", "(9223372036854775807, 2)"), 1, ""), "2^59");
  expect_refused(with_head(dictionary("<f8", "(288230376151711744,)"), 1, "abcd"), "truncated");
}

TEST(Npy, RefusesBrokenHeaders) {
  const std::string good = dictionary("<f4", "(1,)");
  expect_refused("", "magic");
  expect_refused("hello, this is text", "magic");
  expect_refused("\x93NUMPY", "truncated");
  expect_refused(with_head(good, 4, "abcd"), "version 4.0");
  std::string minor = with_head(good, 1, "abcd");
  minor[7] = 1;
  expect_refused(minor, "version 1.1");
  for (const auto& [text, word] : std::initializer_list<std::pair<std::string, const char*>>{
           {"", "dictionary"},
           {"(1, 2)", "dictionary"},
           {"{}", "lacks"},
           {"{'descr': '<f4', 'shape': (1,)}", "lacks"},
           {"{'descr': '<f4', 'fortran_order': 1, 'shape': (1,)}", "fortran_order"},
           {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", "descr"},
           {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}", "'x'"},
           {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)", "'}'"},
           {"{'descr: '<f4'}", "key"},
           {good + "junk", "behind"},
           {"{'descr': '<f\xc3\xa9', 'fortran_order': False, 'shape': (1,)}", "dtype"},
           {"{\xe2\x98\x83: 1}", "key"},
           {std::string(30000, '{'), "key"}})
    expect_refused(with_head(text, 3, "abcd"), word);
}

TEST(Npy, RefusesHeadersPastTheFile) {
  std::string file = with_head(dictionary("<f4", "(1,)"), 2, "abcd");
  file[11] = '\x7f';
  expect_refused(file, "past the end");
  expect_refused(with_head(dictionary("<f4", "(1,)") + std::string(70000, ' '), 2, "abcd"),
                 "above the limit");
}

// A folder of its own, removed with the test.
class NpyFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "npy_test.XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const char* name) const { return (folder_ / name).string(); }
  size_t files() const {
    size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder_))
      ++count;
    return count;
  }
  std::filesystem::path folder_;
};

TEST_F(NpyFile, RefusesWhatIsNoFile) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  for (const std::string& name : {path("absent"), folder_.string(), path("pipe")}) {
    const Result<NpyArray> array = read_npy(name, "x");
    ASSERT_FALSE(array.ok());
    EXPECT_EQ(array.status().code(), Code::kInvalid);
    EXPECT_NE(array.status().message().find("x '" + name + "'"), std::string::npos);
  }
}

TEST_F(NpyFile, RefusesAHugeSparseFileWithoutReadingIt) {
  ASSERT_TRUE(write_file(path("a"), with_head(dictionary("<f4", "(1,)"), 1, "abcd"), "a").ok());
  ASSERT_EQ(::truncate(path("a").c_str(), int64_t{1} << 42), 0);
  const Result<NpyArray> array = read_npy(path("a"), "x");
  ASSERT_FALSE(array.ok());
  EXPECT_NE(array.status().message().find("trailing"), std::string::npos);
}

TEST_F(NpyFile, WritesWhatItReads) {
  std::vector<float> values = {0, 1, 2, 3, 4, 5};
  const std::vector<int64_t> sizes = {1, 2, 3};
  const Result<std::string> bytes =
      encode_npy(packed(values.data(), DType::kF32, sizes, Layout::kNhwc));
  ASSERT_TRUE(bytes.ok());
  ASSERT_TRUE(write_file(path("a"), *bytes, "a").ok());
  const Result<NpyArray> array = read_npy(path("a"), "x");
  ASSERT_TRUE(array.ok()) << array.status().message();
  EXPECT_EQ(array->header.shape, sizes);
  EXPECT_EQ(array->header.data_offset % 64, 0);
  EXPECT_EQ(array->data, raw<float>({0, 2, 4, 1, 3, 5}));
  EXPECT_EQ(files(), 1U);
}

TEST(Npy, WritesWideFloatsAsF4AndHalvesAsF2) {
  std::vector<uint16_t> bits = {0x3fc0};  // 1.5 as bf16
  const std::vector<int64_t> sizes = {1};
  const Result<std::string> wide = encode_npy(packed(bits.data(), DType::kBf16, sizes));
  ASSERT_TRUE(wide.ok());
  EXPECT_NE(wide->find("'descr': '<f4', 'fortran_order': False, 'shape': (1,)"), std::string::npos);
  EXPECT_EQ(wide->substr(wide->size() - 4), raw<float>({1.5F}));
  const Result<std::string> half = encode_npy(packed(bits.data(), DType::kF16, sizes));
  ASSERT_TRUE(half.ok());
  EXPECT_NE(half->find("'descr': '<f2'"), std::string::npos);
  EXPECT_EQ(half->substr(half->size() - 2), raw(bits));
}

TEST_F(NpyFile, StagedFilesAppearOnlyOnCommit) {
  ASSERT_TRUE(write_file(path("a"), "old", "a").ok());
  {
    const Result<StagedFile> dropped = StagedFile::stage(path("a"), "new", "a");
    ASSERT_TRUE(dropped.ok());
    EXPECT_EQ(files(), 2U);
    EXPECT_EQ(*read_file(path("a"), "a"), "old");
  }
  EXPECT_EQ(files(), 1U);
  const Result<StagedFile> cut = StagedFile::stage(path("a"), "new", "a");
  remove_unfinished_files();
  EXPECT_EQ(files(), 1U);
  EXPECT_FALSE(write_file(path("none/a"), "new", "a").ok());
  EXPECT_FALSE(write_file("/dev/full", "new", "a").ok());
}

TEST_F(NpyFile, WritesThroughALink) {
  ASSERT_TRUE(write_file(path("a"), "old", "a").ok());
  ASSERT_EQ(::symlink(path("a").c_str(), path("link").c_str()), 0);
  ASSERT_TRUE(write_file(path("link"), "new", "a").ok());
  EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
  EXPECT_EQ(*read_file(path("a"), "a"), "new");
}

}  // namespace
}  // namespace convoy::cli
