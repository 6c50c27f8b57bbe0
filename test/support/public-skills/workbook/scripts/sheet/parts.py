"""The XML parts of a workbook with one sheet."""

from xml.sax.saxutils import escape, quoteattr

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
OFFICE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'


def letter(index):
    name = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        name = chr(65 + rest) + name
    return name


def cell(reference, value, bold=False):
    style = ' s="1"' if bold else ""
    if isinstance(value, str) and value.startswith("="):
        return f'<c r="{reference}"{style}><f>{escape(value[1:])}</f></c>'
    if isinstance(value, (int, float)):
        return f'<c r="{reference}"{style}><v>{value}</v></c>'
    return f'<c r="{reference}"{style} t="inlineStr"><is><t>{escape(str(value))}</t></is></c>'


def sheet(lines):
    rows = []
    for number, (values, bold) in enumerate(lines, start=1):
        cells = "".join(cell(f"{letter(i)}{number}", value, bold) for i, value in enumerate(values) if value != "")
        rows.append(f'<row r="{number}">{cells}</row>')
    return f'{HEAD}<worksheet xmlns="{MAIN}"><sheetData>{"".join(rows)}</sheetData></worksheet>'


def others(title):
    """Everything beside the sheet and its styles, by path in the archive."""
    kinds = "".join(
        f'<Override PartName="/xl/{name}.xml" ContentType="{OFFICE}.{kind}+xml"/>'
        for name, kind in [("workbook", "sheet.main"), ("worksheets/sheet1", "worksheet"), ("styles", "styles")]
    )
    return {
        "[Content_Types].xml": f'{HEAD}<Types xmlns="{PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f"{kinds}</Types>",
        "_rels/.rels": f'{HEAD}<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="rId1" '
        f'Type="{RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'{HEAD}<workbook xmlns="{MAIN}" xmlns:r="{RELATIONS}"><sheets><sheet '
        f'name={quoteattr(title[:31])} sheetId="1" r:id="rId1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'{HEAD}<Relationships xmlns="{PACKAGE}/relationships">'
        f'<Relationship Id="rId1" Type="{RELATIONS}/worksheet" Target="worksheets/sheet1.xml"/>'
        f'<Relationship Id="rId2" Type="{RELATIONS}/styles" Target="styles.xml"/></Relationships>',
    }
