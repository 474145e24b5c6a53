"""Check that random streams depend only on names."""

import numpy as np
import pytest

from privarms.execution.streams import digest, stream

IDENTITY = digest({"paper": "p", "study": "s", "epsilon": 0.25})


def test_digest_ignores_the_order_of_keys_and_sees_every_value():
    assert digest({"a": 1, "b": [2, 3]}) == digest({"b": [2, 3], "a": 1})
    assert digest({"a": 1, "b": [2, 3]}) != digest({"a": 1, "b": [3, 2]})
    assert digest({"a": 1}) != digest({"a": "1"})
    # blake2b of {"a":1}, 16 bytes, as any other program computes it.
    assert digest({"a": 1}) == "2c6b113b8dd15ffbded9860b43eb0c6c"


def test_digest_refuses_what_is_not_a_plain_value():
    with pytest.raises(ValueError, match="JSON compliant"):
        digest({"epsilon": float("nan")})


def test_stream_is_numpy_s_documented_derivation():
    words = [int(IDENTITY[i : i + 8], 16) for i in range(0, 32, 8)]
    sequence = np.random.SeedSequence(entropy=[5, *words], spawn_key=(2,))
    expected = np.random.Generator(np.random.PCG64(sequence)).random(4)
    np.testing.assert_array_equal(stream(5, IDENTITY, 2).random(4), expected)
