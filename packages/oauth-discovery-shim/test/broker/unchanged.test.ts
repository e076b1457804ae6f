import { readFile } from 'node:fs/promises'
import t from 'tap'
import { build, options, provider } from '../build.ts'

/** Status, headers and body of every route, as they were before there was a broker. */
const recorded: ReadonlyArray<
  {
    readonly request: string,
    readonly status: number,
    readonly headers: Readonly<Record<string, unknown>>,
    readonly body: string
  }
> = JSON.parse(await readFile(new URL('unchanged.json', import.meta.url), 'utf8'))

t.test('without the option, every answer is the one that it was before, byte for byte', async (t) => {
  const { issuer } = await provider(t)
  const app = await build(t, { ...options(issuer), resourceName: 'Shop' })
  t.ok(recorded.length > 20)
  const placeholder = 'https://idp.example.com/pool'
  const bodies = new Map(recorded.map(({ request, body }) => [request, body]))
  for (const { request, status, headers, body } of recorded) {
    const [method = '', url = ''] = request.split(' ')
    // the only difference is the port of the identity provider
    const issuers = (bodies.get(`GET ${url}`) ?? '').split(placeholder).length - 1
    const length = Number(headers['content-length'] ?? 0) +
      (method === 'GET' || method === 'HEAD' ? issuers * (issuer.length - placeholder.length) : 0)
    const expected = {
      status,
      headers: { ...headers, ...'content-length' in headers && { 'content-length': String(length) } },
      body: body.replaceAll(placeholder, issuer)
    }
    const { statusCode, headers: { date, ...sent }, body: text } = await app.inject({ method: method as 'GET', url })
    t.strictSame({ status: statusCode, headers: sent, body: text }, expected, request)
  }
})
