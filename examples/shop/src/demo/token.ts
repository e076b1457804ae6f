import { accessTokenFor } from 'identity-provider/browser'
import { refuse } from '../commands/refuse.ts'
import { SHOP_DEMO_STOPPED, SHOP_DEMO_USER } from '../errors.ts'
import { readDemo } from './demo-file.ts'

/** `npm run token -- <username>`: prints an access token of one of the demo's people. */
try {
  const demo = readDemo()
  const user = demo?.users.find(({ username }) => username === process.argv[2])
  if (demo === undefined || user === undefined) {
    throw new SHOP_DEMO_USER(demo?.users.map(({ username }) => username).join(', ') ?? 'none yet, start the demo first')
  }
  const running = await fetch(demo.idp.issuer).then(() => true, () => false)
  if (!running) throw new SHOP_DEMO_STOPPED()
  process.stdout.write(
    await accessTokenFor({
      ...user,
      issuer: demo.idp.issuer,
      clientId: demo.idp.mcp_client_id,
      resource: demo.mcp_url
    }) + '\n'
  )
} catch (error) {
  refuse(error)
}
