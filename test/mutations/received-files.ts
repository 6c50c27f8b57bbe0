import { changesOf } from './changes-of.ts';
import type { Mutation } from './mutation.ts';

/** How files that people send come in (M12). */
export const receivedFileMutations: readonly Mutation[] = [
  ...changesOf('channels/telegram/files.ts', 'channels/telegram-files.test.ts', [
    ['the token goes along a redirect', "redirect: 'manual'", "redirect: 'follow'"],
    ['a file of the Bot API server itself is asked for', '/^[a-z]:|\\\\/i.test(path)', 'false'],
    ['a path of a download may climb', 'names.some((name) => /^\\.{0,2}$/.test(name))', 'false'],
    ['a file that came in part is taken', 'saved !== size', 'false'],
  ]),
  ...changesOf('channels/slack/files.ts', 'channels/slack-files.test.ts', [
    ['the token of Slack goes along a redirect', "redirect: 'manual'", "redirect: 'follow'"],
    ['the token goes to any host', '!isOfSlack(url, apiUrl)', 'false'],
    ['a page to sign in on is not told as such', 'page.test(begin.text)', 'false'],
    ['a file of Slack that came in part is taken', 'saved === size', 'true'],
    ['a file that is too large is begun', 'size > to.maxBytes', 'false'],
  ]),
  ...changesOf('channels/save-file.ts', 'channels/save-file.test.ts', [
    ['a file has no largest size', 'if (size > maxBytes) throw', 'if (false) throw'],
  ]),
  ...changesOf('replies/artifacts.ts', 'replies/deliver-files.test.ts', [
    ['a file done again stays', 'await Promise.all(albums.map(removeSent));', ''],
  ]),
  ...changesOf('runs/received-files.ts', 'runs/received-files.test.ts', [
    [
      'copies stay after their time',
      'if (kept !== undefined) await removeCopies(folders, chat, kept.name, before);',
      '',
    ],
    ['a conversation holds files without end', '+ seen.size > quota', '> Infinity'],
    ['files take the last of the disk', '(await freeBytes(root)) < leftForOthers', 'false'],
    ['a file takes the name of what a command wrote', ', ...inChat', ''],
    [
      'what somebody else sent goes with who is forgotten',
      'others.has(kept.hash) ? [file]',
      'false ? [file]',
    ],
  ]),
  ...changesOf('folders/copy.ts', 'folders/copies.test.ts', [
    ['what was never stored stays', 'state.isClean ? noChanges : await uncommitted(known)', 'noChanges'],
    [
      'what others here are writing is discarded',
      'const isShared = users.changing > 0',
      'const isShared = false',
    ],
    ['a folder grows without end', 'if (now <= quota || now <= before) return;', 'return;'],
  ]),
  ...changesOf('folders/copied-shelf.ts', 'folders/copies.test.ts', [
    [
      'a draft goes because it has the name of one that was renamed',
      'if (stats === undefined) continue;',
      'if (stats === undefined) await rm(entry, { force: true });\n    if (stats === undefined) continue;',
    ],
    [
      'a removed file is found in a copy',
      'await rm(local, { force: true });\n        return undefined;',
      'return local;',
    ],
  ]),
  ...changesOf('store/postgres/file-tables.ts', 'folders/copies-fenced.test.ts', [
    [
      'who lost the queue stores files',
      'PERFORM skillet.held(of_epoch, of_job_queue, of_job, of_attempt, false);',
      '',
    ],
  ]),
  ...changesOf('folders/plain-folders.ts', 'runs/received-files.test.ts', [
    [
      'a copy goes though a command changed it',
      'entered !== undefined && lstatSync(entered.at(name)).mtimeMs < before',
      'entered !== undefined',
    ],
    ['a file goes that a request still reads', 'if (use && stats.mtimeMs < now - dayMs)', 'if (false)'],
  ]),
  ...changesOf('conversations/receive-files.ts', 'conversations/receive-files.test.ts', [
    [
      'all files of one message are fetched',
      'index < most.files ? undefined',
      'index < Infinity ? undefined',
    ],
    ['one message fetches without end', 'Math.min(most.bytesEach, room)', 'most.bytesEach'],
    [
      'files that others sent are fetched beside pictures',
      'said.attachments.filter(isPicture)',
      'said.attachments',
    ],
    ['a file name is Markdown', '${inlineCode(attachment.name)}', '${attachment.name}'],
    ['a file is left out while the store is away', 'if (storeFault(error) !== undefined) throw error;', ''],
    ['a download that broke off is not tried again', 'of waitsMs)', 'of waitsMs.slice(3))'],
    ['half a file is in the way of the whole', 'await rm(to, { force: true });', ''],
  ]),
  ...changesOf('conversations/transcribe.ts', 'conversations/transcribe.test.ts', [
    ['key and voice go along a redirect', "redirect: 'manual'", "redirect: 'follow'"],
    ['a transcript has no end', 'if (size > longestAnswer)', 'if (false)'],
    [
      'the program of transcripts gets the secrets',
      'env: programEnvironment(env)',
      'env: env as ReturnType<typeof programEnvironment>',
    ],
    ['audio stays in the temporary folder', 'await rm(folder, ', 'void (folder, '],
  ]),
  ...changesOf('conversations/text-of-file.ts', 'conversations/receive-files.test.ts', [
    ['a prompt is filled with texts', 'if (left.texts <= 0)', 'if (false)'],
  ]),
  ...changesOf('runs/user-content.ts', 'conversations/transcribe.test.ts', [
    ['a voice that was passed on gives orders', 'if (shared.length > 0) return [];', ''],
    [
      'a transcript is not marked',
      '`[transcript of ${JSON.stringify(oneLine(attachment.name, 100))}] ${words}`',
      'words + attachment.name',
    ],
  ]),
  ...changesOf('agent/with-files.ts', 'agent/files-in-requests.test.ts', [
    ['a file is shown that was changed', 'bytes?.length !== file.size', 'bytes === undefined'],
    ['what a model refused is shown again', 'if (why !== undefined)', 'if (false)'],
    [
      'a model that sees nothing is shown pictures',
      'if (model.sees === false) return asWords',
      'if (false) return asWords',
    ],
    ['of too many bytes what is asked about goes first', 'older.length > 0 ? older : newest', 'newest'],
    ['a long conversation loses its files', 'error.tooLong && areMost(newest, request)', 'error.tooLong'],
  ]),
  ...changesOf('agent/to-messages.ts', 'agent/files-in-requests.test.ts', [
    ['a request has pictures without end', 'held.pictures + pictures > most.pictures', 'false'],
    ['a request has bytes without end', 'held.bytes + bytes > most.bytes', 'false'],
  ]),
  ...changesOf('agent/with-files.ts', 'agent/files-sent.test.ts', [
    ['words that join a turn take its files from runs', '({ joins }) => joins === undefined', '() => true'],
    ['a run sees the files of somebody else', '&& entry.sender === sender', ''],
    ['a run sees files of a later message', 'call < 0 ? entries : entries.slice(0, call + 1)', 'entries'],
  ]),
  ...changesOf('lib/files/zip.ts', 'lib/office-text.test.ts', [
    ['an archive may swell', 'if (size >= most) break;', ''],
    ['parts count each for itself', 'budget.unpacked(size);', ''],
    ['a part is read as often as it is named', 'unread.delete(name);', ''],
    ['parts may overlap', "return overlap ? 'overlaps' : entries;", 'return entries;'],
    ['an archive has parts without end', 'count > mostEntries', 'false'],
  ]),
  ...changesOf('lib/files/document-budget.ts', 'lib/office-text.test.ts', [
    ['a document has marks without end', 'return tokens >= 0;', 'return true;'],
  ]),
  ...changesOf('lib/files/sheets-text.ts', 'lib/office-text.test.ts', [
    ['many cells share one long text', '.slice(0, longestCell)', ''],
    ['a row has no end', ' && length < longestRow', ''],
    ['column IW is column IV', 'const mostColumns = 256;', 'const mostColumns = 255;'],
  ]),
  ...changesOf('lib/processes/worker-task.ts', 'lib/worker-task.test.ts', [
    ['a thread gets the environment', 'env: {},', ''],
  ]),
  ...changesOf('replies/artifacts.ts', 'end-to-end/files.test.ts', [
    ['an album holds one file', 'if (joins && last.length < mostInAlbum)', 'if (false)'],
  ]),
  ...changesOf('replies/deliver.ts', 'end-to-end/files.test.ts', [
    [
      'of an album one file alone is let go',
      'for (const { id } of filesOf(part)) await outgoing.remove(id);',
      'await outgoing.remove(filesOf(part)[0]?.id ?? "");',
    ],
  ]),
  ...changesOf('channels/telegram/files.ts', 'channels/telegram-albums.test.ts', [
    ['a sound is in an album', "if (mime.startsWith('audio/')) return undefined;", ''],
  ]),
];
