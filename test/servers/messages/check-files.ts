import type { MessagesRequest, RequestBlock } from './request-shape.ts';

type FileBlock = Extract<RequestBlock, { type: 'image' | 'document' }>;

const largestImage = 5 * 1024 * 1024;
const mostImages = 600;
const mostPages = 600;
const magics: Readonly<Record<string, RegExp>> = {
  'image/jpeg': /^ffd8ff/,
  'image/png': /^89504e470d0a1a0a/,
  'image/gif': /^47494638/,
  'image/webp': /^52494646.{8}57454250/,
};

/** What the API refuses of pictures and documents: their size in base64, their type, their bytes, how many there are. */
export function checkFiles({ messages }: MessagesRequest): string | undefined {
  const found = messages.flatMap(({ content }, message) =>
    typeof content === 'string'
      ? []
      : content.flatMap((block, at) =>
          filesIn(block).map((file) => ({ file, where: `messages.${message}.content.${at}` })),
        ),
  );
  const images = found.filter(({ file }) => file.type === 'image').length;
  if (images > mostImages) return `messages: Too many images: ${images} > ${mostImages}`;
  for (const { file, where } of found) {
    const wrong = wrongFile(file, `${where}.${file.type}.source.base64`, images > 20 ? 2000 : 8000);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function filesIn(block: RequestBlock): readonly FileBlock[] {
  if (block.type === 'image' || block.type === 'document') return [block];
  if (block.type !== 'tool_result' || typeof block.content !== 'object') return [];
  return block.content.filter((one) => one.type !== 'text');
}

function wrongFile({ type, source }: FileBlock, where: string, longestSide: number): string | undefined {
  if (source.type !== 'base64') return undefined;
  const bytes = Buffer.from(source.data, 'base64');
  if (type === 'document') {
    if (source.media_type !== 'application/pdf')
      return `${where}.media_type: Input should be 'application/pdf'`;
    if (!bytes.subarray(0, 5).equals(Buffer.from('%PDF-')))
      return `${where}: The PDF specified was not valid.`;
    const pages = bytes.toString('latin1').split('/Type /Page\n').length - 1;
    return pages > mostPages ? `${where}: A maximum of ${mostPages} PDF pages may be provided.` : undefined;
  }
  const kinds = Object.keys(magics).join(', ');
  const magic = magics[source.media_type];
  if (magic === undefined) return `${where}.media_type: Input should be one of ${kinds}`;
  if (source.data.length > largestImage)
    return `${where}: image exceeds 5 MB maximum: ${source.data.length} bytes > ${largestImage} bytes`;
  const hex = bytes.subarray(0, 16).toString('hex');
  if (!Object.values(magics).some((one) => one.test(hex))) return `${where}: Could not process image`;
  if (!magic.test(hex))
    return `${where}.data: Image does not match the provided media type ${source.media_type}`;
  const isPng = source.media_type === 'image/png' && bytes.length >= 24;
  const side = isPng ? Math.max(bytes.readUInt32BE(16), bytes.readUInt32BE(20)) : 1;
  if (side <= longestSide) return undefined;
  const many = longestSide === 2000 ? ' for many-image requests' : '';
  return `${where}.data: At least one of the image dimensions exceed max allowed size${many}: ${longestSide} pixels`;
}
