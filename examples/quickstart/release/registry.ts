import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../../shared/free-port.ts'
import { run, serve, type Server } from './command.ts'
import { packages } from './packages.ts'

/**
 * The newest that Node.js 20 runs. What it needs of node-fetch is named by a tag, which copies of the registry may
 * lack.
 */
const PROGRAM = { dependencies: { verdaccio: '6.7' }, overrides: { 'node-fetch': '^2.7.0' } }

/**
 * Starts a registry on loopback. It has nothing of ours yet, not even what another registry has under these names, and
 * passes on all other packages.
 *
 * @param directory - for its files
 */
export async function startRegistry (directory: string): Promise<Server> {
  const uplink = (await run('npm', ['config', 'get', 'registry'], { cwd: directory })).trim()
  const port = await freePort()
  const config = join(directory, 'registry.json')
  writeFileSync(
    config,
    JSON.stringify({
      storage: join(directory, 'storage'),
      uplinks: { others: { url: uplink, timeout: '120s' } },
      packages: {
        ...Object.fromEntries(packages.map(({ name }) => [name, { access: '$all', publish: '$all' }])),
        '**': { access: '$all', proxy: 'others' }
      },
      max_body_size: '20mb',
      log: { type: 'stdout', format: 'pretty', level: 'warn' }
    })
  )
  const origin = `http://127.0.0.1:${port}`
  const installed = join(directory, 'verdaccio')
  mkdirSync(installed)
  writeFileSync(join(installed, 'package.json'), JSON.stringify(PROGRAM))
  await run('npm', ['install', '--no-audit', '--no-fund'], { cwd: installed })
  const program = join(installed, 'node_modules/verdaccio/bin/verdaccio')
  const { stop } = await serve(
    process.execPath,
    [program, '--config', config, '--listen', origin],
    { cwd: directory },
    `${origin}/-/ping`
  )
  return { origin, stop }
}
