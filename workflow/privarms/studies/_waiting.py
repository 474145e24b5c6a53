"""The process that waits beside one that runs what an extension brings, and speaks where that one cannot.

Compiled code gives no turn to any other code of its process, and may end it. On standard input: a line of JSON,
{seconds, slow, died}, at the begin of each piece of work, and an empty line at its end. On standard error: `slow` where
a piece takes longer than `seconds`, `died` where the input ends in the middle of one.
"""

import json
import os
import select


def wait() -> None:
    """Until the input ends."""
    at_work, rest = None, b""
    while True:
        limit = at_work["seconds"] if at_work else None
        if not select.select([0], [], [], limit)[0]:
            os.write(2, at_work["slow"].encode())
            at_work["seconds"] = None
            continue
        read = os.read(0, 65_536)
        *lines, rest = (rest + read).split(b"\n")
        for line in lines:
            at_work = json.loads(line) if line else None
        if not read:
            if at_work:
                os.write(2, at_work["died"].encode())
            return


if __name__ == "__main__":
    wait()
