import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../../shared/free-port.ts'
import { serve } from './listens.ts'
import { folderFor, type Scope } from '../../../test/scope.ts'

/** Debian's is where the path of an ordinary user does not lead. */
const NGINX = ['nginx', '/usr/sbin/nginx'].find((program) => spawnSync(program, ['-v']).status === 0)

/** Why there is no nginx to test with, else false. */
export const withoutNginx = NGINX === undefined && 'nginx is not installed'

/** What nginx says of a call. */
export interface Passed {
  readonly method: string
  readonly status: string
  /** The addresses that it was sent to, one after another. */
  readonly upstreams: readonly string[]
  /** The shop that its header names, else `-`. */
  readonly shop: string
}

/**
 * Starts nginx with the shipped configuration, in which only the addresses are changed, and waits until it listens.
 *
 * @param replicas - the base URLs behind it
 * @returns its base URL, what it passed on so far, and the lines of its log
 */
export async function startNginx (
  t: Scope,
  replicas: readonly string[]
): Promise<
  { baseUrl: string, passed: () => readonly Passed[], lines: () => ReadonlyArray<Readonly<Record<string, unknown>>> }
> {
  const dir = folderFor(t, 'nginx')
  mkdirSync(join(dir, 'temp'))
  const port = await freePort()
  let shipped = ['nginx.conf', 'nginx-replicas.conf'].map((file) =>
    readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')
  ).join('\n')
  const exchange = (pattern: RegExp, replace: (found: string) => string): void => {
    if (!pattern.test(shipped)) throw new RangeError(`the shipped configuration has no ${String(pattern)}`)
    shipped = shipped.replace(pattern, replace)
  }
  exchange(/^(?: *server 127\.0\.0\.1:\d+ .*;\n)+/gm, (lines) => {
    const [line = ''] = lines.split('\n')
    return replicas.map((url) => `${line.replace(/127\.0\.0\.1:\d+/, new URL(url).host)}\n`).join('')
  })
  exchange(/listen 8080;/, () => `listen 127.0.0.1:${port};`)
  exchange(
    /access_log .*;/,
    () => `access_log ${join(dir, 'access.log')} passed; access_log ${join(dir, 'lines.log')} shop;`
  )
  const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) =>
    `${name}_temp_path ${join(dir, 'temp', name)};`
  )
  writeFileSync(
    join(dir, 'nginx.conf'),
    `
    daemon off;
    master_process off;
    pid ${join(dir, 'pid')};
    error_log ${join(dir, 'error.log')} warn;
    events {}
    http {
      ${temp.join('\n')}
      log_format passed '$request_method|$status|$upstream_addr|$http_mcp_param_shop_id';
      ${shipped}
    }`
  )

  await serve(t, port, NGINX!, ['-e', join(dir, 'error.log'), '-p', dir, '-c', join(dir, 'nginx.conf')])
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    lines: () =>
      readFileSync(join(dir, 'lines.log'), 'utf8').split('\n').filter((line) => line !== '').map((line) =>
        JSON.parse(line)
      ),
    passed: () =>
      readFileSync(join(dir, 'access.log'), 'utf8').split('\n').filter((line) => line !== '').map((line) => {
        const [method = '', status = '', upstreams = '', shop = ''] = line.split('|')
        return { method, status, upstreams: upstreams.split(', '), shop }
      })
  }
}
