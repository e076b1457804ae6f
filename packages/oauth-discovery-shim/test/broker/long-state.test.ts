import t from 'tap'
import { openBrowser, withoutChromium } from '../../../../test/chromium.ts'
import { freePort } from '../../../../shared/free-port.ts'
import { serve } from '../build.ts'
import { authorizeUrl, brokerWorld, fakeIdp, pkce, register } from './world.ts'

t.test(
  'a browser goes through a sign-in whose URLs are too long for headers, by itself',
  { skip: withoutChromium },
  async (t) => {
    const landed: string[] = []
    const client = await serve(t, (request, response) => {
      landed.push(request.url ?? '')
      response.end('<title>landed</title>')
    })
    const idp = await fakeIdp(t)
    // The sign-in page, which sends everybody back at once.
    const page = await serve(t, (request, response) => {
      response.writeHead(302, { location: idp.signIn(`http://localhost${request.url ?? ''}`).href }).end()
    })
    const long = await fakeIdp(t, { authorization_endpoint: `${page}/authorize` })
    const port = await freePort()
    const publicBaseUrl = `http://localhost:${port}`
    const { app } = await brokerWorld(t, { publicBaseUrl, idp: long })
    await app.listen({ port, host: '127.0.0.1' })
    const callback = `${client}/callback`
    const state = `"<&'> ${'s'.repeat(3000)}`
    const parameters = { redirect_uri: callback, resource: undefined, state }
    const tab = await (await (await openBrowser(t)).newContext()).newPage()
    await tab.goto(publicBaseUrl + authorizeUrl(await register(app, [callback]), pkce().challenge, parameters))
    await tab.locator('button[value=allow]').press('Enter')
    await tab.waitForURL(`${callback}**`)
    const [path = ''] = landed
    const { searchParams } = new URL(path, client)
    t.strictSame([searchParams.get('state'), searchParams.has('code')], [state, true])
  }
)
