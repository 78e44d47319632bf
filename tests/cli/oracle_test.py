"""`convoy run` against plain loops on random small problems: every pass, rank, dtype and layout."""

import random

import cli_case
import oracle
from cli_case import CliCase

PASSES = ("fprop", "dgrad", "wgrad")
DTYPES = ("f32", "tf32", "f16", "bf16")
ROUNDS = 6  # of every pass and dtype


def random_problem(dice, rank):
    pick = dice.randint
    filter = [pick(1, 3) for _ in range(rank)]
    dil = [pick(1, 2) for _ in range(rank)]
    pad = [(pick(0, 2), pick(0, 2)) for _ in range(rank)]
    size = [max(pick(1, 7 - rank), d * (r - 1) + 1 - sum(p)) for d, r, p in zip(dil, filter, pad)]
    return oracle.Problem(N=pick(0, 2), cpg=pick(1, 3), kpg=pick(1, 3), G=pick(1, 3), size=size,
                          filter=filter, stride=[pick(1, 3) for _ in range(rank)], pad=pad, dil=dil)


def joined(values):
    return "x".join(map(str, values))


def head(p, which, dtype, layout):
    """The text without what the arrays say."""
    rank = len(p.size)
    words = ["conv%dd" % rank, which, dtype, "stride" + joined(p.stride), "dil" + joined(p.dil),
             "pad" + "x".join("%d:%d" % side for side in p.pad), layout]
    if which == "dgrad":
        words += ["g%d" % p.G] + [a + str(L) for a, L in zip("dhw"[3 - rank:], p.size)]
    if which == "wgrad":
        words += ["g%d" % p.G] + [a + str(L) for a, L in zip("trs"[3 - rank:], p.filter)]
    return " ".join(words)


class Oracle(CliCase):
    def operand(self, dice, name, shape, most=4):
        values = [dice.randint(-most, most) for _ in range(oracle.count(shape))]
        order = {"descr": dice.choice(["<f2", ">f4", "<f8", ">f8"]), "fortran": dice.random() < 0.5}
        return self.array(name, shape, values, **order), values

    def compare(self, name, shape, exact, dtype):
        descr, told, values = self.load(name)
        self.assertEqual((descr, list(told)), ("<f2" if dtype == "f16" else "<f4", shape))
        self.assertEqual(values, [oracle.rounded(v, dtype) for v in exact])

    def run_pass(self, dice, p, which, dtype):
        args = ["run", head(p, which, dtype, dice.choice(["nchw", "nhwc"])), "--check", "--quiet"]
        if which == "fprop":
            (x, xs), (w, ws) = self.operand(dice, "x", p.x_shape), self.operand(dice, "w", p.w_shape)
            args += ["--x", x, "--w", w]
            bias, values = self.operand(dice, "bias", [p.K]) if dice.random() < 0.5 else (None, None)
            self.succeed(*args, *(["--bias", bias] if bias else []), "--out", "y")
            self.compare("y", p.y_shape, oracle.fprop(p, xs, ws, values), dtype)
            return
        dy, dys = self.operand(dice, "dy", p.y_shape)
        if which == "dgrad":
            w, ws = self.operand(dice, "w", p.w_shape)
            self.succeed(*args, "--dy", dy, "--w", w, "--out", "dx")
            self.compare("dx", p.x_shape, oracle.dgrad(p, dys, ws), dtype)
            return
        x, xs = self.operand(dice, "x", p.x_shape)
        self.succeed(*args, "--x", x, "--dy", dy, "--out", "dw", "--out-db", "db")
        self.compare("dw", p.w_shape, oracle.wgrad(p, xs, dys), dtype)
        self.compare("db", [p.K], oracle.bias_grad(p, dys), dtype)

    def test_random_problems(self):
        for which in PASSES:
            for dtype in DTYPES:
                for seed in range(ROUNDS):
                    with self.subTest(which=which, dtype=dtype, seed=seed):
                        dice = random.Random("%s %s %d" % (which, dtype, seed))
                        self.run_pass(dice, random_problem(dice, 1 + seed % 3), which, dtype)

    def test_every_kernel(self):
        p = oracle.Problem(N=2, cpg=1, kpg=1, G=8, size=[7, 9], filter=[3, 3], stride=[1, 1],
                           pad=[(1, 1), (1, 1)], dil=[1, 1])
        dice = random.Random(7)
        (x, xs), (w, ws) = self.operand(dice, "x", p.x_shape), self.operand(dice, "w", p.w_shape)
        tried = set()
        for layout in ("nchw", "nhwc"):
            text = head(p, "fprop", "f32", layout)
            whole = text + " n2 c8 k8 g8 h7 w9 r3 s3"
            for kernel in self.kernels(whole, True):
                self.succeed("run", text, "--x", x, "--w", w, "--out", "y", "--kernel", kernel,
                             "--quiet")
                self.compare("y", p.y_shape, oracle.fprop(p, xs, ws), "f32")
                tried.add(kernel)
        self.assertGreaterEqual(len(tried), 4)


if __name__ == "__main__":
    cli_case.main()
