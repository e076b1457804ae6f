import { spawnSync } from 'node:child_process'
import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../../shared/free-port.ts'
import { serve } from './listens.ts'
import { folderFor, type Scope } from '../../../test/scope.ts'

/** Why there is no Prometheus to test with, else false. */
export const withoutPrometheus = spawnSync('prometheus', ['--version']).status !== 0 && 'prometheus is not installed'

/** A series that an expression finds, and its value. */
export interface Found {
  readonly metric: Readonly<Record<string, string>>
  readonly value: number
}

/**
 * Starts Prometheus with the shipped rules, which reads a server every second.
 *
 * @returns what it finds for an expression now
 */
export async function startPrometheus (
  t: Scope,
  server: string,
  token: string
): Promise<(expression: string) => Promise<readonly Found[]>> {
  const dir = folderFor(t, 'prometheus')
  const port = await freePort()
  copyFileSync(fileURLToPath(new URL('../deploy/alerts.yml', import.meta.url)), join(dir, 'alerts.yml'))
  writeFileSync(
    join(dir, 'prometheus.yml'),
    JSON.stringify({
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: ['alerts.yml'],
      scrape_configs: [{
        job_name: 'shop',
        authorization: { credentials: token },
        static_configs: [{ targets: [new URL(server).host] }]
      }]
    })
  )
  await serve(t, port, 'prometheus', [
    `--config.file=${join(dir, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(dir, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`
  ])
  const url = `http://127.0.0.1:${port}`
  // It listens before it has read its own log, and answers 503 until then.
  while (!(await fetch(`${url}/-/ready`)).ok) await sleep(50)
  return async (expression) => {
    const answer = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(expression)}`)
    if (!answer.ok) throw new Error(`Prometheus answered ${answer.status}: ${await answer.text()}`)
    const { data } = await answer.json() as {
      data: { result: ReadonlyArray<{ metric: Found['metric'], value: readonly [number, string] }> }
    }
    return data.result.map(({ metric, value }) => ({ metric, value: Number(value[1]) }))
  }
}
