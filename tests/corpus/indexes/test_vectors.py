"""Files of rows that are made from the posts."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from linker.corpus.indexes.vectors import RowFile


def test_rows_are_made_once_however_many_ask(tmp_path):
    wanted = np.arange(3_000, dtype=np.float32).reshape(1_000, 3)
    made = []

    def make(have: int):
        for start in range(have, 1_000, 70):
            made.append(start)
            yield wanted[start : start + 70]

    for torn in (0, 5, 12 * 100, 12 * 100 + 7):
        path = tmp_path / f"rows{torn}"
        path.write_bytes(wanted.tobytes()[:torn])
        made.clear()
        with ThreadPoolExecutor(8) as pool:
            tasks = [pool.submit(RowFile(path, np.float32, 3).complete, 1_000, make) for _ in range(16)]
            for task in tasks:
                np.testing.assert_array_equal(task.result(), wanted)
        assert path.read_bytes() == wanted.tobytes()
        assert made == list(range(torn // 12, 1_000, 70))


def test_a_writer_adds_what_a_reader_has_not(tmp_path):
    wanted = np.arange(30, dtype=np.float32).reshape(10, 3)
    file = RowFile(tmp_path / "rows", np.float32, 3)
    file.append(wanted[:4], 0)
    file.append(wanted[6:], 6)  # rows are missing in between
    assert file.rows() == 4
    file.append(wanted[2:8], 2)
    np.testing.assert_array_equal(file.existing(10), wanted[:8])
    file.cut(3)
    np.testing.assert_array_equal(file.existing(10), wanted[:3])
