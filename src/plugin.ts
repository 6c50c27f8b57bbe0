/**
 * The public door for plugin authors, who import it as `skillet/plugin`; docs/plugin-authors.md tells how. Nothing else of
 * this package is meant to be imported.
 */
export { definePlugin } from './features/plugins/define-plugin.ts';
export { defineTool } from './features/plugins/define-tool.ts';
export type {
  CapabilityProvider,
  Plugin,
  PluginContext,
  PluginOptions,
} from './features/plugins/define-plugin.ts';
export type { Tool, ToolData, ToolOptions, WithArtifacts } from './features/plugins/define-tool.ts';
export type {
  CommandOutcome,
  LogLine,
  PluginLog,
  ToolContext,
  ToolModel,
  ToolSandbox,
  Workspace,
  WorkspaceEntry,
} from './features/plugins/tool-context.ts';
export type { Conversation, SeenChatType as ChatType } from './core/conversation.ts';
export type { Artifact, DeliveredFile, Risk } from './core/tool.ts';
