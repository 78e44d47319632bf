// convoy manifest validate | list | show: the source of truth checked and printed.
#include <filesystem>
#include <iostream>
#include <memory>

#include "cli/command.h"
#include "cli/output.h"
#include "manifest/embedded.h"
#include "manifest/manifest.h"

namespace convoy::cli {
namespace {

constexpr const char* kFolder = "manifest";

// The folder that was named, else ./manifest where it exists, else the manifest of this build.
Result<std::vector<manifest::Fault>> faults_of(std::string& folder) {
  std::error_code error;
  if (folder.empty() && std::filesystem::is_directory(kFolder, error)) folder = kFolder;
  const std::vector<KernelFacts> code = kernels();
  if (!folder.empty()) return manifest::validate(folder, code);
  folder = "(built-in)";
  return manifest::validate(manifest::embedded(), code, "");
}

Result<int> run_validate(std::string folder, const Common& common) {
  const Result<std::vector<manifest::Fault>> faults = faults_of(folder);
  if (!faults) return faults.status();
  if (common.json) {
    Json list = Json::array();
    for (const manifest::Fault& fault : *faults) {
      list.push_back(
          {{"file", folder + "/" + fault.file}, {"line", fault.line}, {"message", fault.message}});
    }
    print_json({{"ok", faults->empty()}, {"faults", std::move(list)}});
  } else {
    for (const manifest::Fault& fault : *faults)
      std::cout << folder << '/' << fault.file << ':' << fault.line << ": " << fault.message
                << '\n';
    if (!common.quiet) {
      std::cout << "manifest " << folder << ": "
                << (faults->empty() ? "ok" : std::to_string(faults->size()) + " faults") << '\n';
    }
  }
  return faults->empty() ? kDone : kRefused;
}

// Built from a manifest that the generator read without a fault.
manifest::Manifest built_in() {
  std::vector<manifest::Fault> none;
  return manifest::read(manifest::embedded(), none);
}

Json status_json(const manifest::Op& op) {
  Json status = Json::object();
  for (const manifest::OpDevice& device : op.devices)
    status[manifest::name(device.backend)] = manifest::name(device.status);
  return status;
}

Result<int> run_list(const Common& common) {
  const manifest::Manifest manifest = built_in();
  if (common.json) {
    Json ops = Json::array(), names = Json::array();
    for (const manifest::Op& op : manifest.ops)
      ops.push_back({{"op", op.name}, {"status", status_json(op)}});
    for (const manifest::KernelRow& row : manifest.kernels)
      names.push_back(row.facts.name);
    print_json({{"ops", std::move(ops)}, {"kernels", std::move(names)}});
    return kDone;
  }
  Table ops({"op", "cpu", "cuda", "hip"});
  for (const manifest::Op& op : manifest.ops) {
    std::vector<std::string> row = {op.name};
    for (const manifest::OpDevice& device : op.devices)
      row.push_back(manifest::name(device.status));
    ops.add(std::move(row));
  }
  ops.print();
  std::cout << '\n';
  Table kernels({"kernel", "arch floor", "role"});
  for (const manifest::KernelRow& row : manifest.kernels)
    kernels.add({row.facts.name, row.arch, row.facts.reference ? "reference" : ""});
  kernels.print();
  return kDone;
}

Json to_json(const manifest::Value& value) {
  using Kind = manifest::Value::Kind;
  if (value.kind == Kind::kScalar) return value.scalar;
  if (value.kind == Kind::kNull) return nullptr;
  Json out = value.kind == Kind::kSequence ? Json::array() : Json::object();
  for (size_t i = 0; i < value.items.size(); ++i) {
    if (value.kind == Kind::kSequence) {
      out.push_back(to_json(value.items[i]));
    } else {
      out[value.keys[i].text] = to_json(value.items[i]);
    }
  }
  return out;
}

void print_entry(const Json& entry, const std::string& indent) {
  for (const auto& [key, value] : entry.items()) {
    std::cout << indent << key << ':';
    if (value.is_object()) {
      std::cout << '\n';
      print_entry(value, indent + "  ");
    } else if (value.is_array() && key == "rules") {  // formulas hold commas of their own
      for (const Json& item : value)
        std::cout << '\n' << indent << "  " << item.get<std::string>();
      std::cout << '\n';
    } else if (value.is_array()) {
      for (const Json& item : value)
        std::cout << (&item == &value.front() ? " " : ", ") << item.get<std::string>();
      std::cout << '\n';
    } else {
      std::cout << ' ' << value.get<std::string>() << '\n';
    }
  }
}

Result<int> run_show(const std::string& name, const Common& common) {
  std::vector<manifest::Fault> none;
  std::string known;
  for (const manifest::File& file : manifest::embedded()) {
    if (file.path != manifest::kOpsFile) continue;
    const auto root = manifest::parse_yaml(file.text, {file.path, none});
    if (!root) return internal("manifest show: the built-in ops cannot be read; build again");
    const Json document = to_json(*root);
    for (const Json& entry : document["ops"]) {
      const std::string op = entry["op"];
      known += (known.empty() ? "" : " ") + op;
      if (op != name) continue;
      if (common.json) {
        print_json({{"op", op}, {"entry", entry}});
      } else {
        print_entry(entry, "");
      }
      return kDone;
    }
  }
  return invalid("manifest show: op '" + name + "' is not in the manifest; use one of " + known);
}

}  // namespace

void add_manifest(CLI::App& app, Common& common, Action& action) {
  CLI::App& command = *app.add_subcommand(
      "manifest", "Check the manifest against itself and the code, or print it");
  command.require_subcommand(1);
  const auto folder = std::make_shared<std::string>(), op = std::make_shared<std::string>();

  CLI::App& validate = *command.add_subcommand("validate", "Every fault with file and line");
  validate.add_option("DIR", *folder,
                      "Manifest folder (default ./manifest, else the built-in one)");
  add_output_options(validate, common);
  validate.callback([&common, &action, folder] {
    action = [&common, folder] { return run_validate(*folder, common); };
  });

  CLI::App& list = *command.add_subcommand("list", "The ops with their status, and the kernels");
  add_output_options(list, common);
  list.callback([&common, &action] { action = [&common] { return run_list(common); }; });

  CLI::App& show = *command.add_subcommand("show", "One op: operands, rules, formulas, status");
  show.add_option("OP", *op, "For example conv2d_fprop")->required();
  add_output_options(show, common);
  show.callback(
      [&common, &action, op] { action = [&common, op] { return run_show(*op, common); }; });
}

}  // namespace convoy::cli
