import { open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileType } from '../../../src/lib/files/file-type.ts';
import { officeText } from '../../../src/lib/files/office-text.ts';
import { fileText } from '../../../src/lib/files/read-text.ts';
import { listTar } from '../../../src/lib/files/tar.ts';
import { parseJson } from '../../../src/lib/json/json-values.ts';
import { openYaml } from '../../../src/skills/parse/parse-yaml.ts';
import { zipOf } from '../sent-files.ts';

const mega = 1_000_000;

/** A part of an Office file that holds the text, beside parts that lead to it. */
function office(
  kind: string,
  part: string,
  around: readonly [before: string, after: string] = ['', ''],
  others: Readonly<Record<string, string>> = {},
) {
  return {
    name: `${kind} ${part}`,
    most: mega,
    run: (text: string) =>
      officeText(zipOf({ ...others, [part]: `${around[0]}${text}${around[1]}` }), 50_000),
  };
}

const book = {
  'xl/workbook.xml': '<sheet name="a" r:id="r"/>',
  'xl/_rels/workbook.xml.rels': '<Relationship Id="r" Target="s.xml"/>',
  'xl/s.xml': '<row><c s="0"><v>1</v></c><c t="s"><v>0</v></c></row>'.repeat(100),
};
const deck = { 'ppt/presentation.xml': '', 'ppt/slides/slide1.xml': '<a:p><a:t>a</a:t></a:p>' };
const toNotes =
  '<Relationship Id="r" Type="x/notesSlide" Target="../n.xml"/><Relationship Id="s" Type="x/comments" Target="../c.xml"/>';
const letter = { 'word/document.xml': '' };

/** What people and servers send as files, one case for each format (S15). */
export const documents = [
  office('docx', 'word/document.xml'),
  office('docx', 'word/document.xml', ['<w:p><w:t>', '</w:t></w:p>']),
  office('docx', 'word/document.xml', ['<w:p ', '/>']),
  office('docx', 'word/document.xml', ['<', '']),
  office('docx', 'word/footnotes.xml', ['<footnote ', '>a</footnote>'], letter),
  office('docx', 'word/header1.xml', ['<w:p><w:t>', '</w:t></w:p>'], letter),
  office('xlsx', 'xl/workbook.xml', ['', ''], book),
  office('xlsx', 'xl/workbook.xml', ['<sheet r:id="r" name="', '"/>'], book),
  office('xlsx', 'xl/_rels/workbook.xml.rels', ['<Relationship ', '/>'], book),
  office('xlsx', 'xl/s.xml', ['<row><c><v>', '</v></c></row>'], book),
  office('xlsx', 'xl/s.xml', ['<row><c ', '><v>1</v></c></row>'], book),
  office('xlsx', 'xl/sharedStrings.xml', ['<si><t>', '</t></si>'], book),
  office('xlsx', 'xl/styles.xml', ['<cellXfs><xf/><xf ', '/></cellXfs>'], book),
  {
    name: 'xlsx format of a cell',
    most: 255,
    run: (text: string) => {
      const code = text.replaceAll('"', '&quot;').replaceAll('<', '&lt;');
      const styles = `<numFmt numFmtId="164" formatCode="${code}"/><cellXfs><xf numFmtId="164"/></cellXfs>`;
      return officeText(zipOf({ ...book, 'xl/styles.xml': styles }), 50_000);
    },
  },
  office('pptx', 'ppt/presentation.xml', ['', ''], deck),
  office('pptx', 'ppt/slides/slide1.xml', ['<p:sld ', '/>'], deck),
  office('pptx', 'ppt/n.xml', ['<a:t>', '</a:t>'], { ...deck, 'ppt/slides/_rels/slide1.xml.rels': toNotes }),
  office('pptx', 'ppt/c.xml', ['<cm><text>', '</text></cm>'], {
    ...deck,
    'ppt/slides/_rels/slide1.xml.rels': toNotes,
  }),
  {
    name: 'zip directory',
    most: mega,
    run: (text: string) => {
      const bytes = Buffer.concat([Buffer.from(text), zipOf({ 'word/document.xml': text })]);
      return Promise.all([officeText(bytes, 50_000), officeText(bytes.subarray(0, -22), 50_000)]);
    },
  },
  // Nothing of a PDF is read but its type: a model gets its bytes.
  { name: 'pdf', most: mega, run: (text: string) => fileType('a.pdf', Buffer.from(`%PDF-1.4\n${text}`)) },
  { name: 'tar', most: mega, run: tarOf },
  { name: 'csv', most: 50_000, run: (text: string) => fileText(Buffer.from(text), true) },
  {
    name: 'csv in Latin letters',
    most: 50_000,
    run: (text: string) => fileText(Buffer.from(text, 'latin1'), true),
  },
  { name: 'yaml', most: 8_000, run: (text: string) => openYaml(text, { uniqueKeys: false }) },
  { name: 'json', most: mega, run: (text: string) => [parseJson(text), parseJson(JSON.stringify({ text }))] },
];

async function tarOf(text: string): Promise<unknown> {
  const file = path.join(tmpdir(), `linear-${process.pid}.tar`);
  await writeFile(file, text);
  const handle = await open(file);
  try {
    return await listTar(handle).catch((error: unknown) => error);
  } finally {
    await handle.close();
    await rm(file);
  }
}
