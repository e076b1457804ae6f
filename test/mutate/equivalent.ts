/* eslint no-template-curly-in-string: 0 -- these are lines of sources */
import type { Mutant } from './mutants.ts'

/** A mutant that no test can notice. */
export interface Equivalent extends Pick<Mutant, 'file' | 'within' | 'before' | 'after'> {
  readonly reason: string
}

/** Mutants that are not drawn, in the words that `npm run mutate` prints. One that no longer exists fails the run. */
export const equivalents: readonly Equivalent[] = [
  {
    file: 'packages/dual-auth/src/keys/knex.ts',
    within: 'list',
    before: 'const query = knex.from(matching.clone().select(RETURNED).orderByRaw(...order).offset(skip).limit(limit).as(\'page\')) .rightJoin(matching.clone().count(\'* as count\').as(\'every\'), knex.raw(\'true\')) .rightJoin(ofShop.clone().select(count(\'active\'), count(\'expired\'), count(\'revoked\')).as(\'statuses\'), knex.raw(\'true\')) .select<Array<RecordRow & Readonly<Record<\'count\' | KeyStatus, number | string>>>>(\'page.*\', \'every.count\', \'statuses.*\').orderByRaw(...order)',
    after: 'const query = knex.from(matching.clone().select(RETURNED).orderByRaw(...order).offset(skip).limit(limit).as(\'page\')) .rightJoin(matching.clone().count(\'* as count\').as(\'every\'), knex.raw(\'true\')) .rightJoin(ofShop.clone().select(count(\'active\'), count(\'expired\'), count(\'revoked\')).as(\'statuses\'), knex.raw(\'true\')) .select<Array<RecordRow & Readonly<Record<\'count\' | KeyStatus, number | string>>>>(\'page.*\', \'every.count\', \'statuses.*\')',
    reason: 'PostgreSQL joins single rows to the page without changing its order, though SQL does not promise it.'
  },
  {
    file: 'packages/dual-auth/src/keys/last-used.ts',
    within: 'sweep',
    before: 'if (now - lastSweep < interval) return',
    after: ';',
    reason: 'The guard only saves time: a sweep deletes nothing that is younger than the interval.'
  },
  {
    file: 'packages/dual-auth/src/keys/last-used.ts',
    within: 'sweep',
    before: 'if (now - lastSweep < interval) return',
    after: 'if (now + lastSweep < interval) return',
    reason: 'Never true, so every write sweeps: the guard only saves time.'
  },
  {
    file: 'packages/dual-auth/src/keys/verify.ts',
    within: 'identityFromKey',
    before: 'const matches = cost !== null && (cost <= LOG_N_INLINE ? hashMatchesInline(row.hash, key) : await queue(() => hashMatches(row.hash, key)))',
    after: 'const matches = cost !== null && (cost < LOG_N_INLINE ? hashMatchesInline(row.hash, key) : await queue(() => hashMatches(row.hash, key)))',
    reason: 'Both ways give the same verdict: at this cost they also take about the same time.'
  },
  {
    file: 'packages/mcp-from-routes/src/contract/snapshot.ts',
    within: 'textFromContract',
    before: 'const tools = Object.fromEntries([...contract].sort(([a], [b]) => a < b ? -1 : 1).map(([name, { inputSchema, outputSchema, declaredOutput, ...tool }]) => [name, {',
    after: 'const tools = Object.fromEntries([...contract].sort(([a], [b]) => a <= b ? -1 : 1).map(([name, { inputSchema, outputSchema, declaredOutput, ...tool }]) => [name, {',
    reason: 'No two keys of a map are equal.'
  },
  {
    file: 'packages/mcp-from-routes/src/endpoint/answer.ts',
    within: 'contentJson',
    before: 'return content.length === 1 && first?.type === \'text\' ? `[{"type":"text","text":${JSON.stringify(first.text)}}]` : JSON.stringify(content)',
    after: 'return content.length === 1 && first?.type === \'\' ? `[{"type":"text","text":${JSON.stringify(first.text)}}]` : JSON.stringify(content)',
    reason: 'JSON.stringify writes the same: the other way is only faster.'
  },
  {
    file: 'packages/mcp-from-routes/src/endpoint/wire.ts',
    within: 'isJson',
    before: 'return contentType === \'application/json\' || /^application\\/json\\s*(;|$)/i.test(contentType ?? \'\')',
    after: 'return (/^application\\/json\\s*(;|$)/i.test(contentType ?? \'\'))',
    reason: 'The expression matches what the comparison does: that is only faster.'
  },
  {
    file: 'packages/mcp-from-routes/src/contract/containment.ts',
    within: 'oneOfGaps',
    before: 'const isOne = [...likely < 0 ? branches.keys() : [likely]].some((index) => gapsIn(facts, branches[index], path, comparison).length === 0 &&',
    after: 'const isOne = [...likely <= 0 ? branches.keys() : [likely]].some((index) => gapsIn(facts, branches[index], path, comparison).length === 0 &&',
    reason: 'If the first branch is one of the facts, nothing with the facts is in another branch only: to look at those takes time alone.'
  },
  {
    file: 'packages/mcp-from-routes/src/endpoint/wire.ts',
    within: 'isSame',
    before: 'for (const name in a) if (!Object.hasOwn(b, name) || !isSame(a[name], b[name])) return false',
    after: 'for (const name in a) if (Object.hasOwn(b, name) || !isSame(a[name], b[name])) return false',
    reason: 'Envelopes that are not known to be the same get the same answer by their key, later.'
  },
  {
    file: 'packages/mcp-from-routes/src/call/light.ts',
    within: 'release',
    before: 'if (this.readableFlowing === null && (this.listenerCount(\'close\') > 0 || this.listenerCount(\'end\') > 0)) this.resume()',
    after: 'if ((this.readableFlowing === null)) this.resume()',
    reason: 'A stream that nobody listens to ends unseen: the condition only saves time.'
  },
  {
    file: 'packages/pay-reconcile/src/cli/tables.ts',
    within: 'entries',
    before: 'return Object.entries(counters).sort(([a], [b]) => a < b ? -1 : 1).map(([name, count]) => [name, String(count)])',
    after: 'return Object.entries(counters).sort(([a], [b]) => a <= b ? -1 : 1).map(([name, count]) => [name, String(count)])',
    reason: 'No two keys of an object are equal.'
  }
]

export function isSame (one: Omit<Equivalent, 'reason'>, other: Omit<Equivalent, 'reason'>): boolean {
  return one.file === other.file && one.within === other.within && one.before === other.before && one.after === other.after
}

/** Entries for files below `home` that are not one of its mutants. */
export function stale (mutants: readonly Mutant[], home: string): readonly Equivalent[] {
  return equivalents.filter((entry) => entry.file.startsWith(`${home}/`) && !mutants.some((mutant) => isSame(entry, mutant)))
}
