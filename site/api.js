import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { posix } from 'node:path'
import { Application, Converter, LogLevel } from 'typedoc'
import { ROOT } from './pages.js'

/** The sources of what a package exports, by the name that users import. */
function entryPoints (name) {
  const { exports } = JSON.parse(readFileSync(`${ROOT}packages/${name}/package.json`, 'utf8'))
  return Object.entries(exports).map((
    [path, { types }]
  ) => [`packages/${name}/${types.replace('./dist/', 'src/').replace('.d.ts', '.ts')}`, posix.join(name, path)])
}

/**
 * Writes the API reference of the packages, from their docstrings, as Markdown. What a `{@link}` does not find fails
 * it.
 *
 * @returns the pages, by package
 */
export async function writeApi (names, folder) {
  const modules = new Map(names.flatMap(entryPoints))
  const app = await Application.bootstrapWithPlugins({
    entryPoints: [...modules.keys()].map((path) => ROOT + path),
    tsconfig: fileURLToPath(new URL('tsconfig.json', import.meta.url)),
    basePath: ROOT,
    plugin: ['typedoc-plugin-markdown'],
    // What the compiler says of the sources is `npm run check`'s.
    skipErrorChecking: true,
    excludeExternals: true,
    excludeInternal: true,
    disableSources: true,
    outputs: [{ name: 'markdown', path: folder }],
    readme: 'none',
    router: 'module',
    name: 'Types and functions',
    entryFileName: 'index',
    hidePageHeader: true,
    hideBreadcrumbs: true,
    pageTitleTemplates: { module: '{name}: types and functions' },
    parametersFormat: 'table',
    interfacePropertiesFormat: 'table',
    typeDeclarationFormat: 'table',
    propertyMembersFormat: 'table',
    validation: { invalidLink: true, notExported: false, invalidPath: true },
    treatWarningsAsErrors: true,
    logLevel: LogLevel.Warn
  })
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const module of project.children) {
      module.name = modules.get(`${module.name}/index.ts`) ?? modules.get(`${module.name}.ts`)
    }
  })
  // An error that a file only mentions is found in its package.
  app.converter.addUnknownSymbolResolver(({ symbolReference }, reflection) => {
    const [{ path: name }] = symbolReference.path
    let module = reflection
    while (module.parent?.parent !== undefined) module = module.parent
    const target = reflection.project.getChildByName([module.name.split('/')[0]])?.getChildByName([name])
    return target && { target }
  })
  const project = await app.convert()
  app.validate(project)
  await app.generateOutputs(project)
  if (app.logger.hasErrors() || app.logger.hasWarnings()) throw new Error('the API reference has errors')
  return new Map(
    names.map((name) => [name, entryPoints(name).map(([, module]) => ({ text: module, link: `/api/${module}` }))])
  )
}
