import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import ts from 'typescript'
import { parseAllDocuments } from 'yaml'
import { STOPPING } from '../src/commands/serve.ts'
import { SECRET_SETTINGS } from '../src/settings/files.ts'
import { risksIn } from '../src/settings/risks.ts'
import { settings, settingsFromEnvironment } from '../src/settings/settings.ts'
import { build, openIdentityProvider, openTestDatabase } from './build.ts'
import { textOf } from './promtool.ts'

interface Container {
  readonly name: string
  readonly image: string
  readonly command?: readonly string[]
  readonly envFrom: ReadonlyArray<{ readonly configMapRef: { readonly name: string } }>
  readonly ports?: ReadonlyArray<{ readonly name: string, readonly containerPort: number }>
  readonly securityContext: object
  readonly resources: { readonly requests: object, readonly limits: object }
  readonly volumeMounts: ReadonlyArray<{ readonly name: string, readonly mountPath: string }>
  readonly [probe: `${string}Probe`]: {
    readonly httpGet: { readonly path: string, readonly port: string },
    readonly periodSeconds: number,
    readonly failureThreshold: number
  }
}

interface Pod {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> }
  readonly spec: {
    readonly containers: readonly Container[],
    readonly initContainers?: readonly Container[],
    readonly securityContext: object,
    readonly terminationGracePeriodSeconds?: number
  }
}

interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly data?: Readonly<Record<string, string>>
  readonly spec: {
    readonly selector: { readonly matchLabels: object } & Readonly<Record<string, string>>,
    readonly template: Pod,
    readonly ports: ReadonlyArray<{ readonly targetPort: string }>,
    readonly scaleTargetRef: object
  }
}

const root = fileURLToPath(new URL('../../../', import.meta.url))
const folder = fileURLToPath(new URL('../deploy/kubernetes', import.meta.url))
const dockerfile = readFileSync(new URL('../Dockerfile', import.meta.url), 'utf8')
const built = spawnSync('kubectl', ['kustomize', folder], { encoding: 'utf8' })
const skip = built.error !== undefined && 'kubectl is not installed'
const manifests = skip !== false ? [] : parseAllDocuments(built.stdout).map((document) => document.toJS() as Manifest)
const one = (kind: string): Manifest => manifests.find((manifest) => manifest.kind === kind)!
const pods = (): readonly Pod[] => [one('Deployment').spec.template, one('Job').spec.template]
const containers = (): readonly Container[] =>
  pods().flatMap(({ spec }) => [...spec.initContainers ?? [], ...spec.containers])

/**
 * What the types of the API of Kubernetes, made from its own description, say against the manifests: wrong and unknown
 * fields.
 */
function mistakesIn (files: readonly Manifest[]): readonly string[] {
  const source = files.map(({ apiVersion, kind }, index) => {
    const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['core', apiVersion]
    return `import type { ${kind} as T${index} } from 'kubernetes-types/${group}/${version}'\n` +
      `export const m${index}: T${index} = ${JSON.stringify(files[index])}\n`
  }).join('')
  // Beside the packages, where the compiler finds them.
  const name = join(root, 'manifests.ts')
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    types: [],
    lib: ['lib.es2022.d.ts']
  }
  const host = ts.createCompilerHost(options)
  const { getSourceFile, fileExists, readFile } = host
  host.fileExists = (file) => file === name || fileExists(file)
  host.readFile = (file) => file === name ? source : readFile(file)
  host.getSourceFile = (file, ...rest) =>
    file === name ? ts.createSourceFile(file, source, ts.ScriptTarget.ESNext) : getSourceFile(file, ...rest)
  return ts.getPreEmitDiagnostics(ts.createProgram([name], options, host)).map(({ messageText }) =>
    ts.flattenDiagnosticMessageText(messageText, ' ')
  )
}

t.test('kustomize builds the manifests, and each field is one that Kubernetes has', { skip }, async (t) => {
  t.strictSame([built.status, built.stderr], [0, ''])
  t.strictSame(manifests.map(({ kind }) => kind).toSorted(), [
    'ConfigMap',
    'Deployment',
    'HorizontalPodAutoscaler',
    'Job',
    'PodDisruptionBudget',
    'Service'
  ])
  t.strictSame(mistakesIn(manifests), [])
  const misspelt = JSON.parse(
    JSON.stringify(manifests).replaceAll('readinessProbe', 'readinesProbe').replaceAll(
      '"maxUnavailable":1',
      '"maxUnavailable":true'
    )
  ) as Manifest[]
  t.match(mistakesIn(misspelt), [/readinesProbe.* does not exist in type 'Container'/, /'true' is not assignable/])
})

t.test(
  'the server accepts the settings of the pods, and finds its secrets in the folder that they mount',
  { skip },
  async (t) => {
    const data = one('ConfigMap').data!
    const secret = 'Zk3v9QeX1pR7uT5wY2aB4cD6fG8hJ0kL'
    const values: Readonly<Record<string, string>> = {
      DATABASE_URL: 'postgres://shop:x@db/shop',
      API_KEY_PEPPERS: `2026:${secret}`,
      PAY_KEY_SECRETS: `2026:${secret}x`
    }
    const mounted = t.testdir()
    for (const [name, value] of Object.entries(values)) writeFileSync(join(mounted, name), value)
    for (const name of Object.keys(data)) {
      t.ok(
        name in settings || SECRET_SETTINGS.some((secret) => name === `${secret}_FILE`),
        name
      )
    }
    for (const name of SECRET_SETTINGS) t.notOk(name in data, `${name} is no secret in a file`)
    const environment = Object.fromEntries(
      Object.entries(data).map(([name, value]) => [name, value.replace('/run/secrets/shop', mounted)])
    )
    const { API_KEY_PEPPERS: peppers, DATABASE_URL: url, MIGRATE_ON_START: migrates } = settingsFromEnvironment(
      environment,
      {},
      risksIn
    )
    t.strictSame([peppers, url, migrates], [[values['API_KEY_PEPPERS']], values['DATABASE_URL'], false])
    for (const { name, envFrom, volumeMounts } of containers()) {
      t.strictSame(envFrom, [{ configMapRef: { name: one('ConfigMap').metadata.name } }], name)
      t.ok(volumeMounts.some(({ mountPath }) => mountPath === '/run/secrets/shop'), name)
    }
  }
)

t.test(
  'probes ask routes of the server, at the port of the image, and a stop may take as long as it does',
  { skip },
  async (t) => {
    const app = await build(t, await openTestDatabase(t), await openIdentityProvider(t))
    const { spec } = one('Deployment').spec.template
    const [shop] = spec.containers
    const port = Number(/^EXPOSE (\d+)$/m.exec(dockerfile)![1])
    t.match(dockerfile, new RegExp(`^ENV .*\\bHOST=0\\.0\\.0\\.0 PORT=${port}\\b`, 'm'))
    t.strictSame(shop!.ports, [{ name: 'http', containerPort: port }])
    t.strictSame(one('Service').spec.ports.map(({ targetPort }) => targetPort), ['http'])
    const paths = { startup: '/healthz', liveness: '/healthz', readiness: '/readyz' }
    for (const [probe, path] of Object.entries(paths)) {
      t.strictSame(shop![`${probe}Probe`]!.httpGet, { path, port: 'http' })
      t.ok(app.hasRoute({ method: 'GET', url: path }))
    }
    t.ok(spec.terminationGracePeriodSeconds! * 1000 >= Number(settings['SHUTDOWN_DELAY']!.default) + STOPPING)
  }
)

t.test(
  'the containers run what the image has, as its user, without rights and without writing to it',
  { skip },
  async (t) => {
    t.equal(one('Deployment').spec.template.spec.containers[0]!.command, undefined, 'the command of the image')
    for (const { name, image, command = [], securityContext, resources } of containers()) {
      t.equal(image, 'shop')
      for (const script of command.join(' ').match(/\S+\.js/g) ?? []) t.ok(existsSync(join(root, script)), script)
      t.strictSame(securityContext, {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] }
      }, name)
      t.match(resources, { requests: { cpu: /^\d+m$/, memory: /Mi$/ }, limits: { memory: /i$/ } })
    }
    for (const { spec } of pods()) {
      t.strictSame(spec.securityContext, {
        runAsNonRoot: true,
        runAsUser: 1000,
        runAsGroup: 1000,
        fsGroup: 1000,
        seccompProfile: { type: 'RuntimeDefault' }
      })
    }
    t.match(dockerfile, /^FROM node:.*\n(?:.*\n)*USER node$/m, 'whose id is 1000')
  }
)

t.test(
  'Prometheus reads each pod under the name of the alerts, with the token that the pod has',
  { skip },
  async (t) => {
    const METRICS_TOKEN = 'the-token-of-prometheus'
    const dir = t.testdir({
      METRICS_TOKEN: `${METRICS_TOKEN}\n`,
      own: { 'kustomization.yaml': 'resources: [../shop]\ncomponents: [../shop/monitoring]\n' }
    })
    cpSync(folder, join(dir, 'shop'), { recursive: true })
    const monitored = spawnSync('kubectl', ['kustomize', join(dir, 'own')], { encoding: 'utf8' })
    t.strictSame([monitored.status, monitored.stderr], [0, ''])
    const all = parseAllDocuments(monitored.stdout).map((document) => document.toJS() as Manifest)
    const { metadata: { labels }, spec: { containers: [shop] } } = one('Deployment').spec.template
    t.match(all.find(({ kind }) => kind === 'PodMonitor'), {
      apiVersion: 'monitoring.coreos.com/v1',
      metadata: { name: 'shop' }
    })
    t.strictSame(all.find(({ kind }) => kind === 'PodMonitor')!.spec as object, {
      jobLabel: 'app.kubernetes.io/name',
      selector: { matchLabels: labels },
      podMetricsEndpoints: [{
        port: shop!.ports![0]!.name,
        path: '/metrics',
        interval: '15s',
        authorization: { type: 'Bearer', credentials: { name: 'shop-metrics', key: 'token' } }
      }]
    })
    const jobs = [...textOf('examples/shop/deploy/alerts.yml').matchAll(/job="(\w+)"/g)].map(([, job]) => job)
    t.strictSame([...new Set(jobs)], [labels['app.kubernetes.io/name']])

    const data = all.find(({ kind }) => kind === 'ConfigMap')!.data!
    const { METRICS_TOKEN_FILE: file, ...rest } = data
    t.strictSame(rest, one('ConfigMap').data, 'the rest of the settings stays')
    const { MIGRATE_ON_START: _migrates, ...own } = Object.fromEntries(
      Object.entries(rest).filter(([name]) => !name.endsWith('_FILE'))
    )
    const secret = 'Zk3v9QeX1pR7uT5wY2aB4cD6fG8hJ0kL'
    const environment = {
      ...own,
      API_KEY_PEPPERS: `2026:${secret}`,
      PAY_KEY_SECRETS: `2026:${secret}x`,
      METRICS_TOKEN_FILE: file!.replace('/run/secrets/shop', dir)
    }
    t.strictSame(settingsFromEnvironment(environment, {}, () => []).METRICS_TOKEN, [METRICS_TOKEN])
    const app = await build(t, await openTestDatabase(t), await openIdentityProvider(t), {
      settings: { METRICS_TOKEN }
    })
    const scrape = async (token: string): Promise<number> =>
      (await app.inject({ url: '/metrics', headers: { authorization: `Bearer ${token}` } })).statusCode
    t.strictSame([await scrape(METRICS_TOKEN), await scrape('another')], [200, 401])
  }
)

t.test(
  'the service, the budget and the scaler mean the pods of the deployment, and none means the job',
  { skip },
  async (t) => {
    const { metadata, spec: { selector, template } } = one('Deployment')
    t.strictSame(selector.matchLabels, template.metadata.labels)
    t.strictSame(one('Service').spec.selector, template.metadata.labels)
    t.strictSame(one('PodDisruptionBudget').spec.selector.matchLabels, template.metadata.labels)
    t.strictSame(one('HorizontalPodAutoscaler').spec.scaleTargetRef, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      name: metadata.name
    })
    t.strictNotSame(one('Job').spec.template.metadata.labels, template.metadata.labels)
  }
)
