import { freePort } from '../../../shared/free-port.ts'
import { buildApp } from '../src/app.ts'
import type { Database } from '../src/database/index.ts'
import { settingsFromEnvironment } from '../src/settings/settings.ts'
import { makeAdmins } from '../src/users/repository.ts'
import { type ProviderKind, strictProvider, type StrictProvider } from './strict-provider.ts'

/** What a call came to, and after how many minutes. */
interface HourCall {
  readonly minutes: number
  readonly outcome: unknown
}

/**
 * More than an hour at a shop with the broker, in front of a provider: the clock of both moves on by the life of a
 * token at a time, and the shop restarts on the way. Only one at a time: the clock is that of the process.
 *
 * @param arrive - the clients connect and sign in; returns what they then do each time
 */
export async function anHour (
  kind: ProviderKind,
  database: Database,
  arrive: (baseUrl: string) => Promise<() => Promise<unknown>>
): Promise<{ readonly calls: readonly HourCall[], readonly requests: StrictProvider['requests'] }> {
  const { now } = Date
  const port = await freePort()
  const baseUrl = `http://localhost:${port}`
  const provider = await strictProvider(kind, `${baseUrl}/oauth/callback`)
  await makeAdmins(database.knex, [provider.subject])
  const config = settingsFromEnvironment({}, {
    ...provider.settings,
    PUBLIC_BASE_URL: baseUrl,
    MCP_ENABLED: true,
    OAUTH_BROKER: true,
    OAUTH_BROKER_SECRETS: `test:${'b'.repeat(32)}`,
    // Nothing is read from the internet: clients register.
    OAUTH_BROKER_DOCUMENTS: false,
    API_KEY_PEPPERS: `test:${'p'.repeat(32)}`,
    PAY_KEY_SECRETS: `test:${'k'.repeat(32)}`,
    MAX_EVENT_LOOP_DELAY: 0
  })
  const open = async () => {
    const app = await buildApp({ config, database, logger: false })
    await app.listen({ port, host: '127.0.0.1' })
    return app
  }
  let app = await open()
  try {
    const work = await arrive(baseUrl)
    const calls: HourCall[] = [{ minutes: 0, outcome: await work() }]
    const step = Math.max(provider.lifetime, 1500)
    for (let i = 1; i <= Math.max(3, Math.ceil(3600 / step)); i++) {
      if (i === 2) {
        await app.close()
        app = await open()
      }
      Date.now = () => now() + i * (step + 10) * 1000
      calls.push({ minutes: Math.round(i * step / 60), outcome: await work() })
    }
    return { calls, requests: provider.requests }
  } finally {
    Date.now = now
    await app.close()
    await provider.close()
  }
}
