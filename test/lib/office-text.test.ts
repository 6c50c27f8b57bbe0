import assert from 'node:assert/strict';
import { test } from 'node:test';
import { officeText } from '../../src/lib/files/office-text.ts';
import { zipOf } from '../support/sent-files.ts';

const most = 50_000;
const paragraph = (words: string): string => `<w:p><w:r><w:t xml:space="preserve">${words}</w:t></w:r></w:p>`;

function docx(body: string): Buffer {
  return zipOf({
    '[Content_Types].xml': '<Types/>',
    'word/document.xml': `<w:document>${body}</w:document>`,
  });
}

test('M12 of a Word document paragraphs are lines and cells stand between tabs; what was deleted is not in it', () => {
  const cell = (words: string): string => `<w:tc><w:tcPr/>${paragraph(words)}</w:tc>`;
  const body = [
    paragraph('Dear R&amp;D, 1 &lt; 2 &#x1F600;'),
    '<w:p><w:r><w:delText>never</w:delText><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t></w:r></w:p>',
    `<w:tbl><w:tr>${cell('Name')}${cell('Price')}</w:tr></w:tbl>`,
  ];
  assert.deepEqual(officeText(docx(body.join('')), most), {
    text: 'Dear R&D, 1 < 2 😀\na\tb\nc\nName\tPrice',
    whole: true,
  });
});

test('M12 of an Excel workbook every sheet is told by its name, rows as lines, empty cells kept', () => {
  const book = zipOf({
    'xl/workbook.xml':
      '<workbook><sheets><sheet name="Q1 &amp; Q2" sheetId="1" r:id="rId7"/><sheet name="Notes" sheetId="2" r:id="rId8"/></sheets></workbook>',
    'xl/_rels/workbook.xml.rels':
      '<Relationships><Relationship Id="rId7" Target="worksheets/sheet1.xml"/><Relationship Id="rId8" Target="/xl/worksheets/sheet2.xml"/></Relationships>',
    'xl/sharedStrings.xml':
      '<sst><si><t>Item</t></si><si><r><t>Total </t></r><r><t>sum</t></r><rPh><t>yomi</t></rPh></si></sst>',
    'xl/worksheets/sheet1.xml':
      '<worksheet><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1" t="s"><v>1</v></c></row><row r="2"><c r="B2"><f>A1*2</f><v>42.5</v></c></row></sheetData></worksheet>',
    'xl/worksheets/sheet2.xml':
      '<worksheet><row r="1"><c r="A1" t="inlineStr"><is><t>remember</t></is></c></row></worksheet>',
  });
  assert.equal(
    officeText(book, most)?.text,
    'Sheet Q1 & Q2\nItem\t\tTotal sum\n\t42.5\n\nSheet Notes\nremember',
  );
});

test('M12 of a presentation the slides come in their order', () => {
  const slide = (words: string): string => `<p:sld><a:p><a:r><a:t>${words}</a:t></a:r></a:p></p:sld>`;
  const deck = zipOf({
    'ppt/presentation.xml': '<p/>',
    'ppt/slides/slide10.xml': slide('last'),
    'ppt/slides/slide2.xml': slide('first'),
  });
  assert.equal(officeText(deck, most)?.text, 'Slide 2\nfirst\n\nSlide 10\nlast');
});

test('M12 a long document is cut, and says so', () => {
  assert.deepEqual(officeText(docx(paragraph('abcdef') + paragraph('ghi')), 5), {
    text: 'abcde',
    whole: false,
  });
});

test('M12 an archive that swells, is damaged, encrypted or none gives no text', () => {
  const good = docx(paragraph('words'));
  const changed = (at: number, bytes: readonly number[]): Buffer => {
    const copy = Buffer.from(good);
    copy.set(bytes, at);
    return copy;
  };
  const second = good.lastIndexOf('PK\x01\x02', undefined, 'latin1');
  const packed = good.indexOf('word/document.xml') + 'word/document.xml'.length;
  // It claims to be small.
  const swelling = docx(paragraph('x'.repeat(9_000_000)));
  swelling.writeUInt32LE(10, swelling.lastIndexOf('PK\x01\x02', undefined, 'latin1') + 24);
  for (const bad of [
    swelling,
    changed(second + 8, [1, 0]),
    changed(second + 42, [0xff, 0xff, 0xff, 0x7f]),
    changed(packed, [0xff, 0xff, 0xff]),
    good.subarray(0, good.length - 30),
    Buffer.from('PK\x03\x04'),
    Buffer.alloc(0),
    zipOf({ 'a.txt': 'words' }),
  ])
    assert.equal(officeText(bad, most), undefined);
});

test('M12 markup without an end costs no more than other markup', () => {
  const body = `${'<'.repeat(500_000)}${'<w:t '.repeat(200_000)}`;
  assert.equal(officeText(docx(body), most), undefined);
});
