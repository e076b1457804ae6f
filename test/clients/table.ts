import type { Client } from './client.ts'
import { aiSdk } from './clients/ai-sdk.ts'
import { claudeCode } from './clients/claude-code.ts'
import { codex } from './clients/codex.ts'
import { inspector } from './clients/inspector.ts'
import { langchain } from './clients/langchain.ts'
import { mastra } from './clients/mastra.ts'
import { mcpRemote } from './clients/mcp-remote.ts'
import { mcpUse } from './clients/mcp-use.ts'
import { openAiAgents } from './clients/openai-agents.ts'
import { sdk1, sdk2 } from './clients/sdk.ts'

/** All clients of the lab, in the order of the page. */
export const clients: readonly Client[] = [
  claudeCode,
  codex,
  inspector,
  mcpRemote,
  sdk1,
  ...sdk2,
  aiSdk,
  langchain,
  openAiAgents,
  mastra,
  mcpUse
]
