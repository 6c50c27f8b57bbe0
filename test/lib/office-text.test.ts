import assert from 'node:assert/strict';
import { test } from 'node:test';
import { officeText } from '../../src/lib/files/office-text.ts';
import { mostEntries } from '../../src/lib/files/zip.ts';
import { zipOf } from '../support/sent-files.ts';

const most = 50_000;
const paragraph = (words: string): string => `<w:p><w:r><w:t xml:space="preserve">${words}</w:t></w:r></w:p>`;

function docx(body: string, parts: Readonly<Record<string, string>> = {}): Buffer {
  return zipOf({
    '[Content_Types].xml': '<Types/>',
    'word/document.xml': `<w:document>${body}</w:document>`,
    ...parts,
  });
}

async function textOf(bytes: Buffer): Promise<string> {
  const read = await officeText(bytes, most);
  return typeof read === 'string' ? `(${read})` : read.text;
}

test('M12 of a Word document paragraphs are lines and cells stand between tabs; what was deleted or moved away is not in it', async () => {
  const cell = (words: string): string => `<w:tc><w:tcPr/>${paragraph(words)}</w:tc>`;
  const body = [
    paragraph('Dear R&amp;D, 1 &lt; 2 &#x1F600;'),
    '<w:p><w:pPr><w:tabs><w:tab w:val="left"/></w:tabs></w:pPr><w:r><w:delText>never</w:delText><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t></w:r></w:p>',
    `<w:p><w:moveFrom w:id="1"><w:r><w:t>gone</w:t></w:r></w:moveFrom><!-- <w:t>remark</w:t> --></w:p>`,
    `<w:tbl><w:tr>${cell('Name')}${cell('Price')}</w:tr></w:tbl>`,
    '<w:p><mc:Choice><w:t>box</w:t></mc:Choice><mc:Fallback><w:t>box</w:t></mc:Fallback><w:t><![CDATA[<b>]]></w:t></w:p>',
  ];
  assert.deepEqual(await officeText(docx(body.join('')), most), {
    text: 'Dear R&D, 1 < 2 😀\na\tb\nc\n\nName\tPrice\nbox<b>',
    whole: true,
    without: [],
  });
});

test('M12 footnotes, endnotes, comments, headers and footers of a Word document follow its text', async () => {
  const body = `<w:p><w:t>Paid</w:t><w:footnoteReference w:id="2"/><w:t> late</w:t><w:commentReference w:id="0"/></w:p>`;
  const document = docx(body, {
    'word/header1.xml': `<w:hdr>${paragraph('Draft')}</w:hdr>`,
    'word/header2.xml': `<w:hdr>${paragraph('Draft')}</w:hdr>`,
    'word/footer1.xml': `<w:ftr>${paragraph('Page')}</w:ftr>`,
    'word/footnotes.xml': `<w:footnotes><w:footnote w:type="separator" w:id="-1"><w:p/></w:footnote><w:footnote w:id="2">${paragraph('In cash.')}</w:footnote></w:footnotes>`,
    'word/endnotes.xml': `<w:endnotes><w:endnote w:id="3">${paragraph('See')}${paragraph('annex.')}</w:endnote></w:endnotes>`,
    'word/comments.xml': `<w:comments><w:comment w:id="0" w:author="Ann &amp; Bob">${paragraph('Why?')}</w:comment></w:comments>`,
    'word/media/image1.png': 'x',
    'word/media/image2.jpeg': 'x',
    'word/charts/chart1.xml': '<c/>',
  });
  assert.deepEqual(await officeText(document, most), {
    text: 'Paid[footnote 2] late[comment 0]\nHeader: Draft\nFooter: Page\n\nFootnotes:\n[footnote 2] In cash.\n\nEndnotes:\n[endnote 3] See annex.\n\nComments:\n[comment 0] Ann & Bob: Why?',
    whole: true,
    without: ['2 pictures', '1 chart'],
  });
});

type Book = Readonly<{ rows: string; styles?: string; shared?: string; settings?: string; sheet?: string }>;

function xlsx({ rows, styles = '', shared = '', settings = '', sheet = '' }: Book): Buffer {
  return zipOf({
    'xl/workbook.xml': `<workbook>${settings}<sheets><sheet name="S" sheetId="1" ${sheet} r:id="rId7"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels':
      '<Relationships><Relationship Id="rId7" Target="worksheets/sheet1.xml"/></Relationships>',
    'xl/sharedStrings.xml': `<sst>${shared}</sst>`,
    'xl/styles.xml': `<styleSheet>${styles}</styleSheet>`,
    'xl/worksheets/sheet1.xml': `<worksheet><sheetData>${rows}</sheetData></worksheet>`,
  });
}

test('M12 of an Excel workbook every sheet is told by its name, rows as lines, empty cells kept', async () => {
  const book = zipOf({
    'xl/workbook.xml':
      '<workbook><sheets><sheet name="Q1 &amp; Q2" sheetId="1" r:id="rId7"/><sheet name="Notes" sheetId="2" state="hidden" r:id="rId8"/></sheets></workbook>',
    'xl/_rels/workbook.xml.rels':
      '<Relationships><Relationship Id="rId7" Target="worksheets/sheet1.xml"/><Relationship Id="rId8" Target="/xl/worksheets/sheet2.xml"/></Relationships>',
    'xl/sharedStrings.xml':
      '<sst><si><t>Item</t></si><si><r><t>Total </t></r><r><t>sum</t></r><rPh><t>yomi</t></rPh></si></sst>',
    'xl/worksheets/sheet1.xml':
      '<worksheet><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1" t="s"><v>1</v></c></row><row r="2"><c r="B2"><f>A1*2</f><v>42.5</v></c><c r="C2"><f>B2*2</f></c></row><row><c r="A3" s="1"/></row></sheetData></worksheet>',
    'xl/worksheets/sheet2.xml':
      '<worksheet><row r="1"><c r="A1" t="inlineStr"><is><t>remember</t></is></c></row></worksheet>',
    'xl/worksheets/_rels/sheet2.xml.rels':
      '<Relationships><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/comments" Target="../comments1.xml"/></Relationships>',
    'xl/comments1.xml':
      '<comments><commentList><comment ref="A1" authorId="0"><text><r><t>who</t></r><r><t> says so?</t></r></text></comment></commentList></comments>',
  });
  assert.equal(
    await textOf(book),
    'Sheet Q1 & Q2\nItem\t\tTotal sum\n\t42.5\t=B2*2\n\nSheet Notes (hidden)\nremember\nComment at A1: who says so?',
  );
});

test('M12 cells of an Excel workbook say what a person sees: dates, times, percents, currencies, TRUE and FALSE', async () => {
  const codes = [
    'General',
    'dd\\/mm\\/yyyy',
    '[$-409]d\\-mmm\\-yy\\ h:mm\\ AM/PM',
    '[h]:mm:ss',
    '0.0%',
    '#,##0.00\\ [$€-407]',
    '"$"#,##0.00;[Red]\\-"$"#,##0.00',
    '00000',
    '#,##0,"k"',
    '"Day "0',
    '0.00E+00',
    '_("$"* #,##0.00_);_("$"* \\(#,##0.00\\);_("$"* "-"??_);_(@_)',
    '[Red]0.00',
    'mmm\\-yy',
    '"days and hours"',
    `0"${'x'.repeat(300)}"`,
  ];
  const formats = codes.map(
    (code, at) => `<numFmt numFmtId="${164 + at}" formatCode="${code.replaceAll('"', '&quot;')}"/>`,
  );
  const own = codes.map((_, at) => `<xf numFmtId="${164 + at}"/>`);
  const known = [14, 22, 21, 9, 46, 31, 45].map((id) => `<xf numFmtId="${id}"/>`);
  const styles = `<numFmts>${formats.join('')}</numFmts><cellStyleXfs><xf numFmtId="9"/></cellStyleXfs><cellXfs>${[...own, ...known].join('')}</cellXfs>`;
  const cells: readonly (readonly [attributes: string, value: string, shown: string])[] = [
    ['s="0"', '46000.5', '46000.5'],
    ['s="0"', '0.30000000000000004', '0.3'],
    ['s="1"', '45292', '2024-01-01'],
    ['s="2"', '46000.5', '2025-12-09 12:00'],
    ['s="3"', '1.0625', '25:30'],
    ['s="4"', '0.25', '25%'],
    ['s="4"', '0.29', '29%'],
    ['s="5"', '1234.5', '1234.5 €'],
    ['s="6"', '-12', '-$12'],
    ['s="7"', '1234', '01234'],
    ['s="8"', '1500', '1500'],
    ['s="9"', '3', 'Day 3'],
    ['s="10"', '12000', '12000'],
    ['s="11"', '-7.5', '-$ 7.5'],
    ['s="12"', '2', '2'],
    ['s="13"', '45292', '2024-01'],
    ['s="14"', '2', '2'],
    ['s="15"', '2', '2'],
    [`s="${codes.length}"`, '1', '1900-01-01'],
    [`s="${codes.length + 1}"`, '46000.5', '2025-12-09 12:00'],
    [`s="${codes.length + 2}"`, '0.75002', '18:00:02'],
    [`s="${codes.length + 3}"`, '1', '100%'],
    [`s="${codes.length + 4}"`, '2', '48:00'],
    [`s="${codes.length + 5}"`, '45292', '2024-01-01'],
    [`s="${codes.length + 6}"`, '0.5', '12:00'],
    ['s="1"', '-5', '-5'],
    ['s="1"', '99999999', '99999999'],
    ['t="b"', '1', 'TRUE'],
    ['t="b"', '0', 'FALSE'],
    ['t="e"', '#REF!', '#REF!'],
    ['t="str"', 'yes', 'yes'],
    ['t="d"', '2024-02-03', '2024-02-03'],
    ['t="n" s="999"', '1e300', '1e300'],
    ['', 'no number', 'no number'],
  ];
  const rows = cells.map(([attributes, value]) => `<row><c ${attributes}><v>${value}</v></c></row>`).join('');
  assert.deepEqual(
    (await textOf(xlsx({ rows, styles }))).split('\n').slice(1),
    cells.map(([, , shown]) => shown),
  );
  const mac = xlsx({
    rows: '<row><c s="1"><v>43830</v></c></row>',
    styles,
    settings: '<workbookPr date1904="1"/>',
  });
  assert.equal(await textOf(mac), 'Sheet S\n2024-01-01');
});

test('M12 a cell far to the right moves to column 257, and long texts that many cells share are cut', async () => {
  const far = xlsx({
    rows: '<row><c r="IV1"><v>1</v></c><c r="IW1"><v>2</v></c><c r="XFD1"><v>3</v></c></row>',
  });
  assert.equal(await textOf(far), `Sheet S\n${'\t'.repeat(255)}1\t2\t3`);
  const shared = `<si><t>${'x'.repeat(40_000)}</t></si>`;
  const rows = `<row>${'<c t="s"><v>0</v></c>'.repeat(9)}</row>`;
  const read = await officeText(xlsx({ rows, shared }), 1_000_000);
  assert.ok(typeof read === 'object' && !read.whole);
  assert.ok(read.text.length > 100_000 && read.text.length < 140_000, `${read.text.length}`);
});

test('M12 slides come in the order in which they are shown, with notes and comments', async () => {
  const slide = (words: string, attributes = ''): string =>
    `<p:sld ${attributes}><a:p><a:r><a:t>${words}</a:t></a:r></a:p></p:sld>`;
  const type = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
  const deck = {
    'ppt/presentation.xml': '<p/>',
    'ppt/slides/slide10.xml': slide('last', 'show="0"'),
    'ppt/slides/slide2.xml': slide('first'),
  };
  assert.equal(await textOf(zipOf(deck)), 'Slide 1\nfirst\n\nSlide 2 (hidden)\nlast');
  const moved = zipOf({
    ...deck,
    'ppt/presentation.xml':
      '<p:presentation><p:sldIdLst><p:sldId id="256" r:id="rId3"/><p:sldId id="257" r:id="rId2"/></p:sldIdLst></p:presentation>',
    'ppt/_rels/presentation.xml.rels':
      '<Relationships><Relationship Id="rId2" Target="slides/slide2.xml"/><Relationship Id="rId3" Target="slides/slide10.xml"/></Relationships>',
    'ppt/slides/_rels/slide2.xml.rels': `<Relationships><Relationship Id="rId1" Type="${type}/notesSlide" Target="../notesSlides/notesSlide1.xml"/><Relationship Id="rId2" Type="${type}/comments" Target="../comments/comment1.xml"/><Relationship Id="rId3" Type="${type}/image" Target="../media/image1.png"/></Relationships>`,
    'ppt/notesSlides/notesSlide1.xml':
      '<p:notes><a:p><a:t>Say hello</a:t></a:p><a:p><a:t>2</a:t></a:p></p:notes>',
    'ppt/comments/comment1.xml': '<p:cmLst><p:cm authorId="0"><p:text>Shorter?</p:text></p:cm></p:cmLst>',
    'ppt/media/image1.png': 'x',
  });
  assert.deepEqual(await officeText(moved, most), {
    text: 'Slide 1 (hidden)\nlast\n\nSlide 2\nfirst\nNotes:\nSay hello\nComment: Shorter?',
    whole: true,
    without: ['1 picture'],
  });
});

test('M12 a long document is cut, and says so', async () => {
  assert.deepEqual(await officeText(docx(paragraph('abcdef') + paragraph('ghi')), 5), {
    text: 'abcde',
    whole: false,
    without: [],
  });
});

test('M12 an archive that is damaged, encrypted, empty or of another kind gives no text', async () => {
  const good = docx(paragraph('words'));
  const changed = (at: number, bytes: readonly number[]): Buffer => {
    const copy = Buffer.from(good);
    copy.set(bytes, at);
    return copy;
  };
  const second = good.lastIndexOf('PK\x01\x02', undefined, 'latin1');
  const packed = good.indexOf('word/document.xml') + 'word/document.xml'.length;
  for (const bad of [
    changed(second + 8, [1, 0]),
    changed(second + 10, [9, 0]),
    changed(second + 42, [0xff, 0xff, 0xff, 0x7f]),
    changed(packed, [0xff, 0xff, 0xff]),
    good.subarray(0, good.length - 30),
    Buffer.from('PK\x03\x04'),
    Buffer.alloc(0),
    zipOf({ 'a.txt': 'words' }),
  ])
    assert.equal(await officeText(bad, most), 'damaged');
  assert.equal(await officeText(docx(''), most), 'no text');
});

test('S15 what a part unpacks to counts, whatever the archive tells; the beginning of a large part is read', async () => {
  const swelling = docx(paragraph('x'.repeat(100)) + paragraph('y'.repeat(21_000_000)));
  // It claims to be small.
  swelling.writeUInt32LE(10, swelling.lastIndexOf('PK\x01\x02', undefined, 'latin1') + 24);
  assert.deepEqual(await officeText(swelling, 90), { text: 'x'.repeat(90), whole: false, without: [] });
  const twice = docx(paragraph('x'), {
    'word/header1.xml': '<a/>'.repeat(2_000_000),
    'word/header2.xml': '<a/>'.repeat(2_000_000),
    'word/footnotes.xml': `<w:footnote w:id="1">${paragraph('never reached')}</w:footnote>`,
  });
  assert.deepEqual(await officeText(twice, most), { text: 'x', whole: false, without: [] });
});

test('S15 parts that share bytes or a name are refused, and so are too many', async () => {
  const good = zipOf({ 'word/document.xml': paragraph('words'), 'word/header1.xml': paragraph('more') });
  const [first, second] = [
    good.indexOf('PK\x01\x02', undefined, 'latin1'),
    good.lastIndexOf('PK\x01\x02', undefined, 'latin1'),
  ];
  const same = Buffer.from(good);
  same.writeUInt32LE(good.readUInt32LE(first + 42), second + 42);
  const longer = Buffer.from(good);
  longer.writeUInt32LE(good.readUInt32LE(first + 20) + 1, first + 20);
  const intoDirectory = Buffer.from(good);
  intoDirectory.writeUInt32LE(good.readUInt32LE(second + 20) + 1, second + 20);
  const named = Buffer.from(
    good.toString('latin1').replaceAll('word/header1.xml', 'word/headerX.xml'),
    'latin1',
  );
  const doubled = Buffer.from(named);
  doubled.write('word/document.xml'.slice(0, 16), second + 46);
  for (const bad of [same, longer, intoDirectory]) assert.equal(await officeText(bad, most), 'overlaps');
  assert.equal(await textOf(good), 'words\nHeader: more');
  const twin = zipOf({ 'word/document.xml': paragraph('a'), 'word/documenx.xml': paragraph('b') });
  const twins = Buffer.from(twin.toString('latin1').replaceAll('documenx', 'document'), 'latin1');
  assert.equal(await officeText(twins, most), 'overlaps');
  const filled = (count: number): Buffer =>
    zipOf({
      'word/document.xml': paragraph('a'),
      ...Object.fromEntries(Array.from({ length: count - 1 }, (_, at) => [`${at}`, ''])),
    });
  assert.equal(await textOf(filled(mostEntries)), 'a');
  assert.equal(await officeText(filled(mostEntries + 1), most), 'damaged');
});

test('S15 a part that many sheets name is read once', async () => {
  const sheets = '<sheet name="a" r:id="r"/>'.repeat(3);
  const book = zipOf({
    'xl/workbook.xml': sheets,
    'xl/_rels/workbook.xml.rels': '<Relationship Id="r" Target="s.xml"/>',
    'xl/s.xml': '<row><c><v>1</v></c></row>',
  });
  assert.deepEqual(await officeText(book, most), {
    text: 'Sheet a\n1\n\nSheet a\n\nSheet a',
    whole: false,
    without: [],
  });
});

test('S15 parts that are stored as they are count as packed ones do', async () => {
  const small = zipOf({ 'word/document.xml': paragraph('stored') }, { stored: true });
  assert.equal(await textOf(small), 'stored');
  const parts = { 'word/document.xml': paragraph('a'), 'word/header1.xml': ' '.repeat(21_000_000) };
  const large = await officeText(
    zipOf({ ...parts, 'word/header2.xml': paragraph('b') }, { stored: true }),
    most,
  );
  assert.deepEqual(large, { text: 'a', whole: false, without: [] });
});
