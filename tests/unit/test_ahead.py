"""Generators that draw ahead: numpy's numbers to the bit, and its state at the end, whatever is drawn in what order."""

import itertools
import re

import numba
import numpy as np
import pytest
from llvmlite import binding
from numba import njit

from privarms import pcg64
from privarms.ahead import ahead, settle
from privarms.jit import cache as kept
from privarms.jit.cache import FOLDER_VARIABLE
from privarms.protocols import bandit

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")

BLOCK = pcg64.ROWS * pcg64.LANES
GENERATORS = (np.random.PCG64, np.random.PCG64DXSM, np.random.MT19937, np.random.Philox, np.random.SFC64)


def state(rng):
    """A generator's state, and the number that comes next."""
    return re.sub(r"\s", "", repr(rng.bit_generator.state)), rng.bit_generator.random_raw()


def both(draw):
    """Kernels that fill an array with draw(rng, i), from what draws ahead and from the Generator itself."""

    @njit
    def by_blocks(rng, found):
        drawing = ahead(rng)
        for i in range(len(found)):
            found[i] = draw(drawing, i)
        settle(drawing)

    @njit
    def one_by_one(rng, found):
        for i in range(len(found)):
            found[i] = draw(rng, i)

    return by_blocks, one_by_one


DRAWS = {
    "random": lambda rng, i: rng.random(),
    "standard_exponential": lambda rng, i: rng.standard_exponential(),
    "standard_normal": lambda rng, i: rng.standard_normal(),
    "standard_gamma": lambda rng, i: rng.standard_gamma((0.3, 1.0, 2.5, 40.0)[i % 4]),
    "laplace": lambda rng, i: rng.laplace(1.0, 2.0),
    "binomial": lambda rng, i: rng.binomial(10 * (i % 9), 0.3),
    "integers": lambda rng, i: rng.integers(0, 7 + i % 3),
    "permutation": lambda rng, i: rng.permutation(5)[0],
    "arrays": lambda rng, i: rng.standard_exponential(3)[2] + rng.standard_normal((2, 2))[1, 0] + rng.random(size=2)[1],
    # Small numbers take half of one; the other half waits.
    "a mixture": lambda rng, i: (
        rng.random() if i % 3 else rng.integers(0, 9) + np.float32(rng.random(dtype=np.float32))
    ),
}


@pytest.mark.parametrize("kind", DRAWS)
def test_the_numbers_and_the_state_are_the_generator_s(kind):
    by_blocks, one_by_one = both(njit(DRAWS[kind]))
    for n in (0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 5 * BLOCK + 7):
        ours, numpy_s = np.random.default_rng(n), np.random.default_rng(n)
        found, expected = np.zeros(n), np.zeros(n)
        # Twice, so that the second time begins where the first one ended.
        for _ in range(2):
            by_blocks(ours, found)
            one_by_one(numpy_s, expected)
            assert found.tobytes() == expected.tobytes(), n
        assert state(ours) == state(numpy_s), n


def test_the_numbers_are_numpy_s_own():
    by_blocks, _ = both(njit(lambda rng, i: rng.random()))
    found = np.zeros(10_000)
    by_blocks(np.random.default_rng(3), found)
    assert (found == np.random.default_rng(3).random(10_000)).all()


def test_nothing_is_drawn_of_the_generator_itself():
    @njit
    def unsettled(rng):
        return ahead(rng).random()

    rng = np.random.default_rng(3)
    before = rng.bit_generator.state
    assert unsettled(rng) == unsettled(rng) == np.random.default_rng(3).random()
    assert rng.bit_generator.state == before


def test_a_state_that_lies_otherwise_is_known_for_it(monkeypatch):
    assert pcg64.LIES_AS_EXPECTED

    class Other(np.random.PCG64):
        @property
        def state(self):
            return {"state": {"state": 1, "inc": 1}}

    assert not pcg64.is_known(np.random.Generator(Other()))
    with monkeypatch.context() as patched:
        patched.setattr(pcg64, "LIES_AS_EXPECTED", False)
        assert not pcg64.is_known(np.random.default_rng())
    monkeypatch.setattr(np.random, "PCG64", Other)
    assert not pcg64._lies_as_expected()


def test_the_upper_half_of_a_product_has_every_carry():
    # Sums that overflow once in billions of random numbers.
    edges = [0, 1, 2**32 - 1, 2**32, 2**32 + 1, 2**63, 2**64 - 2**32, 2**64 - 1]
    drawn = np.random.default_rng(6).integers(0, 2**64, 50, dtype=np.uint64, endpoint=False).tolist()
    # The products across add up to a little less than 2^64, and with what is carried from below to more, for some.
    across = [((2**63 - 1) // low << 32) + low for low in range(3_500_000_000, 3_500_000_030)]
    for a, b in [*itertools.product([*edges, *drawn], repeat=2), *zip(across, across, strict=True)]:
        assert int(pcg64._upper(np.uint64(a), np.uint64(b))) == a * b >> 64, (a, b)


def test_a_block_is_made_in_vectors():
    features = binding.get_host_cpu_features()
    if not features.get("avx512dq"):
        pytest.skip("the processor has no products of eight words")
    by_blocks, one_by_one = both(njit(lambda rng, i: rng.random()))
    for kernel, has_vectors in ((by_blocks, True), (one_by_one, False)):
        kernel(np.random.default_rng(1), np.zeros(1))
        assert ("vpmullq" in next(iter(kernel.inspect_asm().values()))) == has_vectors


def two(one, other):
    """Draws from two generators in turn."""
    found = np.zeros(500)
    for i in range(len(found)):
        found[i] = one.random() + 10 * other.standard_exponential()
    return found


def of_pair(pair, rng):
    """Draws from a generator that a tuple holds, and from another one."""
    return pair[0].random() + 10 * rng.random()


@pytest.fixture
def as_the_library_s(tmp_path, monkeypatch):
    """A way to have a function kept as if it were a module's of the library; and where it is kept."""
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    kept._kept.cache_clear()

    def given(function):
        kernel = njit(function)
        monkeypatch.setattr(bandit, function.__name__, kernel, raising=False)
        for name, value in (("__module__", bandit.__name__), ("__qualname__", function.__name__)):
            monkeypatch.setattr(kernel, name, value, raising=False)
        return kept.compiled(kernel)

    return given, tmp_path


@pytest.mark.parametrize("bit_generator", GENERATORS)
def test_kernels_draw_ahead_from_every_generator_of_pcg64_and_from_no_other(bit_generator, as_the_library_s):
    given, place = as_the_library_s
    kernel = given(two)
    for of_one_stream in (False, True):
        ours, numpy_s = (np.random.Generator(bit_generator(1)) for _ in range(2))
        other = np.random.Generator(ours.bit_generator if of_one_stream else np.random.PCG64(2))
        numpy_s_other = numpy_s if of_one_stream else np.random.default_rng(2)
        assert kernel(ours, other).tobytes() == two(numpy_s, numpy_s_other).tobytes()
        assert state(ours) == state(numpy_s)
        assert state(other) == state(numpy_s_other)
    ahead_of = sorted(path.read_text().count("ahead as") * "ahead" for path in place.glob("kernel_*/*.py"))
    is_pcg64 = bit_generator is np.random.PCG64
    assert pcg64.is_known(np.random.Generator(bit_generator())) == is_pcg64
    # Of two streams and of one, which another generator is alone.
    assert ahead_of == (["ahead", "ahead"] if is_pcg64 else ["", "ahead"])


def test_a_generator_that_a_tuple_holds_is_drawn_from_one_by_one(as_the_library_s):
    given, place = as_the_library_s
    ours, numpy_s = np.random.default_rng(1), np.random.default_rng(1)
    assert given(of_pair)((ours, 1.0), ours) == of_pair((numpy_s, 1.0), numpy_s)
    assert state(ours) == state(numpy_s)
    assert not list(place.iterdir())
