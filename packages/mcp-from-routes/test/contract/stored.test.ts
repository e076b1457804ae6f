import t from 'tap'
import { gitIn, type Git } from '../../src/cli/git.ts'
import { storedAt, versionAt } from '../../src/cli/stored.ts'
import { scratch } from './scratch.ts'

/** A repository of which only the files of one commit can be read. */
const holding = (files: Readonly<Record<string, object>>): Git => {
  const file: Git['file'] = async (commit, path) => commit === 'then' && path in files ? JSON.stringify(files[path]) : undefined
  return { ...gitIn('.', {}), file, filesWith: async () => Object.keys(files) }
}

t.test('the contract of an earlier state is found under the name that it had', async (t) => {
  const { folder, write } = scratch(t, 'contract-stored-')
  const place = { top: folder, path: 'packages/notes/tools.json', owner: 'packages/notes' }
  const contract = { contract: 1, tools: {} }
  write('packages/notes/here.json', '{}')
  write('packages/other/here.json', '{}')
  const begins = { hint: 'The contract starts here: later versions are compared with it', begins: true }
  const still = { hint: 'Remove the old file if this one replaces it. If it is the contract of another app, run this check with --allow-unchecked', begins: false }
  for (const [title, files, wanted] of [
    ['the same', { [place.path]: contract, 'gone.json': contract }, { path: place.path, text: JSON.stringify(contract) }],
    ['another', { 'gone.json': contract, 'packages/notes/here.json': contract }, { path: 'gone.json', text: JSON.stringify(contract) }],
    ['what only looks like one', { 'gone.json': { contract: 1 }, 'old.json': contract }, { path: 'old.json', text: JSON.stringify(contract) }],
    ['one of two', { 'gone.json': contract, 'old.json': contract }, { missing: 'there is no packages/notes/tools.json at v1, and several contracts that were there are gone: gone.json, old.json', hint: 'Move one contract at a time', begins: false }],
    ['one that is still here', { 'packages/notes/here.json': contract }, { missing: 'there is no packages/notes/tools.json at v1, but packages/notes/here.json, which is still here', ...still }],
    ['that of another package', { 'packages/other/here.json': contract }, { missing: 'there is no packages/notes/tools.json at v1', ...begins }],
    ['none', {}, { missing: 'there is no packages/notes/tools.json at v1', ...begins }]
  ] as const) t.strictSame(await storedAt('then', 'v1', place, holding(files), {}), wanted, title)
  const atTop = { ...place, path: 'tools.json', owner: '' }
  t.match(await storedAt('then', 'v1', atTop, holding({ 'packages/other/here.json': contract }), {}), { missing: 'there is no tools.json at v1, but packages/other/here.json, which is still here' })
  t.strictSame(await storedAt('then', 'v1', place, holding({}), { CI: 'true' }), { missing: 'packages/notes/tools.json is not committed', hint: 'Commit the file. Until then every run starts a new contract and compares nothing', begins: false })
  t.match(await storedAt('then', 'v1', place, { ...holding({}), file: async (commit) => commit === 'HEAD' ? '{}' : undefined }, { CI: 'true' }), { begins: true })
})

t.test('the version of a contract is that of the package that it belonged to', async (t) => {
  const owner = { folder: '/top/packages/notes', name: 'notes', version: '9.0.0' }
  const place = { top: '/top', path: 'packages/notes/contract/tools.json', owner: 'packages/notes' }
  const notes = { name: 'notes', version: '1.4.2' }
  for (const [title, path, files, wanted] of [
    ['where it is now', place.path, { 'packages/notes/package.json': notes }, '1.4.2'],
    ['where it is now, with another package.json beside it', place.path, { 'packages/notes/package.json': notes, 'packages/notes/contract/package.json': { name: 'notes', version: '2.0.0' } }, '1.4.2'],
    ['moved within the package', 'packages/notes/api/v1/tools.json', { 'packages/notes/package.json': notes, 'package.json': { name: 'notes', version: '3.0.0' } }, '1.4.2'],
    ['moved with its package', 'old/notes/tools.json', { 'old/notes/package.json': notes }, '1.4.2'],
    ['moved from the top', 'tools.json', { 'package.json': notes }, '1.4.2'],
    ['moved from a folder below the top', 'contracts/api/tools.json', { 'package.json': notes }, '1.4.2'],
    ['that of another package', 'packages/other/tools.json', { 'packages/other/package.json': { name: 'other', version: '2.0.0' }, 'package.json': notes }, undefined],
    ['no package', 'tools.json', {}, undefined]
  ] as const) t.equal(await versionAt('then', { path, text: '' }, place, owner, holding(files)), wanted, title)
  t.equal(await versionAt('then', { path: 'tools.json', text: '' }, place, { ...owner, name: '' }, holding({ 'package.json': { version: '1.0.0' } })), '1.0.0', 'packages without a name')
})

t.test('git reads the repository that its environment names', async (t) => {
  const { folder, git, write, commit } = scratch(t, 'contract-git-')
  git('init', '-q')
  write('a.txt', 'a')
  const id = commit()
  write('b c/é.txt', 'b\n')
  write('b c/d/e.txt', 'b')
  const next = commit()
  const { commit: commitOf, filesWith, folder: folderOf, commitsSince, mergeBase, file, isShallow } = gitIn(folder, process.env)
  t.equal(await commitOf('HEAD'), next)
  t.equal(await commitOf('HEAD~1'), id)
  t.equal(await mergeBase(id), id)
  t.equal(await isShallow(), false)
  t.strictSame(await filesWith(next, '^[b]$'), ['b c/d/e.txt', 'b c/é.txt'])
  t.strictSame(await filesWith(next, 'z'), [])
  t.strictSame([...(await folderOf(next, 'b c')).keys()].sort(), ['é.txt'])
  t.strictSame(await folderOf(next, 'none'), new Map())
  t.strictSame(await commitsSince(id), [{ id: next, message: 'x' }])
  t.equal(await file(next, 'b c/é.txt'), 'b\n')
  t.equal(await file(next, 'none'), undefined)
  t.equal(await gitIn(folder, { ...process.env, GIT_DIR: `${folder}/none` }).commit('HEAD'), undefined)
})
