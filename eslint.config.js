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
    rules: {
      // A link in a docstring, a regular expression and a program in a test cannot be broken; the title of a test is a
      // sentence.
      'max-len': ['error', {
        code: 120,
        tabWidth: 2,
        ignoreRegExpLiterals: true,
        ignoreTemplateLiterals: true,
        ignorePattern: '^ +\\* +(\\[.+\\]\\()?https://\\S+$|^ *t\\.test\\('
      }],
      'max-params': ['error', 5],
      'no-nested-ternary': 'error'
    }
  },
  // Some of its hottest functions take their values one by one.
  { files: ['packages/mcp-from-routes/**'], rules: { 'max-params': ['error', 6] } },
  { files: ['**/*.ts', '**/*.tsx'], rules: { '@typescript-eslint/no-import-type-side-effects': 'error' } },
  { files: ['packages/*/src/**', 'examples/*/src/**'], rules: { 'house/capitals': 'error' } }
]
