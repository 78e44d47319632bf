"""What the tests of the binary share: a folder of their own, and how a call must end."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

import npy

HEAD = "conv2d fprop f32"
WHOLE = "conv2d fprop f32 n1 c4 k4 g4 h5 w5 r3 s3"


class CliCase(unittest.TestCase):
    binary = ""

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
        return subprocess.run([CliCase.binary, *args], **{**options, **more})

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

    def kernels(self, text, taken):
        """Names of the kernels that take the problem, slowest last, or that decline it."""
        rows = [row for row in self.document("explain", text)["candidates"]
                if (row["verdict"] != "declined") == taken]
        return [row["kernel"] for row in sorted(rows, key=lambda row: row["estimate_us"] or 0)]

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


def main():
    """Takes the path of the binary as the first argument."""
    CliCase.binary = os.path.abspath(sys.argv.pop(1))
    unittest.main()
