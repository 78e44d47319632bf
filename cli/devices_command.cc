// `convoy devices`: what this machine can compute with, and the ceilings it has measured.
#include <fmt/format.h>

#include "calibration.h"
#include "command.h"
#include "output.h"

namespace convoy::cli {
namespace {

struct Listed {
  DeviceInfo info;
  std::optional<Ceilings> ceilings;
};

bool is_cpu(const DeviceInfo& info) {
  return info.id.backend == Backend::kCpu;
}

Result<std::vector<Listed>> list(bool calibrate_now) {
  // devices() leaves out what it cannot open; a bad environment has to be named.
  if (const Result<Device> cpu = open_device_uncalibrated({}); !cpu) return cpu.status();
  std::vector<Listed> listed;
  for (const Device& device : devices()) {
    if (!calibrate_now) {
      listed.push_back({device.info(), load_calibration(device.info())});
      continue;
    }
    const Result<Ceilings> measured = calibrate(device);
    if (!measured) return measured.status();
    // Where the folder cannot be written the figures are still worth showing.
    static_cast<void>(store_calibration(device.info(), *measured));
    listed.push_back({device.info(), *measured});
  }
  return listed;
}

void print_document(const std::vector<Listed>& listed) {
  Json rows = Json::array();
  for (const auto& [info, ceilings] : listed) {
    rows.push_back({{"id", id_text(info.id)},
                    {"name", info.name},
                    {"arch", info.arch},
                    {"isa", is_cpu(info) ? Json(name(info.isa)) : Json()},
                    {"memory_bytes", info.memory_bytes},
                    {"ceilings", ceilings ? ceilings_json(*ceilings) : Json()}});
  }
  print_json({{"devices", std::move(rows)}});
}

void print_ceilings(const Listed& device) {
  const auto& [info, ceilings] = device;
  const std::string id = id_text(info.id);
  if (!ceilings) {
    print_text(
        fmt::format("\n{}: ceilings unmeasured; `convoy devices --calibrate` measures them\n", id));
    return;
  }
  print_text(fmt::format("\nceilings of {}\n", id));
  Table table({"ceiling", "value", "unit"});
  for (const Ceilings::Copy& copy : ceilings->copy)
    table.add({fmt::format("copy of {} bytes", copy.bytes), number(copy.gbs), "GB/s"});
  table.add({"copy, streaming", number(ceilings->copy_streaming_gbs), "GB/s"});
  table.add({"fma, f32", number(ceilings->fma_gflops), "Gflop/s"});
  table.add({"matrix, bf16", number(ceilings->matrix_gflops), "Gflop/s"});
  table.add({"matrix, f16", number(ceilings->matrix_f16_gflops), "Gflop/s"});
  table.add({"matrix, tf32", number(ceilings->matrix_tf32_gflops), "Gflop/s"});
  table.add({is_cpu(info) ? "fork-join" : "empty kernel", number(ceilings->fork_join_us), "us"});
  table.print();
}

Result<int> show(bool calibrate_now, const Common& common) {
  const Result<std::vector<Listed>> listed = list(calibrate_now);
  if (!listed) return listed.status();
  if (common.json) {
    print_document(*listed);
    return kDone;
  }
  Table table({"id", "name", "arch", "isa", "threads", "multiprocessors", "memory_bytes"});
  for (const auto& [info, ceilings] : *listed) {
    const bool cpu = is_cpu(info);
    table.add({id_text(info.id), info.name, info.arch, cpu ? name(info.isa) : "",
               cpu ? fmt::format("{}", info.threads) : "",
               cpu ? "" : fmt::format("{}", info.multiprocessors),
               fmt::format("{}", info.memory_bytes)});
  }
  table.print();
  for (const Listed& device : *listed)
    print_ceilings(device);
  return kDone;
}

}  // namespace

void add_devices(CLI::App& app, Common& common, Action& action) {
  auto calibrate_now = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("devices", "List devices and their measured ceilings");
  command->add_flag("--calibrate", *calibrate_now, "Measure the ceilings now");
  add_output_options(*command, common);
  command->callback([calibrate_now, &common, &action] {
    action = [calibrate_now, &common] { return show(*calibrate_now, common); };
  });
}

}  // namespace convoy::cli
