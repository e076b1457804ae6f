import { AppBridge, PostMessageTransport } from '@modelcontextprotocol/ext-apps/app-bridge'

/*
 * The page of a host, with the official bridge: it shows a view in the sandbox of another origin, and passes the view's
 * calls to the test, which is the client of the server.
 */

/** What the test gives the page. */
interface Shown {
  readonly sandbox: string
  readonly html: string
  readonly tool: object
  readonly args: Record<string, unknown>
  readonly result: object
  readonly theme: 'light' | 'dark'
  readonly variables?: Record<string, string>
}

declare const callTool: (params: object) => Promise<{ content: [] }>

let bridge: AppBridge | undefined

Object.assign(globalThis, {
  async show ({ sandbox, html, tool, args, result, theme, variables = {} }: Shown) {
    const frame = document.querySelector('iframe')!
    bridge = new AppBridge(null, { name: 'test-host', version: '1.0.0' }, { serverTools: {} }, {
      hostContext: {
        theme,
        locale: 'en-US',
        toolInfo: { tool: tool as never },
        styles: { variables: variables as never }
      }
    })
    bridge.oncalltool = async (params) => await callTool(params)
    bridge.onsizechange = ({ height }) => {
      if (height !== undefined) frame.style.height = `${height}px`
    }
    bridge.onsandboxready = async () => {
      await bridge!.sendSandboxResourceReady({ html })
    }
    const isReady = new Promise<void>((resolve) => {
      bridge!.oninitialized = () => {
        resolve()
      }
    })
    await bridge.connect(new PostMessageTransport(frame.contentWindow!, frame.contentWindow!))
    frame.src = sandbox
    await isReady
    await bridge.sendToolInput({ arguments: args })
    await bridge.sendToolResult(result as never)
  },
  follow (theme: 'light' | 'dark') {
    bridge!.setHostContext({ theme })
  }
})
