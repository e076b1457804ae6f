import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packages } from './packages.ts'

/** Stops `npm run release publish` while a package does not say where it comes from, and who to ask. */
const missing = packages.flatMap(({ name, directory }) => {
  const manifest = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
  return ['repository', 'bugs', 'author'].filter((field) => manifest[field] === undefined).map((field) =>
    `${name}: ${field}`
  )
})
if (missing.length > 0) throw new Error(`Missing in package.json:\n${missing.join('\n')}`)
