import { join } from 'node:path'
import ts from 'typescript'

export interface Compiler {
  /** Whether a file of the package has the right types with this source. */
  readonly accepts: (file: string, source: string) => boolean
  /** What `dist` holds for this source. */
  readonly emit: (file: string, source: string) => string
}

/** The compiler of one package. It looks at the one file that changes only, so that each look is quick. */
export function compilerOf (packageDirectory: string): Compiler {
  const { config } = ts.readConfigFile(join(packageDirectory, 'tsconfig.json'), ts.sys.readFile)
  const { options, fileNames } = ts.parseJsonConfigFileContent(config, ts.sys, packageDirectory)
  let changed = { file: '', source: '' }
  let version = 0

  const service = ts.createLanguageService({
    getCompilationSettings: () => options,
    getCurrentDirectory: () => packageDirectory,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    getScriptFileNames: () => fileNames,
    getScriptVersion: (file) => file === changed.file ? String(version) : '0',
    getScriptSnapshot: (file) => {
      const source = file === changed.file ? changed.source : ts.sys.readFile(file)
      return source === undefined ? undefined : ts.ScriptSnapshot.fromString(source)
    },
    fileExists: ts.sys.fileExists,
    readFile: ts.sys.readFile,
    readDirectory: ts.sys.readDirectory,
    directoryExists: ts.sys.directoryExists,
    getDirectories: ts.sys.getDirectories
  })

  return {
    accepts (file, source) {
      changed = { file, source }
      version++
      return service.getSyntacticDiagnostics(file).length === 0 && service.getSemanticDiagnostics(file).length === 0
    },
    // a module by its own: whether `nodenext` means one depends on files that are not looked at
    emit: (file, source) => ts.transpileModule(source, { fileName: file, compilerOptions: { ...options, module: ts.ModuleKind.ESNext } }).outputText
  }
}
