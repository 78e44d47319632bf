"""`convoy bench` and `bench-compare` from the outside: documents, records, refusals, Ctrl-C."""

import json
import os
import signal
import subprocess
import time

import cli_case
from cli_case import WHOLE, CliCase

ROW = ["problem", "workload", "layout", "cache", "impl", "version", "kernel", "config", "samples",
       "median_us", "p10_us", "p90_us", "stream_us", "flops", "executed_flops", "bytes", "tflops",
       "gbs", "limit_us", "limit_by", "pct_limit", "launch_bound", "peer_degenerate", "check",
       "algorithms"]


class Bench(CliCase):
    def test_record_and_compare(self):
        told = self.document("bench", WHOLE, "--record", "a.json", "--allow-noisy")
        with open(os.path.join(self.work, "a.json")) as file:
            record = json.load(file)
        self.assertEqual(record, told)
        self.assertEqual(record["schema"], 1)
        for row in record["rows"]:
            self.assertEqual([key for key in row if key in ROW], ROW)
            self.assertEqual(row["check"], "ok")
        self.assertEqual({row["cache"] for row in record["rows"]}, {"cold", "warm"})

        compared = self.document("bench-compare", "a.json", "a.json")
        self.assertEqual({row["verdict"] for row in compared["rows"]}, {"same"})

        def changed(name, change):
            other = json.loads(json.dumps(record))
            change(other)
            with open(os.path.join(self.work, name), "w") as file:
                json.dump(other, file)
            return name

        slow = changed("slow.json", lambda r: r["rows"][0].update(median_us=1e6))
        rows = self.document("bench-compare", "a.json", slow)["rows"]
        self.assertEqual(rows[0]["verdict"], "slower")
        other = changed("other.json", lambda r: r.update(machine="an abacus"))
        self.refuse(1, "bench-compare", "a.json", other, words=["an abacus", "other.json"])
        for name, change, word in (
                ("b1.json", lambda r: r.update(rows=5), "rows"),
                ("b2.json", lambda r: r["rows"][0].update(median_us="x"), "median_us"),
                ("b3.json", lambda r: r["rows"][0].update(p90_us=-1), "p90_us"),
                ("b4.json", lambda r: r["rows"][1].pop("impl"), "row 2"),
                ("b5.json", lambda r: r.pop("machine"), "machine")):
            self.refuse(1, "bench-compare", "a.json", changed(name, change), words=[name, word])
        self.refuse(1, "bench-compare", "a.json", "absent.json", words=["absent.json"])

    def test_tune(self):
        rows = self.document("bench", WHOLE, "--tune")["rows"]
        self.assertEqual({row["impl"] for row in rows}, {"convoy+tune"})

    def test_refusals(self):
        for args in ([], [WHOLE, "--suite", "smoke"], ["--all", "--suite", "smoke"]):
            self.refuse(2, "bench", *args)
        self.refuse(1, "bench", "--suite", "bogus", words=["bogus", "smoke"])
        self.refuse(1, "bench", WHOLE, "--kernel", "bogus", words=["bogus"])
        self.refuse(1, "bench", WHOLE, "conv2d fprop f32", words=["missing"])
        # The problem may stand behind the peers.
        self.refuse(3, "bench", "--peer", "cudnn,torch", WHOLE, words=["cudnn"])
        self.refuse(1, "bench", "--peer", "abacus", WHOLE, words=["abacus"])
        self.refuse(3, "bench", WHOLE, "--device", "cuda", words=["cuda"])

    def test_a_record_that_cannot_be_written_is_refused_alone(self):
        for place in ("no/such/r.json", ".", "/dev/full"):
            self.refuse(1, "bench", WHOLE, "--allow-noisy", "--record", place, words=[place])
        self.assertEqual(os.listdir(self.work), [])

    def test_interrupts_leave_nothing(self):
        with subprocess.Popen([CliCase.binary, "bench", "--all", "--allow-noisy", "--record", "r.json"],
                              cwd=self.work, env=self.env, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as running:
            time.sleep(3.0)
            running.send_signal(signal.SIGINT)
            self.assertEqual(running.wait(timeout=20), 130)
            self.assertEqual((running.stdout.read(), running.stderr.read()), (b"", b""))
        self.assertEqual(os.listdir(self.work), [])


if __name__ == "__main__":
    cli_case.main()
