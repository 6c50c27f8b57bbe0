import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { RunGrant } from '../agent/run-skill.ts';
import type { SkillRequest } from '../agent/use-skill.ts';
import type { Log } from '../core/log.ts';
import { oneLine } from '../core/text.ts';
import type { Skill } from '../core/skill.ts';
import type { Tool, ToolContext } from '../core/tool.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { skillEnvironment } from '../sandbox/script-environment.ts';
import { listSkillFiles } from '../skills/skill-files.ts';
import type { SkillLibrary } from '../skills/skill-library.ts';
import { skillsReadFile } from '../tools/built-in/skills-read-file.ts';
import { skillsRunScript } from '../tools/built-in/skills-run-script.ts';
import { createCallTool } from '../tools/call-tool.ts';
import { makeCeiling } from '../tools/ceiling.ts';
import type { Live } from './live.ts';

export type GrantRun = (
  skill: Skill,
  request: SkillRequest,
  context: ToolContext,
  runId: string,
) => Promise<RunGrant>;
