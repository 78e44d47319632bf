// The schema of a record: every key, its type, and null for numbers that are not finite.
#include "bench/record.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <set>

#include "bench/measure.h"

namespace convoy::bench {
namespace {

using Type = Json::value_t;

bool is(const Json& value, Type type) {
  if (type == Type::number_float) return value.is_number();
  if (type == Type::number_integer) return value.is_number_integer();
  return value.type() == type;
}

void expect_schema(const Json& object, const std::map<std::string, Type>& schema) {
  std::set<std::string> keys, expected;
  for (const auto& [key, value] : object.items())
    keys.insert(key);
  for (const auto& [key, type] : schema) {
    expected.insert(key);
    if (keys.count(key) == 0) continue;
    EXPECT_TRUE(is(object[key], type)) << key << " is " << object[key].dump();
  }
  EXPECT_EQ(keys, expected);
}

const std::map<std::string, Type> kRecord = {
    {"schema", Type::number_integer}, {"machine", Type::string},
    {"commit", Type::string},         {"dirty", Type::boolean},
    {"date", Type::string},           {"versions", Type::object},
    {"command", Type::string},        {"conditions", Type::object},
    {"ceilings", Type::object},       {"empty_launch_us", Type::number_float},
    {"noisy", Type::boolean},         {"rows", Type::array}};

const std::map<std::string, Type> kRow = {{"problem", Type::string},
                                          {"workload", Type::string},
                                          {"layout", Type::string},
                                          {"cache", Type::string},
                                          {"impl", Type::string},
                                          {"version", Type::string},
                                          {"kernel", Type::string},
                                          {"config", Type::string},
                                          {"samples", Type::number_integer},
                                          {"median_us", Type::number_float},
                                          {"p10_us", Type::number_float},
                                          {"p90_us", Type::number_float},
                                          {"stream_us", Type::number_float},
                                          {"flops", Type::number_integer},
                                          {"bytes", Type::number_integer},
                                          {"executed_flops", Type::number_integer},
                                          {"tflops", Type::number_float},
                                          {"gbs", Type::number_float},
                                          {"limit_us", Type::number_float},
                                          {"limit_by", Type::string},
                                          {"pct_limit", Type::number_float},
                                          {"launch_bound", Type::boolean},
                                          {"check", Type::string},
                                          {"peer_degenerate", Type::boolean},
                                          {"algorithms", Type::array}};

// A record of one small problem, as its file would be read back.
Json measured_record() {
  const Device device = *convoy::device();
  Harness harness(device, 1 << 20);
  const auto rows = harness.measure(
      *parse_problem("conv2d fprop f32 n1 c8 k8 g4 h6 w6 r3 s3 pad1 nhwc bias"), "some.layer", {});
  EXPECT_TRUE(rows.ok());
  if (!rows) return {};
  return Json::parse(record_text(record(circumstances(device), *rows)));
}

TEST(Record, HasEveryKeyWithItsType) {
  const Json document = measured_record();
  expect_schema(document, kRecord);
  EXPECT_EQ(document["schema"], 1);
  ASSERT_GE(document["rows"].size(), 2U);
  for (const Json& row : document["rows"]) {
    expect_schema(row, kRow);
    ASSERT_FALSE(row["algorithms"].empty());
    expect_schema(row["algorithms"][0], {{"name", Type::string},
                                         {"median_us", Type::number_float},
                                         {"workspace_bytes", Type::number_integer}});
  }
}

TEST(Record, RowsSayWhatWasMeasured) {
  const Json document = measured_record();
  std::set<std::string> caches;
  for (const Json& row : document["rows"]) {
    caches.insert(row["cache"]);
    EXPECT_EQ(row["problem"], "conv2d fprop f32 n1 c8 k8 g4 h6 w6 r3 s3 pad1 nhwc bias");
    EXPECT_EQ(row["layout"], "nhwc");
    EXPECT_EQ(row["workload"], "some.layer");
    EXPECT_EQ(row["check"], "ok");
    EXPECT_GT(row["median_us"], 0);
    EXPECT_LE(row["p10_us"], row["median_us"]);
    EXPECT_LE(row["median_us"], row["p90_us"]);
    EXPECT_EQ(row["flops"], 2 * 8 * 36 * 2 * 9);
    EXPECT_TRUE(row["limit_by"] == "copy" || row["limit_by"] == "compute");
  }
  EXPECT_EQ(caches, (std::set<std::string>{"warm", "cold"}));
}

TEST(Record, NonFiniteNumbersAreNull) {
  Row row;
  row.median_us = std::numeric_limits<double>::quiet_NaN();
  row.pct_limit = std::numeric_limits<double>::infinity();
  row.algorithms = {{"none", -std::numeric_limits<double>::infinity(), 0}};
  const Json read = Json::parse(record_text(record({}, {row})))["rows"][0];
  EXPECT_TRUE(read["median_us"].is_null());
  EXPECT_TRUE(read["pct_limit"].is_null());
  EXPECT_TRUE(read["algorithms"][0]["median_us"].is_null());
  EXPECT_EQ(read["p90_us"], 0);
}

TEST(Record, NamesTheMachineByCpuTierAndThreads) {
  const Device device = *convoy::device();
  const std::string machine = circumstances(device).machine;
  EXPECT_NE(machine.find(device.info().name), std::string::npos);
  EXPECT_NE(machine.find(name(device.info().isa)), std::string::npos);
}

TEST(ColdBytes, AreFourLastLevelCachesUpToACap) {
  DeviceInfo info{.threads = 2, .l2_bytes = 1 << 20, .l3_bytes = 32 << 20};
  EXPECT_EQ(cold_bytes(info), 128 << 20);
  info.l3_bytes = 0;
  EXPECT_EQ(cold_bytes(info), 8 << 20);
  info.l3_bytes = int64_t{1} << 40;
  EXPECT_EQ(cold_bytes(info), 1536LL << 20);
}

}  // namespace
}  // namespace convoy::bench
