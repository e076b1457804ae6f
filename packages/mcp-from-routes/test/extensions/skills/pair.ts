import { skills } from '../../../src/extensions/skills/index.ts'
import type { Described } from '../described.ts'

const SKILL = `---
name: build-it
description: How a report is built.
---

\`\`\`json mcp-call
{ "name": "build", "arguments": {} }
\`\`\`
`

export const pair: Described = {
  files: () => ({ 'build-it': { 'SKILL.md': SKILL } }),
  make: (_t, folder) => ({ extension: skills(folder) }),
  adds: {
    list: 'main|legacy|list|resources|skill://build-it/SKILL.md',
    call: 'main|modern|call|read|skill://build-it/SKILL.md|result|contents',
    error: 'main|modern|error|readByGuest|skill://build-it/SKILL.md|error|code',
    contract: 'contract|skills'
  }
}
