"""`convoy explain`, `devices` and `cache`: documents, the calibration cache and its enemies."""

import json
import os
import time
import unittest

import cli_case
from cli_case import HEAD, WHOLE, CliCase


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
            row = self.document("devices", *flags)["devices"][0]
            self.assertEqual(list(row), ["id", "name", "arch", "isa", "memory_bytes", "ceilings"])
            self.assertEqual(row["id"], "cpu")
            self.assertGreater(row["memory_bytes"], 0)
            return row["ceilings"]

        self.assertIsNone(cpu())
        self.assertIn("unmeasured", self.succeed("devices"))
        measured = cpu("--calibrate")
        self.assertEqual(list(measured), ["copy", "copy_streaming_gbs", "fma_gflops",
                                          "matrix_gflops", "matrix_f16_gflops", "matrix_tf32_gflops",
                                          "fork_join_us"])
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
                       {"matrix_tf32_gflops": -1}, {"matrix_f16_gflops": "x"},
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
        done = self.convoy("cache", "warm", env={"CONVOY_CACHE_BYTES": "0"})
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        # The size of an entry follows the digits that were measured.
        self.assertRegex(done.stderr, r"\Aconvoy: cache: [^\n]+ CONVOY_CACHE_BYTES=0; raise it\n\Z")


if __name__ == "__main__":
    cli_case.main()
