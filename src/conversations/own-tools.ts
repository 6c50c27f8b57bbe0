import type { ToolRows } from '../core/built-in-tools.ts';
import { questionRows } from '../runs/questions.ts';
import { subagentRows } from '../runs/subagent.ts';
import { useSkillRows } from '../runs/use-skill.ts';
import { bashRows } from '../tools/built-in/bash.ts';
import { fileToolRows } from '../tools/built-in/file-tools.ts';
import { grepFilesRows } from '../tools/built-in/grep-files.ts';
import { sendFileRows } from '../tools/built-in/send-file.ts';
import { skillLookupRows } from '../tools/built-in/skill-lookup.ts';
import { runScriptRows } from '../tools/built-in/skills-run-script.ts';

/** The tools that a bot has without any feature, in the order of `/tools`. */
export const ownToolRows: readonly ToolRows[] = [
  useSkillRows,
  skillLookupRows,
  bashRows,
  runScriptRows,
  fileToolRows,
  grepFilesRows,
  sendFileRows,
  subagentRows,
  questionRows,
];
