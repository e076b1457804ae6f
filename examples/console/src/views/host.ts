/** What a tool returned: texts for people and models, and the data behind them. */
export interface ToolResult {
  readonly content?: ReadonlyArray<{ readonly type: string, readonly text?: string }>
  readonly structuredContent?: unknown
  readonly isError?: boolean
}

/** What the host tells the view, each when it happens. */
interface Told {
  /** The arguments of the call that the view is shown for. */
  readonly input: (args: Readonly<Record<string, unknown>>) => void
  readonly result: (result: ToolResult) => void
  /** The call ended without a result. */
  readonly cancelled: () => void
}

/** The program that shows the view. */
export interface Host {
  /** Calls a tool of this server as the caller whose conversation shows the view. */
  readonly call: (name: string, args: Readonly<Record<string, unknown>>) => Promise<ToolResult>
  /** False if the host lets views call nothing. */
  readonly mayCall: boolean
  readonly locale: string
}

interface Message {
  readonly jsonrpc?: '2.0'
  readonly id?: number
  readonly method?: string
  readonly params?: any
  readonly result?: any
  readonly error?: { readonly message?: string }
}

/**
 * Connects the view with its host (MCP Apps, revision 2026-01-26), and keeps to its theme and size from then on.
 *
 * @param name - of the view
 */
export async function connect (name: string, told: Told): Promise<Host> {
  const waiting = new Map<number, (message: Message) => void>()
  let last = 0
  const send = (message: Message): void => {
    parent.postMessage({ jsonrpc: '2.0', ...message }, '*')
  }
  const request = async (method: string, params: object): Promise<any> =>
    await new Promise((resolve, reject) => {
      last += 1
      waiting.set(last, ({ result, error }) => {
        if (error === undefined) resolve(result)
        else reject(new Error(error.message ?? 'The host refused'))
      })
      send({ id: last, method, params })
    })
  const notices: Readonly<Record<string, (params: any) => void>> = {
    'ui/notifications/tool-input': ({ arguments: args = {} }) => {
      told.input(args)
    },
    'ui/notifications/tool-result': told.result,
    'ui/notifications/tool-cancelled': told.cancelled,
    'ui/notifications/host-context-changed': follow
  }
  addEventListener('message', ({ source, data }: MessageEvent<Message>) => {
    // Only the host: other frames of the page can send messages too.
    if (source !== parent || data?.jsonrpc !== '2.0') return
    const { id, method, params } = data
    if (method === undefined) {
      waiting.get(id ?? 0)?.(data)
      waiting.delete(id ?? 0)
    } else if (id !== undefined) {
      send(
        method === 'ping' || method === 'ui/resource-teardown'
          ? { id, result: {} }
          : { id, error: { code: -32601, message: 'Method not found' } as object }
      )
    } else notices[method]?.(params ?? {})
  })
  const { hostContext = {}, hostCapabilities = {} } = await request('ui/initialize', {
    protocolVersion: '2026-01-26',
    appInfo: { name, version: '1.0.0' },
    appCapabilities: { availableDisplayModes: ['inline', 'fullscreen'] }
  })
  follow(hostContext)
  const host: Host = {
    call: async (name, args) => await request('tools/call', { name, arguments: args }),
    mayCall: hostCapabilities.serverTools !== undefined,
    locale: hostContext.locale ?? navigator.language
  }
  // Messages are events of their own: what the host tells now comes after this function has returned.
  send({ method: 'ui/notifications/initialized', params: {} })
  new ResizeObserver(() => {
    const { width, height } = document.documentElement.getBoundingClientRect()
    send({ method: 'ui/notifications/size-changed', params: { width: Math.ceil(width), height: Math.ceil(height) } })
  }).observe(document.documentElement)
  return host
}

/** Takes the colours and the type of the host, as far as it names them. */
function follow (
  { theme, styles }: {
    readonly theme?: string,
    readonly styles?: { readonly variables?: Readonly<Record<string, string | undefined>> }
  }
): void {
  const { style } = document.documentElement
  if (theme === 'light' || theme === 'dark') style.colorScheme = theme
  for (const [name, value] of Object.entries(styles?.variables ?? {})) {
    if (name.startsWith('--') && value !== undefined) style.setProperty(name, value)
  }
}

/** The words of a result, such as what went wrong. */
export function textOf ({ content = [] }: ToolResult): string {
  return content.flatMap(({ text }) => text ?? []).join('\n')
}
