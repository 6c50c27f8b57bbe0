# /// script
# requires-python = ">=3.9"
# dependencies = []
# ///
"""Count commit subjects by kind."""

import sys
from collections import Counter

kinds = Counter(subject.partition(":")[0].partition("(")[0].strip() or "other" for subject in sys.argv[1:])
for kind, count in sorted(kinds.items()):
    print(f"{kind}: {count}")
