import { nearestBy } from '#shared/nearest'
import { excerpt } from '../call/excerpt.ts'
import type { Tool } from '../model.ts'

/** What a call of a tool gets that there is not. @param nearest - the tool that may be meant */
export function unknownText (name: string, nearest: Tool | undefined): string {
  return `Unknown tool: ${excerpt(name)}${nearest === undefined ? '' : `. Did you mean ${nearest.public.name}?`}`
}

/** The tools whose names are like this one, the nearest first. */
export function nearestOf (tools: Iterable<Tool>, name: string): readonly Tool[] {
  return nearestBy(tools, name, (tool) => tool.public.name)
}
