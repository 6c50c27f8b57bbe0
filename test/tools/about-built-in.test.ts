import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aboutBuiltIn } from '../../src/tools/about-built-in.ts';
import { listFilesTool } from '../../src/tools/built-in/list-files.ts';
import { readFileTool } from '../../src/tools/built-in/read-file.ts';
import { sendFileTool } from '../../src/tools/built-in/send-file.ts';
import { webFetchTool } from '../../src/tools/built-in/web-fetch.ts';
import { writeFileTool } from '../../src/tools/built-in/write-file.ts';
import { knownToolNames } from '../../src/tools/allowed-tools.ts';
import { riskOf } from '../../src/tools/policy.ts';

test('I3 every built-in tool is described for people, and no other', () => {
  assert.deepEqual(Object.keys(aboutBuiltIn).toSorted(), [...knownToolNames].toSorted());
});

test('I3 T7 the risk that people read is the one that policy judges by', () => {
  const places = [{ kind: 'chat', host: '/nowhere', seen: ['/chat'] }] as const;
  const made = [
    readFileTool(places),
    writeFileTool(places, 1),
    listFilesTool(places),
    sendFileTool(places),
    webFetchTool(),
  ];
  for (const tool of made) assert.equal(aboutBuiltIn[tool.name]?.risk, riskOf(tool), tool.name);
});
