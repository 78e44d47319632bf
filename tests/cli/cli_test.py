"""Drives the convoy binary as users do: exit codes, documents, files, signals."""

import json
import math
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import npy

BINARY = ""
HERE = os.path.dirname(os.path.abspath(__file__))
HEAD = "conv2d fprop f32"
WHOLE = "conv2d fprop f32 n1 c4 k4 g4 h5 w5 r3 s3"


class CliCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.env = {"PATH": os.environ["PATH"], "HOME": self.path("home"),
                    "CONVOY_CACHE_DIR": self.path("cache")}
        self.work = self.path("work")
        os.mkdir(self.work)

    def path(self, name):
        return os.path.join(self.folder, name)

    def convoy(self, *args, env=None, **more):
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True,
                   "cwd": self.work, "timeout": 120, "env": {**self.env, **(env or {})}}
        return subprocess.run([BINARY, *args], **{**options, **more})

    def array(self, name, shape, values=None, **form):
        values = npy.fill(0, 5, npy.product(shape)) if values is None else values
        npy.save(os.path.join(self.work, name), shape, values, **form)
        return name

    def load(self, name):
        return npy.load(os.path.join(self.work, name))

    def succeed(self, *args, **more):
        done = self.convoy(*args, **more)
        self.assertEqual((done.returncode, done.stderr), (0, ""), (args, done.stdout))
        return done.stdout

    def document(self, *args, **more):
        return json.loads(self.succeed(*args, "--json", **more))

    def refuse(self, code, *args, words=(), **more):
        """One line on stderr, nothing on stdout; with --json the same message as a document."""
        done = self.convoy(*args, **more)
        self.assertEqual((done.returncode, done.stdout), (code, ""), (args, done.stderr))
        self.assertRegex(done.stderr, r"\Aconvoy: [^\n]+\n\Z")
        for word in words:
            self.assertIn(word, done.stderr)
        told = json.loads(self.convoy(*args, "--json", **more).stdout)
        self.assertEqual(list(told), ["error"])
        self.assertEqual(list(told["error"]), ["exit", "kind", "message"])
        self.assertEqual(told["error"]["exit"], code)
        self.assertEqual("convoy: %s\n" % told["error"]["message"], done.stderr)
        return told["error"]["kind"]


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
        closed = subprocess.run(["sh", "-c", '"$0" --version >&-', BINARY], stderr=subprocess.PIPE)
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
                             "CONVOY_CACHE_BYTES": ["x", "-1", "1M", "99999999999999999999"]}.items():
            for value in values:
                for args in (["explain", WHOLE], ["devices"], ["cache", "warm"]):
                    self.refuse(1, *args, env={name: value}, words=[name, value])

    def test_devices_that_are_not_here(self):
        for device in ("cuda", "cuda:0", "hip:1"):
            self.assertEqual(self.refuse(3, "explain", WHOLE, "--device", device), "kUnavailable")
        self.assertEqual(self.refuse(1, "explain", WHOLE, "--device", "tpu"), "kInvalid")

    def test_kernels_and_dtypes(self):
        self.refuse(1, "explain", WHOLE, "--kernel", "nobody", words=["nobody"])
        self.assertEqual(self.refuse(1, "explain", WHOLE, "--kernel", "cpu_reference_dgrad"),
                         "kUnsupported")
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
        self.succeed(*args, "--kernel", "cpu_reference_fprop", "--deterministic", "--device", "cpu")

    def test_interrupts_leave_nothing(self):
        x = self.array("x.npy", [1, 64, 400, 400], [0] * (64 * 400 * 400))
        w = self.array("w.npy", [64, 64, 9, 9], [0] * (64 * 64 * 81))
        for sent in (signal.SIGINT, signal.SIGTERM):
            with subprocess.Popen([BINARY, "run", HEAD, "--kernel", "cpu_reference_fprop", "--x", x,
                                   "--w", w, "--out", "y.npy"], cwd=self.work, env=self.env,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
                time.sleep(1.0)
                running.send_signal(sent)
                self.assertEqual(running.wait(timeout=20), 130)
                self.assertEqual((running.stdout.read(), running.stderr.read()), (b"", b""))
            self.assertEqual(sorted(os.listdir(self.work)), ["w.npy", "x.npy"])


class Explain(CliCase):
    def test_document(self):
        told = self.document("explain", WHOLE + " pad1 nhwc")
        self.assertEqual(list(told), ["problem", "candidates", "flops", "executed_flops", "bytes",
                                      "limit_us", "limit_by"])
        self.assertEqual(told["problem"], WHOLE + " pad1 nhwc")
        self.assertEqual(told["flops"], 2 * 4 * 25 * 9)
        self.assertEqual(told["bytes"], 4 * (100 + 36 + 100))
        self.assertIn(told["limit_by"], ("copy", "compute"))
        self.assertGreater(told["limit_us"], 0)
        verdicts = [row["verdict"] for row in told["candidates"]]
        self.assertEqual(verdicts.count("chosen"), 1)
        for row in told["candidates"]:
            self.assertEqual(list(row), ["kernel", "verdict", "reason", "config", "estimate_us"])
            self.assertEqual(row["estimate_us"] is None, row["verdict"] == "declined")
            self.assertTrue(row["reason"])

    def test_the_choice_is_that_of_run(self):
        x, w = self.array("x.npy", [1, 4, 5, 5]), self.array("w.npy", [4, 1, 3, 3])
        ran = self.document("run", HEAD, "--x", x, "--w", w, "--out", "y.npy")
        rows = self.document("explain", ran["problem"])["candidates"]
        self.assertEqual([r["kernel"] for r in rows if r["verdict"] == "chosen"], [ran["kernel"]])

    def test_human_output(self):
        out = self.succeed("explain", "  conv2d fprop f32 n1 c4 k4 g4 h5 w5 r3 s3 same ")
        self.assertTrue(out.startswith(WHOLE + " pad1\n"))
        for word in ("chosen", "declined", "flops", "bytes", "limit"):
            self.assertIn(word, out)


class Cache(CliCase):
    def entry(self):
        (name,) = os.listdir(self.path("cache"))
        return os.path.join(self.path("cache"), name)

    def test_devices(self):
        def cpu(*flags):
            (row,) = self.document("devices", *flags)["devices"]
            self.assertEqual(list(row), ["id", "name", "arch", "isa", "memory_bytes", "ceilings"])
            self.assertEqual(row["id"], "cpu")
            self.assertGreater(row["memory_bytes"], 0)
            return row["ceilings"]

        self.assertIsNone(cpu())
        self.assertIn("unmeasured", self.succeed("devices"))
        measured = cpu("--calibrate")
        self.assertEqual(list(measured), ["copy", "copy_streaming_gbs", "fma_gflops",
                                          "matrix_gflops", "fork_join_us"])
        self.assertEqual(cpu(), measured)
        self.assertNotIn("unmeasured", self.succeed("devices"))

    def test_list_clear_warm(self):
        empty = {"entries": [], "bytes": 0, "limit_bytes": 256 << 20}
        self.assertEqual(self.document("cache", "list"), empty)
        warm = self.document("cache", "warm")
        self.assertEqual(self.document("cache", "list"), warm)
        (row,) = warm["entries"]
        self.assertEqual(list(row), ["key", "arch", "bytes"])
        self.assertEqual(row["bytes"], os.path.getsize(self.entry()))
        self.assertEqual(warm["bytes"], row["bytes"])
        self.assertIn(row["key"], self.succeed("cache", "list"))
        foreign = os.path.join(self.path("cache"), "notes.txt")
        open(foreign, "w").close()
        self.assertEqual(self.document("cache", "clear"), empty)
        self.assertEqual(os.listdir(self.path("cache")), ["notes.txt"])

    def test_folder_is_private(self):
        self.succeed("explain", WHOLE)
        self.assertEqual(os.stat(self.path("cache")).st_mode & 0o777, 0o700)

    def test_places(self):
        for env, place in (({"CONVOY_CACHE_DIR": "", "XDG_CACHE_HOME": self.path("xdg")}, "xdg/convoy"),
                           ({"CONVOY_CACHE_DIR": "", "XDG_CACHE_HOME": "relative"},
                            "home/.cache/convoy")):
            self.succeed("explain", WHOLE, env=env)
            self.assertEqual(len(os.listdir(self.path(place))), 1)
        self.succeed("explain", WHOLE, env={"CONVOY_CACHE_DIR": "", "HOME": ""})

    def test_threads_and_tier_are_part_of_the_key(self):
        for env in ({"CONVOY_NUM_THREADS": "1"}, {"CONVOY_NUM_THREADS": "3"},
                    {"CONVOY_CPU_ISA": "baseline", "CONVOY_NUM_THREADS": "1"}):
            self.succeed("explain", WHOLE, env=env)
        self.assertEqual(len(self.document("cache", "list")["entries"]), 3)

    def test_broken_entries_are_rewritten(self):
        self.succeed("cache", "warm")
        with open(self.entry()) as file:
            good = json.load(file)
        bad = [b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 60000, b"x" * 100000,
               json.dumps({**good, "schema": 0}).encode(), json.dumps({**good, "key": 1}).encode(),
               json.dumps({**good, "key": "another CPU"}).encode()]
        for change in ({"copy": []}, {"copy": [1]}, {"copy": [{"bytes": 1}]}, {"fma_gflops": 0},
                       {"fma_gflops": "fast"}, {"fork_join_us": -1}, {"matrix_gflops": None},
                       {"copy": [{"bytes": 2, "gbs": 1}, {"bytes": 1, "gbs": 1}]},
                       {"copy": [{"bytes": 1e300, "gbs": 1}]}):
            bad.append(json.dumps({**good, "ceilings": {**good["ceilings"], **change}}).encode())
        for content in bad:
            with open(self.entry(), "wb") as file:
                file.write(content)
            self.assertIsNone(self.document("devices")["devices"][0]["ceilings"], content[:80])
            self.succeed("explain", WHOLE)
            with open(self.entry()) as file:
                self.assertEqual(json.load(file)["schema"], good["schema"])

    def test_links_are_not_followed(self):
        self.succeed("cache", "warm")
        entry = self.entry()
        os.rename(entry, self.path("elsewhere"))
        os.symlink(self.path("elsewhere"), entry)
        self.assertIsNone(self.document("devices")["devices"][0]["ceilings"])

    @unittest.skipUnless(os.geteuid() == 0, "only root can give a file away")
    def test_files_of_another_owner_are_ignored(self):
        self.succeed("cache", "warm")
        os.chown(self.entry(), 12345, 12345)
        self.assertIsNone(self.document("devices")["devices"][0]["ceilings"])
        self.assertEqual(self.document("cache", "list")["entries"], [])

    def test_an_unwritable_folder_is_tolerated(self):
        open(self.path("file"), "w").close()
        for place in (self.path("file"), self.path("file/below"), "/proc/none"):
            env = {"CONVOY_CACHE_DIR": place}
            self.succeed("explain", WHOLE, env=env)
            self.succeed("devices", "--calibrate", env=env)
            self.assertEqual(self.document("cache", "list", env=env)["entries"], [])
            self.refuse(1, "cache", "warm", env=env)

    def test_limit(self):
        size = self.document("cache", "warm", env={"CONVOY_NUM_THREADS": "1"})["bytes"]
        bound = {"CONVOY_CACHE_BYTES": str(2 * size + size // 2)}
        for threads in ("2", "3"):
            time.sleep(0.02)
            self.succeed("cache", "warm", env={"CONVOY_NUM_THREADS": threads, **bound})
        told = self.document("cache", "list", env=bound)
        self.assertEqual(told["limit_bytes"], int(bound["CONVOY_CACHE_BYTES"]))
        self.assertLessEqual(told["bytes"], told["limit_bytes"])
        self.assertEqual([row["key"][-9:] for row in told["entries"]], ["2 threads", "3 threads"])
        self.refuse(1, "cache", "warm", env={"CONVOY_CACHE_BYTES": "0"})


if __name__ == "__main__":
    BINARY = os.path.abspath(sys.argv.pop(1))
    unittest.main()
