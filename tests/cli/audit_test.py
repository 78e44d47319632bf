"""`convoy audit` from the outside: layers, totals, exit codes, Ctrl-C."""

import json
import os
import signal
import subprocess
import time

import cli_case
import onnx_file
from cli_case import CliCase
from onnx_file import conv, node


class Audit(CliCase):
    def model(self, *parts, **more):
        onnx_file.save(os.path.join(self.work, "m.onnx"), *parts, **more)
        return "m.onnx"

    def test_document(self):
        model = self.model(conv("wide", (6, 4, 1, 1), target="t"),
                           conv("deep", (6, 1, 3, 3), source="t", group=6, pads=[1, 1, 1, 1]))
        told = self.document("audit", model)
        self.assertEqual(list(told), ["layers", "totals"])
        for layer in told["layers"]:
            self.assertEqual(list(layer), ["node", "problem", "kernel", "time_us", "limit_us",
                                           "pct_limit", "check", "skipped"])
            self.assertTrue(layer["check"]["ok"])
            self.assertGreater(layer["time_us"], 0)
            self.assertIsNone(layer["skipped"])
        problems = {layer["node"]: layer["problem"] for layer in told["layers"]}
        self.assertEqual(problems, {"wide": "conv2d fprop f32 n1 c4 k6 h8 w8 r1 s1",
                                    "deep": "conv2d fprop f32 n1 c6 k6 g6 h8 w8 r3 s3 pad1"})
        self.assertEqual((told["totals"]["nodes"], told["totals"]["audited"]), (2, 2))

    def test_options(self):
        model = self.model(conv("c", (4, 1, 3, 3), group=4), x=("batch", 4, "high", 8))
        self.refuse(1, "audit", model, words=["--batch", "high"])
        given = ["audit", model, "--batch", "2", "--dim", "high=6"]
        (layer,) = self.document(*given, "--layout", "nhwc", "--dtype", "bf16")["layers"]
        self.assertEqual(layer["problem"], "conv2d fprop bf16 n2 c4 k4 g4 h6 w8 r3 s3 nhwc")
        (layer,) = self.document(*given, "--kernel", "cpu_reference_fprop")["layers"]
        self.assertEqual(layer["kernel"], "cpu_reference_fprop")
        self.refuse(1, *given, "--kernel", "bogus", words=["bogus"])
        self.refuse(1, *given, "--dim", "w=0", words=["w=0"])
        self.refuse(2, *given, "--layout", "diagonal", words=["diagonal"])
        self.assertLess(len(self.convoy("audit", model, "--batch", "0").stderr), 160)
        self.refuse(2, "audit", model, "--batch", "0", words=["--batch"])
        self.assertEqual(self.succeed(*given, "--quiet"), "")

    def test_unknown_shapes_are_listed(self):
        model = self.model(conv("fine", (4, 4, 1, 1)), node("Frobnicate", "x", "t"),
                           conv("lost", (4, 4, 1, 1), source="t", target="z"))
        done = self.convoy("audit", model, "--json")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"\Aconvoy: audit: 1 of 2 nodes [^\n]+\n\Z")
        layers = {layer["node"]: layer for layer in json.loads(done.stdout)["layers"]}
        self.assertIn("Frobnicate", layers["lost"]["skipped"])
        self.assertTrue(layers["fine"]["check"]["ok"])

    def test_models_that_are_none(self):
        with open(os.path.join(self.work, "bad.onnx"), "wb") as file:
            file.write(b"\x93NUMPY and no model")
        for name in ("bad.onnx", "absent.onnx", "."):
            self.refuse(1, "audit", name)

    def test_no_convolution(self):
        model = self.model(node("Relu", "x", "y"))
        self.assertIn("no convolution", self.succeed("audit", model))
        self.assertEqual(self.document("audit", model)["layers"], [])
        self.refuse(3, "audit", model, "--device", "cuda", words=["cuda"])

    def test_hostile_names_stay_in_their_row(self):
        out = self.succeed("audit", self.model(conv("a\n\x1b[31mb", (4, 4, 1, 1))))
        self.assertIn("a\\x0a\\x1b[31mb", out)
        self.assertNotIn("\x1b", out)

    def test_interrupts_leave_nothing(self):
        slow = self.model(*(conv("c%d" % i, (48, 48, 9, 9), target="y%d" % i) for i in range(4)),
                          x=(1, 48, 300, 300))
        with subprocess.Popen([CliCase.binary, "audit", slow, "--kernel", "cpu_reference_fprop"],
                              cwd=self.work, env=self.env, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as running:
            time.sleep(1.0)
            running.send_signal(signal.SIGINT)
            self.assertEqual(running.wait(timeout=20), 130)
            self.assertEqual((running.stdout.read(), running.stderr.read()), (b"", b""))
        self.assertEqual(os.listdir(self.work), ["m.onnx"])


if __name__ == "__main__":
    cli_case.main()
