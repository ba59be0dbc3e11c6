"""Print the rows of results/ranking.md, made by the command there: peak memory of `linker rank`."""

import gzip
import os
import subprocess
import sys
from itertools import islice
from tempfile import NamedTemporaryFile

for run in sys.argv[2:]:
    model, peaks = run.split(":")[0], []
    for count in (100, int(run.split(":")[1])):
        with NamedTemporaryFile(suffix=".jsonl") as posts, gzip.open(sys.argv[1]) as file:
            posts.writelines(islice(file, count))  # a large parent would count as memory of its child
            posts.flush()
            command = f"-m linker rank --posts {posts.name} --model {model} --out {posts.name}.csv --article"
            process = subprocess.Popen([sys.executable, *command.split(), "Obama signs the budget"])
            usage = os.wait4(process.pid, 0)[2]
        os.unlink(f"{posts.name}.csv")  # fails where the command has
        peaks.append(usage.ru_maxrss / 1024)
    more = f"{peaks[1] - peaks[0]:.0f} | {usage.ru_utime:.0f} s"
    print(f"| {model} | {count:,} | {peaks[0]:.0f} | {peaks[1]:.0f} | {more} |", flush=True)
