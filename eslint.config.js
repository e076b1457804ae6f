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
      'no-duplicate-imports': 'error',
      // What test/format.js decides.
      '@stylistic/block-spacing': 'off',
      '@stylistic/brace-style': 'off',
      '@stylistic/generator-star-spacing': 'off',
      '@stylistic/indent': 'off',
      '@stylistic/jsx-closing-tag-location': 'off',
      '@stylistic/lines-between-class-members': 'off',
      '@stylistic/semi-spacing': 'off',
      '@stylistic/yield-star-spacing': 'off'
    }
  },
  {
    // packages/mcp-from-routes follows.
    ignores: ['packages/mcp-from-routes/**'],
    rules: {
      // A line of a docstring that is a link cannot be broken.
      'max-len': ['error', { code: 120, tabWidth: 2, ignorePattern: '^ +\\* +(\\[.+\\]\\()?https://\\S+$' }],
      'max-params': ['error', 5],
      'no-nested-ternary': 'error'
    }
  },
  { files: ['**/*.ts', '**/*.tsx'], rules: { '@typescript-eslint/no-import-type-side-effects': 'error' } },
  { files: ['packages/*/src/**', 'examples/*/src/**'], rules: { 'house/capitals': 'error' } }
]
