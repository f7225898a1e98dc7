"""Print megabytes and seconds after a tenth of the texts, and after all of them."""

import sys
import time
from pathlib import Path

from all_minilm_l6_v2 import Embedder
from all_minilm_l6_v2.bulk import each

model, count = sys.argv[1], int(sys.argv[2])
begin = time.perf_counter()
with Embedder(model) as embedder:
    texts = (f"text number {place}" for place in range(count))
    for done, _ in enumerate(each(embedder.embed, texts), 1):
        if done in (count // 10, count):
            status = Path("/proc/self/status").read_text()
            megabytes = int(status.split("VmRSS:")[1].split()[0]) // 1000
            print(megabytes, time.perf_counter() - begin, flush=True)
