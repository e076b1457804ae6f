import type { Tool } from '../../tool/tool.ts'

/** Shows tools to callers who may not read the view: it is not named. Each is made once. */
export function viewHider (): (tool: Tool) => Tool {
  const made = new WeakMap<Tool, Tool>()
  return (tool) => {
    const known = made.get(tool) ?? withoutView(tool)
    made.set(tool, known)
    return known
  }
}

function withoutView (tool: Tool): Tool {
  const { _meta, ...definition } = tool.public
  const { ui: { resourceUri, ...ui } = {}, ...meta } = (_meta ?? {}) as { readonly ui?: NonNullable<Tool['ui']> }
  const left = { ...meta, ...Object.keys(ui).length > 0 && { ui } }
  return { ...tool, public: Object.freeze({ ...definition, ...Object.keys(left).length > 0 && { _meta: left } }) }
}
