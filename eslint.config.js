import neostandard from 'neostandard'
import { house } from './test/lint/house.js'

export default [
  ...neostandard({ ts: true, ignores: ['**/dist/**', '.tap/**', 'site/pages/**'] }),
  {
    plugins: { house },
    rules: {
      'house/param-dash': 'error',
      '@stylistic/arrow-parens': ['error', 'always'],
      // One import of a module, with its types; of types alone, `import type`, which loads nothing.
      'no-duplicate-imports': 'error'
    }
  },
  { files: ['**/*.ts', '**/*.tsx'], rules: { '@typescript-eslint/no-import-type-side-effects': 'error' } },
  { files: ['packages/*/src/**', 'examples/*/src/**'], rules: { 'house/capitals': 'error' } }
]
