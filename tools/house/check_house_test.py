#!/usr/bin/env python3
"""Proves that every rule of check_house.py fails on a tree that breaks it, and only that rule."""

from __future__ import annotations

import platform
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import check_house

COMPILER = sys.argv.pop(1) if len(sys.argv) > 1 and not sys.argv[1].startswith("-") else "c++"

KERNELS = "kernels:\n  - name: cpu_loops_fprop\n    backend: cpu\n"
SOUND = {
    "src/base/text.h": "// Text.\n#pragma once\n\n#include <string>\n",
    "src/plan/plan.cc": "// Plan.\n#include <convoy/plan.h>\n\n#include \"base/text.h\"\n",
    "src/tensor/map.h": "// Map.\n#pragma once\n#include \"base/portable.h\"\n",
    "src/kernel/cpu/loops/loops.cc": "// Loops.\nextern const Kernel cpu_loops_fprop;\n",
    "src/kernel/cpu/loops/loops_test.cc": "// Tests.\n#include <iostream>\n#include \"plan/x.h\"\n",
    "include/convoy/plan.h": "// Plan.\n#pragma once\n#include <convoy/device.h>\n",
    "cli/main.cc": "// Main.\n#include <convoy/convoy.h>\n#include \"cli/output.h\"\n"
    "#include \"files.h\"\nint main() { puts(\"\"); }\n",
    "cli/files.h": "// Files.\n#pragma once\n",
    "cli/output.h": "// Output.\n#pragma once\n",
    "cli/onnx/graph.h": "// Graph.\n#pragma once\n#include \"onnx/node.h\"\n",
    "cli/onnx/node.h": "// Node.\n#pragma once\n",
    "src/kernel/cpu/kernel_test_util.h": "// For tests.\n#pragma once\n#include \"plan/x.h\"\n",
    "bench/timer.cc": "// Timer.\n#include \"launch/timer.h\"\n",
    "tests/dispatch/dispatch_test.cc": "// Pins cpu_loops_fprop.\n",
    "docs/kernels.md": "cpu_loops_fprop\n",
    "manifest/kernels.yaml": KERNELS,
    "tools/make.sh": "#!/bin/sh\n# Makes.\n",
    "CMakeLists.txt": "# Build.\n",
}

# Written in pieces: this file must pass the rules that it tests.
OPEN = "TO" + "DO"
HOME = "/ho" + "me/someone"
WORK = "/wo" + "rk/tree"
HELPER = "Assi" + "stant"
REGISTRY = "pypi" + ".org"

# rule, file, text; the tree is SOUND but for this file.
BROKEN = [
    ("include", "src/base/text.h", "// T.\n#pragma once\n#include \"plan/operands.h\"\n"),
    ("include", "src/kernel/kernel.h", "// K.\n#pragma once\n#include <convoy/plan.h>\n"),
    ("include", "src/problem/cost.cc", "// C.\n#include <convoy/device.h>\n"),
    ("include", "include/convoy/tensor.h", "// T.\n#pragma once\n#include <convoy/problem.h>\n"),
    ("include", "src/api/conv.cc", "// C.\n#include \"cli/output.h\"\n"),
    ("include", "src/api/conv.cc", "// C.\n#include \"text.h\"\n"),
    ("include", "src/api/conv.cc", "// C.\n#include <convoy/unknown.h>\n"),
    ("room", "src/attic/old.cc", "// Old.\n"),
    ("room", "src/loose.cc", "// Loose.\n"),
    ("device", "src/tensor/map.h", "// M.\n#pragma once\n#include <cstdint>\n"),
    ("device", "src/tensor/map.h", "// M.\n#pragma once\n#include \"base/str.h\"\n"),
    ("device", "src/kernel/gpu/a.cuh", "// A.\n#pragma once\n#include \"kernel/operand.h\"\n"),
    ("caller", "cli/main.cc", "// M.\n#include \"base/str.h\"\n"),
    ("caller", "cli/main.cc", "// M.\n#include <base/str.h>\n"),
    ("caller", "cli/main.cc", "// M.\n#include \"launch/timer.h\"\n"),
    ("caller", "bench/timer.cc", "// T.\n#include \"launch/cpu/parallel.h\"\n"),
    ("caller", "bench/timer.cc", "// T.\n#include \"cli/output.h\"\n"),
    ("caller", "python/module.cc", "// M.\n#include \"plan/overlap.h\"\n"),
    ("print", "src/base/a.cc", "// A.\nvoid f() { printf(\"x\"); }\n"),
    ("print", "src/base/a.cc", "// A.\nvoid f() { std::puts(\"x\"); }\n"),
    ("print", "src/base/a.cc", "// A.\nvoid f() { std::cerr << 1; }\n"),
    ("print", "include/convoy/a.h", "// A.\n#pragma once\n#include <iostream>\n"),
    ("throw", "src/base/a.cc", "// A.\nvoid f() { throw 1; }\n"),
    ("throw", "src/base/a.cc", "// A.\nvoid f() { std::abort(); }\n"),
    ("pragma-once", "src/base/text.h", "// Text.\n"),
    ("first-line", "src/base/text.h", "#pragma once\n"),
    ("first-line", "src/base/a.cc", ""),
    ("first-line", "CMakeLists.txt", "project(x)\n"),
    ("first-line", "tools/make.sh", "#!/bin/sh\nset -e\n"),
    ("file-name", "src/base/TextForm.cc", "// T.\n"),
    ("file-name", "src/base/text-form.cc", "// T.\n"),
    ("length", "src/base/a.cc", "// A.\n" + "int x;\n" * 500),
    ("kernel-name", "src/plan/plan.cc", "// P.\nconst char* k = \"cpu_loops_fprop\";\n"),
    ("kernel-name", "src/kernel/cpu/other/o.cc", "// O.\nextern int cpu_loops_fprop;\n"),
    ("kernel-name", "README.md", "cpu_loops_fprop\n"),
    ("open-work", "src/base/a.cc", f"// A.\n// {OPEN}: later\n"),
    ("open-work", "docs/a.md", f"{OPEN}(someone) later\n"),
    ("forbidden", "docs/a.md", f"see {HOME}\n"),
    ("forbidden", "tools/make.sh", f"#!/bin/sh\n# Makes.\ncd {WORK}\n"),
    ("forbidden", "docs/a.md", f"an {HELPER} wrote\n"),
    ("forbidden", "docs/a.md", f"https://{REGISTRY}/x\n"),
]

# Near misses that must pass.
ALLOWED = [
    ("src/base/a.cc", "// A. printf( throw\nint n = snprintf(b, 1, \"throw printf(\");\n"),
    ("src/base/a.cc", "// A.\n/* throw\n   std::cout */\nint rethrown;\n"),
    ("src/base/a.cc", f"// A.\n// {OPEN}(#12): later\n"),
    ("src/base/a.cc", "// A.\n" + "int x;\n" * 499),
    ("docs/a.md", "src/wo" + "rk/x and frame" + "work/ and assi" + "sted\n"),
    ("src/plan/plan.cc", "// Not a kernel: cpu_loops_fprop_avx2\n"),
    ("build/x.cc", "throw\n"),
]


class CheckHouse(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for path, text in SOUND.items():
            self.write(path, text)

    def write(self, path: str, text: str) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, encoding="utf-8")

    def rules(self) -> list[tuple[str, str]]:
        return [(v.rule, v.path) for v in check_house.check_tree(self.root)]

    def test_sound_tree_passes(self) -> None:
        self.assertEqual(self.rules(), [])

    def test_each_rule_fails(self) -> None:
        for rule, path, text in BROKEN:
            with self.subTest(rule=rule, path=path, text=text[:60]):
                self.write(path, text)
                found = self.rules()
                self.assertIn((rule, path), found)
                if path.startswith("include/convoy/a.h"):
                    found.remove(("room", path))
                self.assertEqual(set(found), {(rule, path)})
                (self.root / path).unlink()
                if path in SOUND:
                    self.write(path, SOUND[path])

    def test_every_rule_has_a_broken_tree(self) -> None:
        source = Path(check_house.__file__).read_text(encoding="utf-8")
        rules = set(re.findall(r'Violation\(\s*[\w.]+, [^"]*?"([a-z-]+)"', source))
        self.assertEqual(rules, {rule for rule, _, _ in BROKEN} | {"self-contained"})

    def test_near_misses_pass(self) -> None:
        for path, text in ALLOWED:
            with self.subTest(path=path, text=text[:60]):
                self.write(path, text)
                self.assertEqual(self.rules(), [])
                if path in SOUND:
                    self.write(path, SOUND[path])
                else:
                    (self.root / path).unlink()

    def test_line_numbers(self) -> None:
        self.write("src/base/a.cc", "// A.\n\nvoid f() {\n  throw 1;\n}\n")
        self.assertEqual([v.line for v in check_house.check_tree(self.root)], [4])

    def test_header_that_needs_another_fails(self) -> None:
        self.write("src/base/needy.h", "// N.\n#pragma once\nstd::string f();\n")
        self.write("src/kernel/gpu/device/lang_cuda.h", "// C.\n#pragma once\n__device__ int f();\n")
        self.write("src/base/portable.h", "// P.\n#pragma once\n")
        self.write("include/convoy/device.h", "// D.\n#pragma once\n")
        include = [f"-I{self.root / folder}" for folder in ("src", "include", "cli")]
        found = check_house.check_headers(self.root, COMPILER, include)
        self.assertEqual([(v.rule, v.path) for v in found], [("self-contained", "src/base/needy.h")])

    @unittest.skipUnless(platform.machine() == "x86_64", "needs the tiers of x86-64")
    def test_tier_header_gets_its_flags(self) -> None:
        text = "// N.\n#pragma once\n#ifndef __AVX2__\n#error no AVX2\n#endif\n"
        for name, count in (("lanes_avx2.h", 0), ("avx512.h", 0), ("lanes.h", 1)):
            self.write("src/base/" + name, text)
            found = check_house.check_header(self.root, "src/base/" + name, COMPILER, [])
            self.assertEqual(len(found), count, name)

    def test_exit_codes(self) -> None:
        command = [sys.executable, check_house.__file__, str(self.root)]
        self.assertEqual(subprocess.run(command, check=False).returncode, 0)
        self.write("src/base/a.cc", "throw\n")
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("src/base/a.cc:1: [throw] 'throw' in the library", done.stdout)
        (self.root / "src").rename(self.root / "gone")
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)


if __name__ == "__main__":
    unittest.main()
