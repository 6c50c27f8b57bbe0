#!/usr/bin/env python3
"""Build an Excel workbook from rows in JSON.

Usage: python build.py rows.json output.xlsx
"""

import json
import sys
import zipfile
from pathlib import Path

from sheet import parts


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: build.py rows.json output.xlsx")
    source, target = sys.argv[1:]
    data = json.loads(Path(source).read_text(encoding="utf-8"))
    columns, rows = data["columns"], data["rows"]
    lines = [(columns, True)] + [(row, False) for row in rows]
    if data.get("total"):
        last = len(rows) + 1
        sums = [
            f"=SUM({parts.letter(i)}2:{parts.letter(i)}{last})" if name in data["total"] else ""
            for i, name in enumerate(columns)
        ]
        lines.append((sums, True))
    styles = Path(__file__).resolve().parent.parent / "assets" / "styles.xml"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.others(data["title"]).items():
            archive.writestr(name, text)
        archive.writestr("xl/worksheets/sheet1.xml", parts.sheet(lines))
        archive.write(styles, "xl/styles.xml")
    print(f"Wrote {target}: {len(rows)} rows, {len(columns)} columns")


if __name__ == "__main__":
    main()
