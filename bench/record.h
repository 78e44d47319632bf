// The JSON document of `convoy bench --json` and `--record`.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/noise.h"
#include "bench/row.h"

namespace convoy::bench {

using Json = nlohmann::ordered_json;

// What a record says beside its rows.
struct Circumstances {
  std::string machine;  // CPU, tier and threads: two records compare only where it is equal
  std::string commit;   // empty outside a checkout of Convoy
  bool dirty = false;
  std::string date;  // ISO 8601, UTC
  std::string command;
  std::string cpus;  // of the pinned threads, empty where they are not pinned
  int64_t cold_bytes = 0;
  Ceilings ceilings;
  Noise noise;
};

// Reads the checkout, the clock and the command line of this process.
Circumstances circumstances(const Device& device);

Json to_json(const Row& row);
Json record(const Circumstances& circumstances, const std::vector<Row>& rows);

// The text of a record file: indented, non-finite numbers as null.
std::string record_text(const Json& record);

}  // namespace convoy::bench
