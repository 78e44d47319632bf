"""Drives the convoy binary as users do: exit codes, documents, files, signals."""

import json
import math
import os
import resource
import signal
import subprocess
import time
import unittest

import cli_case
import npy
from cli_case import HEAD, WHOLE, CliCase

HERE = os.path.dirname(os.path.abspath(__file__))


class Usage(CliCase):
    def test_version_and_help(self):
        self.assertEqual(self.succeed("--version"), "convoy 0.1.0\n")
        for command in ([], ["run"], ["explain"], ["devices"], ["cache"], ["cache", "list"],
                        ["cache", "clear"], ["cache", "warm"]):
            self.assertIn("--help", self.succeed(*command, "--help"))

    def test_wrong_command_lines(self):
        for args in ([], ["--flag"], ["walk"], ["cache"], ["cache", "burn"]):
            done = self.convoy(*args)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertRegex(done.stderr, r"\Aconvoy: [^\n]+\n\Z")
            self.assertIn("missing" if args in ([], ["cache"]) else args[-1], done.stderr)
            told = json.loads(self.convoy(*args, "--json").stdout)["error"]
            self.assertEqual((told["exit"], told["kind"]), (2, "usage"))
        for args in (["run"], ["explain"], ["explain", WHOLE, "--flag"],
                     ["run", HEAD], ["devices", "extra"],
                     ["explain", WHOLE, WHOLE]):
            self.assertEqual(self.refuse(2, *args), "usage")

        self.assertEqual(self.convoy("explain", WHOLE, "--device").returncode, 2)

    def test_options_of_each_pass(self):
        given = {"--x": "x.npy", "--w": "w.npy", "--dy": "dy.npy", "--bias": "b.npy",
                 "--out-db": "db.npy"}
        needed = {"fprop": ["--x", "--w"], "dgrad": ["--dy", "--w"], "wgrad": ["--x", "--dy"]}
        foreign = {"fprop": ["--dy", "--out-db"], "dgrad": ["--x", "--out-db"],
                   "wgrad": ["--w", "--bias"]}
        for which, names in needed.items():
            text = "conv2d %s f32" % which
            files = [part for name in names for part in (name, given[name])]
            self.refuse(2, "run", text, *files, words=["--out"])
            for i, name in enumerate(names):
                rest = files[:2 * i] + files[2 * i + 2:]
                self.refuse(2, "run", text, *rest, "--out", "o.npy", words=[name])
            for name in foreign[which]:
                self.refuse(2, "run", text, *files, name, given[name], "--out", "o.npy",
                            words=[name])

    def test_unwritable_stdout(self):
        for args in (["--version"], ["--help"], ["devices"], ["explain", WHOLE, "--json"]):
            with open("/dev/full", "w") as full:
                done = self.convoy(*args, stdout=full)
            self.assertEqual(done.returncode, 1, args)
            self.assertRegex(done.stderr, r"\Aconvoy: stdout: [^\n]+\n\Z")
            reader, writer = os.pipe()
            os.close(reader)
            self.assertEqual(self.convoy(*args, stdout=writer).returncode, 1, args)
            os.close(writer)
        closed = subprocess.run(["sh", "-c", '"$0" --version >&-', CliCase.binary], stderr=subprocess.PIPE)
        self.assertEqual(closed.returncode, 1)

    def test_unwritable_stderr_changes_no_exit_code(self):
        with open("/dev/full", "w") as full:
            self.assertEqual(self.convoy("walk", stderr=full).returncode, 2)

    def test_control_characters_stay_on_one_line(self):
        self.refuse(1, "explain", "conv2d\n\x1b[31m fprop f32", words=["\\x0a", "\\x1b"])


class Errors(CliCase):
    def test_field_cases(self):
        with open(os.path.join(HERE, "error_cases.json")) as file:
            cases = json.load(file)
        self.assertGreater(len(cases), 20)
        for case in cases:
            with self.subTest(case["id"]):
                files = ["--x", self.array("x.npy", case["x_shape"]),
                         "--w", self.array("w.npy", case["w_shape"])]
                if case["bias_shape"]:
                    files += ["--bias", self.array("b.npy", case["bias_shape"])]
                kind = self.refuse(1, "run", case["problem"], *files, "--out", "y.npy",
                                   words=case["must_mention"])
                self.assertEqual(kind, "kInvalid")
                self.assertFalse(os.path.exists(os.path.join(self.work, "y.npy")))

    def test_bad_groups_in_every_pass(self):
        x, w = self.array("x.npy", [1, 4, 5, 5]), self.array("w.npy", [4, 4, 3, 3])
        dy = self.array("dy.npy", [1, 4, 3, 3])
        for g in ("0", "-1"):
            for c in ("", "c4"):
                self.refuse(1, "run", "conv2d dgrad f32 h5 w5 g%s %s" % (g, c), "--dy", dy, "--w",
                            w, "--out", "o.npy", words=["groups", g])
            self.refuse(1, "run", "conv2d wgrad f32 r3 s3 g" + g, "--x", x, "--dy", dy, "--out",
                        "o.npy", words=["groups", g])

    def test_environment(self):
        for name, values in {"CONVOY_CPU_ISA": ["foo", "AVX2"],
                             "CONVOY_NUM_THREADS": ["0", "-1", "two", "1.5", "99999999999"],
                             "CONVOY_INDEX_LIMIT": ["1", "-2", "x", "2147483649"],
                             "CONVOY_CACHE_BYTES": ["x", "-1", "1M", "99999999999999999999"]}.items():
            for value in values:
                for args in (["explain", WHOLE], ["devices"], ["cache", "warm"]):
                    self.refuse(1, *args, env={name: value}, words=[name, value])

    def test_devices_that_are_not_here(self):
        for device in ("cuda:999", "hip:1"):
            self.assertEqual(self.refuse(3, "explain", WHOLE, "--device", device), "kUnavailable")
        for device in ("tpu", "cuda:", "cuda:x", "cuda:-1", "cuda:99999999999", "cpu:0"):
            self.assertEqual(self.refuse(1, "explain", WHOLE, "--device", device), "kInvalid")
        if any(row["id"] == "cuda:0" for row in self.document("devices")["devices"]):
            return
        x, w = self.array("x.npy", (1, 4, 5, 5)), self.array("w.npy", (4, 1, 3, 3))
        for args in (["explain", WHOLE], ["run", HEAD, "--x", x, "--w", w, "--out", "y.npy"],
                     ["bench", WHOLE], ["selftest"]):
            self.assertEqual(self.refuse(3, *args, "--device", "cuda", words=["device cuda: "]),
                             "kUnavailable")
        self.assertFalse(os.path.exists(os.path.join(self.work, "y.npy")))

    @unittest.skipUnless("FAKE_CUDA" in os.environ, "CTest names the fake driver, where built")
    def test_devices_of_a_driver(self):
        os.symlink(os.environ["FAKE_CUDA"], self.path("libcuda.so.1"))
        env = {"LD_LIBRARY_PATH": self.folder}
        cpu, *gpus = self.document("devices", env=env)["devices"]
        self.assertEqual(cpu["id"], "cpu")
        self.assertEqual([(row["id"], row["arch"], row["isa"]) for row in gpus],
                         [("cuda:0", "sm_90", None), ("cuda:1", "sm_90", None)])
        self.refuse(3, "explain", WHOLE, "--device", "cuda:2", env=env, words=["2 CUDA device(s)"])

    def test_kernels_and_dtypes(self):
        self.refuse(1, "explain", WHOLE, "--kernel", "nobody", words=["nobody"])
        declining = self.kernels(WHOLE, False)[0]
        self.assertEqual(self.refuse(1, "explain", WHOLE, "--kernel", declining,
                                     words=[declining]), "kUnsupported")
        self.assertEqual(self.refuse(1, "explain", WHOLE.replace("f32", "e4m3")), "kUnsupported")
        self.assertEqual(self.refuse(1, "explain", WHOLE.replace("f32", "f64")), "kInvalid")

    def test_odd_texts(self):
        for text in ("", " ", "conv2d", "CONV2D fprop f32", WHOLE + " n1", WHOLE + " pad1 same",
                     WHOLE + " q3", WHOLE + " relu silu", WHOLE + " d3", WHOLE + " h",
                     WHOLE + " stride1x1x1", WHOLE + " pad1:2:3", "conv2d fprop f32 n1"):
            self.refuse(1, "explain", text)


class Run(CliCase):
    def test_fprop_against_the_field_case(self):
        # F23a: everything differs per axis.
        self.array("x.npy", [1, 3, 9, 5], npy.fill(0, 5, 135))
        self.array("w.npy", [3, 1, 7, 2], npy.fill(1, 3, 42))
        self.array("dy.npy", [1, 3, 5, 3], npy.fill(3, 2, 45))
        axes = "stride2x1 pad3x0 dil1x2"
        for dtype in ("f32", "tf32", "f16", "bf16"):
            for layout in ("nchw", "nhwc"):
                for text, files, values in (
                        ("fprop", ["--x", "x.npy", "--w", "w.npy"], (52, 540, 39)),
                        ("dgrad h9 w5 c3", ["--dy", "dy.npy", "--w", "w.npy"], (-3, 102, 12)),
                        ("wgrad r7 s2 g3", ["--x", "x.npy", "--dy", "dy.npy"], (2, 124, 29))):
                    which, _, sizes = text.partition(" ")
                    told = self.document("run", " ".join(("conv2d", which, dtype, sizes, axes, layout)),
                                         *files, "--out", "o.npy", "--check")
                    self.assertEqual(list(told), ["problem", "kernel", "device", "time_us", "check"])
                    self.assertEqual(list(told["check"]), ["max_abs_err", "max_rel_err", "ok"])
                    self.assertTrue(told["check"]["ok"])
                    self.assertGreater(told["time_us"], 0)
                    self.assertEqual(told["device"], "cpu")
                    descr, _, out = self.load("o.npy")
                    self.assertEqual(descr, "<f2" if dtype == "f16" else "<f4")
                    weighed = sum((i % 13 + 1) * v for i, v in enumerate(out))
                    self.assertEqual((sum(out), weighed, max(map(abs, out))), values)

    def test_text_may_leave_out_what_arrays_say(self):
        x, w = self.array("x.npy", [2, 4, 5, 6]), self.array("w.npy", [6, 2, 3, 3])
        told = self.document("run", HEAD, "--x", x, "--w", w, "--out", "y.npy")
        self.assertEqual(told["problem"], "conv2d fprop f32 n2 c4 k6 g2 h5 w6 r3 s3")
        self.assertIsNone(told["check"])
        for token in ("n1", "c8", "k4", "h6", "w5", "r1", "s2"):
            value = {"n": "2", "c": "4", "k": "6", "h": "5", "w": "6"}.get(token[0], "3")
            self.refuse(1, "run", HEAD + " " + token, "--x", x, "--w", w, "--out", "y.npy",
                        words=["%s=%s" % (token[0], token[1:]), "%s=%s" % (token[0], value)])
        self.refuse(1, "run", HEAD + " g4", "--x", x, "--w", w, "--out", "y.npy",
                    words=["6", "4"])

    def test_sizes_that_only_the_text_can_say(self):
        x, w = self.array("x.npy", [1, 4, 5, 5]), self.array("w.npy", [4, 2, 3, 3])
        dy = self.array("dy.npy", [1, 4, 3, 3])
        dgrad = ["--dy", dy, "--w", w, "--out", "o.npy"]
        for sizes in ("h5 w5 c4", "h5 w5 g2", "h5 w5 c4 g2"):
            told = self.document("run", "conv2d dgrad f32 " + sizes, *dgrad)
            self.assertEqual(told["problem"], "conv2d dgrad f32 n1 c4 k4 g2 h5 w5 r3 s3")
        self.refuse(1, "run", "conv2d dgrad f32 h5 w5", *dgrad, words=["c", "g"])
        self.refuse(1, "run", "conv2d dgrad f32 h5 c4", *dgrad, words=["w"])
        self.refuse(1, "run", "conv2d dgrad f32 h5 w5 c5", *dgrad, words=["5", "2"])
        self.refuse(1, "run", "conv2d dgrad f32 h6 w5 c4", *dgrad, words=["1x4x3x3", "1x4x4x3"])
        wgrad = ["--x", x, "--dy", dy, "--out", "o.npy"]
        told = self.document("run", "conv2d wgrad f32 r3 s3", *wgrad)
        self.assertEqual(told["problem"], "conv2d wgrad f32 n1 c4 k4 h5 w5 r3 s3")
        self.refuse(1, "run", "conv2d wgrad f32 r3", *wgrad, words=["s"])
        self.refuse(1, "run", "conv2d wgrad f32 r2 s3", *wgrad, words=["1x4x3x3", "1x4x4x3"])

    def test_bias(self):
        x, w = self.array("x.npy", [1, 2, 3], [1] * 6), self.array("w.npy", [2, 1, 1], [1, 1])
        b = self.array("b.npy", [2], [10, 1 + 2 ** -12])
        files = ["--x", x, "--w", w, "--out", "y.npy"]
        told = self.document("run", "conv1d fprop f16", *files, "--bias", b)
        self.assertTrue(told["problem"].endswith(" bias"))
        self.assertEqual(self.load("y.npy")[2], [11] * 3 + [2] * 3)
        told = self.document("run", "conv1d fprop f32 bias:f32 relu6", *files, "--bias", b)
        self.assertEqual(self.load("y.npy")[2], [6] * 3 + [2 + 2 ** -12] * 3)
        self.refuse(1, "run", "conv1d fprop f16 bias", *files, words=["bias", "--bias"])
        dgrad = ["--dy", x, "--w", w, "--out", "o.npy"]
        self.refuse(1, "run", "conv1d dgrad f32 w3 c2 bias", *dgrad, words=["bias"])
        self.refuse(1, "run", "conv1d dgrad f32 w3 c2", *dgrad, "--bias", b, words=["bias"])
        self.refuse(1, "run", "conv1d dgrad f32 w3 c2 relu", *dgrad, words=["relu"])
        self.refuse(1, "run", "conv1d wgrad f32 s1 relu", "--x", x, "--dy", x, "--out", "o.npy",
                    words=["relu"])

    def test_bias_gradient(self):
        x, dy = self.array("x.npy", [2, 2, 3]), self.array("dy.npy", [2, 2, 3], list(range(12)))
        args = ["run", "conv1d wgrad f32 s1 g2", "--x", x, "--dy", dy]
        self.succeed(*args, "--out", "dw.npy", "--out-db", "db.npy", "--check")
        self.assertEqual(self.load("db.npy"), ("<f4", (2,), [24, 42]))
        self.refuse(1, *args, "--out", "o.npy", "--out-db", "o.npy")
        self.refuse(1, *args, "--out", "first.npy", "--out-db", "no/such/folder.npy")
        self.assertNotIn("first.npy", os.listdir(self.work))

    def test_empty_batch(self):
        x, w = self.array("x.npy", [0, 4, 6, 6]), self.array("w.npy", [4, 1, 3, 3])
        dy = self.array("dy.npy", [0, 4, 4, 4])
        self.succeed("run", HEAD, "--x", x, "--w", w, "--out", "y.npy", "--check")
        self.assertEqual(self.load("y.npy"), ("<f4", (0, 4, 4, 4), []))
        self.succeed("run", "conv2d dgrad f16 h6 w6 c4", "--dy", dy, "--w", w, "--out", "dx.npy")
        self.assertEqual(self.load("dx.npy"), ("<f2", (0, 4, 6, 6), []))
        self.succeed("run", "conv2d wgrad f32 r3 s3 g4", "--x", x, "--dy", dy, "--out", "dw.npy",
                     "--out-db", "db.npy")
        self.assertEqual(self.load("dw.npy")[2], [0] * 36)
        self.assertEqual(self.load("db.npy")[2], [0] * 4)

    def test_array_forms_agree(self):
        w = self.array("w.npy", [4, 2, 3, 3], npy.fill(1, 3, 72))
        self.array("x.npy", [1, 4, 5, 6])
        self.succeed("run", HEAD, "--x", "x.npy", "--w", w, "--out", "y.npy")
        expected = self.load("y.npy")
        for descr in ("<f2", "<f4", "<f8", ">f2", ">f4", ">f8"):
            for fortran in (False, True):
                x = self.array("x.npy", [1, 4, 5, 6], descr=descr, fortran=fortran)
                self.succeed("run", HEAD, "--x", x, "--w", w, "--out", "y.npy")
                self.assertEqual(self.load("y.npy"), expected, (descr, fortran))

    def test_values_are_rounded_once(self):
        one = self.array("w.npy", [1, 1, 1], [1])
        tie, above = 1 + 2 ** -8, 1 + 2 ** -8 + 2 ** -40
        x = self.array("x.npy", [1, 1, 6], [tie, above, 1 + 3 * 2 ** -8, 1e300, -1e300, math.nan],
                       descr="<f8")
        self.succeed("run", "conv1d fprop bf16", "--x", x, "--w", one, "--out", "y.npy", "--check")
        out = self.load("y.npy")[2]
        self.assertEqual(out[:5], [1, 1 + 2 ** -7, 1 + 2 ** -6, math.inf, -math.inf])
        self.assertTrue(math.isnan(out[5]))
        self.succeed("run", "conv1d fprop f16", "--x", x, "--w", one, "--out", "y.npy")
        self.assertEqual(self.load("y.npy")[2][:5], [tie, tie, 1 + 3 * 2 ** -8, math.inf, -math.inf])

    def test_broken_arrays(self):
        w = self.array("w.npy", [4, 1, 3, 3])
        self.array("good.npy", [1, 4, 5, 5])
        with open(os.path.join(self.work, "good.npy"), "rb") as file:
            good = file.read()
        broken = {"cut.npy": good[:-1], "long.npy": good + b"x", "empty.npy": b"",
                  "text.npy": b"hello", "int.npy": good.replace(b"<f4", b"<i4"),
                  "byte.npy": good.replace(b"<f4", b"|f4")}
        for name, content in broken.items():
            with open(os.path.join(self.work, name), "wb") as file:
                file.write(content)
        os.mkfifo(os.path.join(self.work, "pipe"))
        for name in [*broken, "absent.npy", ".", "pipe", "/dev/null"]:
            self.refuse(1, "run", HEAD, "--x", name, "--w", w, "--out", "y.npy", words=[name])
        self.refuse(1, "run", HEAD, "--x", "int.npy", "--w", w, "--out", "y.npy", words=["<i4"])

    def test_outputs_that_cannot_be_written(self):
        x, w = self.array("x.npy", [1, 4, 5, 5]), self.array("w.npy", [4, 1, 3, 3])
        before = sorted(os.listdir(self.work))
        for out in ("/dev/full", ".", "no/such/y.npy", "x.npy/y.npy", "/proc/y.npy", "n" * 300):
            self.refuse(1, "run", HEAD, "--x", x, "--w", w, "--out", out, words=[out])
        self.assertEqual(sorted(os.listdir(self.work)), before)

    def test_a_full_disk_keeps_the_old_file(self):
        x, w = self.array("x.npy", [1, 4, 40, 40]), self.array("w.npy", [4, 1, 3, 3])
        self.array("y.npy", [1], [7])

        def few_bytes():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

        self.refuse(1, "run", HEAD, "--x", x, "--w", w, "--out", "y.npy", preexec_fn=few_bytes)
        self.assertEqual(self.load("y.npy")[2], [7])
        self.assertEqual(sorted(os.listdir(self.work)), ["w.npy", "x.npy", "y.npy"])

    def test_too_little_memory(self):
        x, w = self.array("x.npy", [1, 1, 9]), self.array("w.npy", [1, 1, 1])
        args = ["run", "conv1d fprop f32 pad100000000000000", "--x", x, "--w", w, "--out", "y.npy"]
        self.assertEqual(self.refuse(3, *args), "kUnavailable")
        if "SANITIZED" not in os.environ:  # a sanitizer reserves more than any limit
            limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
            args[1] = "conv1d fprop f32 pad500000000"
            self.assertEqual(self.refuse(3, *args, preexec_fn=limit), "kUnavailable")

    def test_output_through_stdout(self):
        x, w = self.array("x.npy", [1, 1, 3], [1, 2, 3]), self.array("w.npy", [1, 1, 1], [2])
        with open(os.path.join(self.work, "y.npy"), "wb") as file:
            done = self.convoy("run", "conv1d fprop f32", "--x", x, "--w", w, "--out",
                               "/dev/stdout", "--quiet", stdout=file)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.load("y.npy")[2], [2, 4, 6])

    def test_human_output(self):
        x, w = self.array("x.npy", [1, 4, 5, 5]), self.array("w.npy", [4, 1, 3, 3])
        args = ["run", HEAD, "--x", x, "--w", w, "--out", "y.npy", "--check"]
        out = self.succeed(*args)
        self.assertRegex(out, r"(?m)^check: max_abs_err \S+ max_rel_err \S+ ok$")
        self.assertIn(WHOLE, out)
        self.assertNotIn("\x1b", out)
        self.assertEqual(self.succeed(*args, "--quiet"), "")
        for kernel in self.kernels(WHOLE, True):
            told = self.document(*args, "--kernel", kernel, "--deterministic", "--device", "cpu")
            self.assertEqual(told["kernel"], kernel)

    def test_interrupts_leave_nothing(self):
        x = self.array("x.npy", [1, 64, 400, 400], [0] * (64 * 400 * 400))
        w = self.array("w.npy", [64, 64, 9, 9], [0] * (64 * 64 * 81))
        slowest = self.kernels("conv2d fprop f32 n1 c64 k64 h400 w400 r9 s9", True)[-1]
        for sent in (signal.SIGINT, signal.SIGTERM):
            with subprocess.Popen([CliCase.binary, "run", HEAD, "--kernel", slowest, "--x", x,
                                   "--w", w, "--out", "y.npy"], cwd=self.work, env=self.env,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
                time.sleep(1.0)
                running.send_signal(sent)
                self.assertEqual(running.wait(timeout=20), 130)
                self.assertEqual((running.stdout.read(), running.stderr.read()), (b"", b""))
            self.assertEqual(sorted(os.listdir(self.work)), ["w.npy", "x.npy"])


if __name__ == "__main__":
    cli_case.main()
