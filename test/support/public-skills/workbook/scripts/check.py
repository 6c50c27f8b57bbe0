#!/usr/bin/env python3
"""Check a workbook: every part is XML, every formula points at cells that exist.

Usage: python check.py file.xlsx
"""

import re
import sys
import zipfile
from xml.etree import ElementTree

SPACE = {"m": "http://schemas.openxmlformats.org/spreadsheetml/2006/main"}


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: check.py file.xlsx")
    broken = 0
    with zipfile.ZipFile(sys.argv[1]) as archive:
        for name in archive.namelist():
            root = ElementTree.fromstring(archive.read(name))
            if not name.startswith("xl/worksheets/"):
                continue
            cells = {cell.get("r"): cell for cell in root.iterfind(".//m:c", SPACE)}
            formulas = [cell.findtext("m:f", namespaces=SPACE) for cell in cells.values()]
            formulas = [formula for formula in formulas if formula]
            for formula in formulas:
                for reference in re.findall(r"[A-Z]+[0-9]+", formula):
                    if reference not in cells:
                        broken += 1
                        print(f"{name}: {formula} points at {reference}, which is empty")
            print(f"{name}: {len(cells)} cells, {len(formulas)} formulas")
    print("FAILED" if broken else "OK")
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
