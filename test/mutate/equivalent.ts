/* eslint no-template-curly-in-string: 0 -- these are lines of sources */
import type { Mutant } from './mutants.ts'

/** A mutant that no test can notice. */
export interface Equivalent extends Pick<Mutant, 'file' | 'within' | 'before' | 'after'> {
  readonly reason: string
}

/** Mutants that are not drawn, in the words that `npm run mutate` prints. One that no longer exists fails the run. */
export const equivalents: readonly Equivalent[] = [
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
    file: 'packages/dual-auth/src/index.ts',
    within: 'plugin',
    before: 'app.decorateRequest(guard.outcome, null)',
    after: ';',
    reason: 'A property that a request gets later works the same: declaring it only saves time.'
  },
  {
    file: 'packages/dual-auth/src/index.ts',
    within: 'plugin',
    before: 'app.decorateRequest(guard.outcome, null)',
    after: 'app.decorateRequest(guard.outcome)',
    reason: 'Undefined means the same as null there.'
  },
  {
    file: 'packages/dual-auth/src/keys/last-used.ts',
    within: 'sweep',
    before: 'if (now - lastSweep < interval) return',
    after: 'if (now - lastSweep <= interval) return',
    reason: 'The guard only saves time, and a sweep may come a millisecond later.'
  },
  {
    file: 'packages/dual-auth/src/keys/last-used.ts',
    within: 'sweep',
    before: 'lastSweep = now',
    after: ';',
    reason: 'Every write sweeps from then on: the guard only saves time.'
  },
  {
    file: 'packages/dual-auth/src/keys/last-used.ts',
    within: 'sweep',
    before: 'for (const [network, at] of networks) if (now - at >= interval) networks.delete(network)',
    after: 'for (const [network, at] of networks) if (now - at > interval) networks.delete(network)',
    reason: 'The next use deletes what has the age of the interval, and so does the next sweep.'
  },
  {
    file: 'packages/dual-auth/src/management/compilers.ts',
    within: 'compileOwnSchemas',
    before: 'validateSchema: false',
    after: 'validateSchema: true',
    reason: 'The schemas are valid: validating them only takes time.'
  },
  {
    file: 'packages/dual-auth/src/management/compilers.ts',
    within: 'compileOwnSchemas',
    before: 'removeAdditional: false, // The schemas are constants; validating them takes longer than compiling them. validateSchema: false',
    after: 'removeAdditional: false',
    reason: 'The schemas are valid: validating them only takes time.'
  },
  {
    file: 'packages/dual-auth/src/management/routes.ts',
    within: 'managementRoutes',
    before: 'const parseJson = app.getDefaultJsonParser(\'error\', \'error\')',
    after: 'const parseJson = app.getDefaultJsonParser(\'\', \'error\')',
    reason: 'The parser takes an empty action for "error".'
  },
  {
    file: 'packages/dual-auth/src/management/routes.ts',
    within: 'managementRoutes',
    before: 'const parseJson = app.getDefaultJsonParser(\'error\', \'error\')',
    after: 'const parseJson = app.getDefaultJsonParser(\'error\', \'\')',
    reason: 'The parser takes an empty action for "error".'
  },
  {
    file: 'packages/dual-auth/src/keys/verify.ts',
    within: 'matches',
    before: 'return cost <= LOG_N_INLINE ? hashMatchesInline(hash, key) : queue(() => hashMatches(hash, key))',
    after: 'return cost < LOG_N_INLINE ? hashMatchesInline(hash, key) : queue(() => hashMatches(hash, key))',
    reason: 'Both ways give the same verdict: at this cost they also take about the same time.'
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
    file: 'packages/mcp-from-routes/src/contract/patterns.ts',
    within: 'normalPattern',
    before: 'if (matches(pattern, \'\') === undefined) return pattern',
    after: 'if (matches(pattern, \'changed\') === undefined) return pattern',
    reason: 'Whether a pattern can be read does not depend on the text.'
  },
  {
    file: 'packages/mcp-from-routes/src/contract/certainty.ts',
    within: 'candidates',
    before: 'const numbers = [0, 1, -1, 0.5, ...bounds.flatMap((bound) => [bound, bound - 1, bound + 1, bound - 0.5, bound + 0.5, ...steps.flatMap((step) => [-1, 0, 1].map((by) => (Math.round(bound / step) + by) * step))])]',
    after: 'const numbers = [0, 1, -1, 0.5, ...bounds.flatMap((bound) => [bound, bound - 1, bound + 1, bound - 0.5, bound + 0.5, ...steps.flatMap((step) => [-1, 0, 1].map((by) => (Math.round(bound / step) - by) * step))])]',
    reason: 'The same three numbers in another order.'
  },
  {
    file: 'packages/mcp-from-routes/src/contract/certainty.ts',
    within: '',
    before: 'const LONGEST_TIME = 1_000',
    after: 'const LONGEST_TIME = 1001',
    reason: 'A millisecond more or less decides nothing.'
  },
  {
    file: 'packages/mcp-from-routes/src/contract/facts.ts',
    within: 'wholeNumbers',
    before: 'return Array.from({ length: most - least + 1 }, (_, index) => least + index)',
    after: 'return Array.from({ length: most - least + 2 }, (_, index) => least + index)',
    reason: 'The maximum rejects the extra number.'
  },
  {
    file: 'packages/mcp-from-routes/src/contract/names.ts',
    within: 'visit',
    before: 'if (olds.length === 0 || news.length === 0 || outer.includes(key) || budget-- <= 0) return',
    after: 'if (olds.length === 0 || news.length === 0 || outer.includes(key) || budget-- < 0) return',
    reason: 'Once the budget is spent the answer is that there are too many, however many more are looked at.'
  },
  {
    file: 'packages/mcp-from-routes/src/confirm/seal.ts',
    within: 'canonical',
    before: '? Object.fromEntries(Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1))',
    after: '? Object.fromEntries(Object.entries(value).sort(([a], [b]) => a < b ? -2 : 1))',
    reason: 'A sort reads the sign alone.'
  },
  {
    file: 'packages/mcp-from-routes/src/tool/path.ts',
    within: 'endOfGroup',
    before: 'for (let i = start; i < path.length; i++) {',
    after: 'for (let i = start; i <= path.length; i++) {',
    reason: 'Past its end a path has no character that counts.'
  },
  {
    file: 'packages/mcp-from-routes/src/tool/refs.ts',
    within: '',
    before: 'const ROOT = \'\\0root\'',
    after: 'const ROOT = \'\'',
    reason: 'No schema that a reference can reach has an empty $id.'
  },
  {
    file: 'packages/mcp-from-routes/src/tool/defaults.ts',
    within: '',
    before: 'const FILLED = 1',
    after: 'const FILLED = 2',
    reason: 'What holds of a place is one bit here, and any bit will do.'
  },
  {
    file: 'packages/mcp-from-routes/src/contract/arrays.ts',
    within: 'itemGaps',
    before: 'const deeper = { ...comparison, depth: comparison.depth + 1 }',
    after: 'const deeper = { ...comparison, depth: comparison.depth + 2 }',
    reason: 'Only whether a value is deeper inside than another counts, and not how much deeper.'
  },
  {
    file: 'packages/mcp-from-routes/src/contract/arrays.ts',
    within: 'containsGaps',
    before: 'const isEvery = items !== undefined && comparison.gapsIn(items, contains, inItem(path), { ...comparison, depth: comparison.depth + 1 }).length === 0',
    after: 'const isEvery = items !== undefined && comparison.gapsIn(items, contains, inItem(path), { ...comparison, depth: comparison.depth + 2 }).length === 0',
    reason: 'Only whether a value is deeper inside than another counts, and not how much deeper.'
  },
  {
    file: 'packages/mcp-from-routes/src/contract/objects.ts',
    within: 'objectGaps',
    before: 'const deeper = { ...comparison, depth: comparison.depth + 1 }',
    after: 'const deeper = { ...comparison, depth: comparison.depth + 2 }',
    reason: 'Only whether a value is deeper inside than another counts, and not how much deeper.'
  },
  {
    file: 'packages/mcp-from-routes/src/contract/names.ts',
    within: 'visit',
    before: 'if (olds.length === 0 || news.length === 0 || outer.includes(key) || budget-- <= 0) return',
    after: 'if (olds.length === 0 || news.length === 0 || outer.includes(key) || budget-- <= 1) return',
    reason: 'Once the budget is spent, the answer is that there are too many, whether the last visit goes on or not.'
  },
  {
    file: 'packages/mcp-from-routes/src/contract/containment.ts',
    within: 'gapsBetween',
    before: 'const comparison: Comparison = { from: documentOf(from), to: documentOf(to), depth: 0, begun: new Map(), proved: new Set<string>(), budget: { left: BUDGET, assumed: 0 }, namedOnly, gapsIn }',
    after: 'const comparison: Comparison = { from: documentOf(from), to: documentOf(to), depth: 1, begun: new Map(), proved: new Set<string>(), budget: { left: BUDGET, assumed: 0 }, namedOnly, gapsIn }',
    reason: 'Only whether a value is deeper inside than another counts, and not where counting begins.'
  },
  {
    file: 'packages/mcp-from-routes/src/contract/containment.ts',
    within: 'gapsBetween',
    before: 'const comparison: Comparison = { from: documentOf(from), to: documentOf(to), depth: 0, begun: new Map(), proved: new Set<string>(), budget: { left: BUDGET, assumed: 0 }, namedOnly, gapsIn }',
    after: 'const comparison: Comparison = { from: documentOf(from), to: documentOf(to), depth: 0, begun: new Map(), proved: new Set<string>(), budget: { left: BUDGET, assumed: 1 }, namedOnly, gapsIn }',
    reason: 'Only whether the count rises is looked at.'
  },
  {
    file: 'packages/mcp-from-routes/src/endpoint/oversized.ts',
    within: 'idOfOversized',
    before: 'if (start.length < WINDOW) start = Buffer.concat([start, chunk.subarray(0, WINDOW - start.length)])',
    after: 'if (start.length <= WINDOW) start = Buffer.concat([start, chunk.subarray(0, WINDOW - start.length)])',
    reason: 'Nothing is added to a window that is full.'
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
    after: 'if (this.readableFlowing === null && (this.listenerCount(\'close\') >= 0 || this.listenerCount(\'end\') > 0)) this.resume()',
    reason: 'A stream that nobody listens to ends unseen: the condition only saves time.'
  },
  {
    file: 'packages/mcp-from-routes/src/call/light.ts',
    within: 'release',
    before: 'if (this.readableFlowing === null && (this.listenerCount(\'close\') > 0 || this.listenerCount(\'end\') > 0)) this.resume()',
    after: 'if (this.readableFlowing === null && (this.listenerCount(\'close\') > 0 || this.listenerCount(\'end\') >= 0)) this.resume()',
    reason: 'A stream that nobody listens to ends unseen: the condition only saves time.'
  },
  {
    file: 'packages/mcp-from-routes/src/call/light.ts',
    within: 'release',
    before: 'if (this.readableFlowing === null && (this.listenerCount(\'close\') > 0 || this.listenerCount(\'end\') > 0)) this.resume()',
    after: 'if ((this.readableFlowing === null)) this.resume()',
    reason: 'A stream that nobody listens to ends unseen: the condition only saves time.'
  },
  {
    file: 'packages/oauth-discovery-shim/src/broker/store/memory.ts',
    within: 'raise',
    before: 'for (const [name, { expires }] of entries) if (expires <= since) entries.delete(name)',
    after: 'for (const [name, { expires }] of entries) if (expires < since) entries.delete(name)',
    reason: 'An entry that has expired counts as none, whether it is there or not.'
  },
  {
    file: 'packages/oauth-discovery-shim/src/scope.ts',
    within: 'compileNothing',
    before: 'scope.setValidatorCompiler(() => () => true)',
    after: 'scope.setValidatorCompiler(() => () => false)',
    reason: 'Fastify rejects a request by the errors of its validator, and this one has none.'
  },
  {
    file: 'packages/oauth-discovery-shim/src/broker/seal.ts',
    within: 'open',
    before: 'const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES }).setAuthTag(bytes.subarray(-TAG_BYTES))',
    after: 'const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_BYTES)).setAuthTag(bytes.subarray(-TAG_BYTES))',
    reason: 'Only an empty text comes with a shorter tag, and that is not JSON.'
  },
  {
    file: 'packages/oauth-discovery-shim/src/broker/seal.ts',
    within: 'open',
    before: 'const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES }).setAuthTag(bytes.subarray(-TAG_BYTES))',
    after: 'const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_BYTES), { }).setAuthTag(bytes.subarray(-TAG_BYTES))',
    reason: 'Only an empty text comes with a shorter tag, and that is not JSON.'
  },
  {
    file: 'packages/pay-reconcile/src/cli/tables.ts',
    within: 'entries',
    before: 'return Object.entries(counters).sort(([a], [b]) => a < b ? -1 : 1).map(([name, count]) => [name, String(count)])',
    after: 'return Object.entries(counters).sort(([a], [b]) => a <= b ? -1 : 1).map(([name, count]) => [name, String(count)])',
    reason: 'No two keys of an object are equal.'
  },
  {
    file: 'packages/pay-reconcile/src/reconcile/runner.ts',
    within: 'renewLease',
    before: 'if (Date.now() - renewed > limits.leaseDuration) lost.abort()',
    after: 'if (Date.now() - renewed >= limits.leaseDuration) lost.abort()',
    reason: 'In the very millisecond in which a lease lapses by the clock of this process, both are right: the clock of the database decides.'
  },
  {
    file: 'packages/pay-reconcile/src/schedule/options.ts',
    within: 'latestSlot',
    before: 'while (before < years && !nextOf(now.getTime() - before)) before *= 2',
    after: 'while (before <= years && !nextOf(now.getTime() - before)) before *= 2',
    reason: 'Nine years are no minute that was doubled.'
  },
  {
    file: 'packages/pay-reconcile/src/schedule/options.ts',
    within: 'latestSlot',
    before: 'while (to - from > second) {',
    after: 'while (to - from >= second) {',
    reason: 'Halves of doubled minutes are never a second: 1875 milliseconds, then 937 or 938.'
  },
  {
    file: 'packages/mcp-from-routes/src/endpoint/list.ts',
    within: 'writtenPages',
    before: 'return (era, cursor, request) => (cursor === undefined ? written[era].get(0) : undefined) ?? page(era, cursor, request)',
    after: 'return (era, cursor, request) => (page(era, cursor, request))',
    reason: 'The other way gives the page that was kept, too: this one is only faster.'
  },
  {
    file: 'packages/mcp-from-routes/src/endpoint/list.ts',
    within: 'writtenPages',
    before: 'return (era, cursor, request) => (cursor === undefined ? written[era].get(0) : undefined) ?? page(era, cursor, request)',
    after: 'return (era, cursor, request) => (cursor === undefined ? written[era].get(1) : undefined) ?? page(era, cursor, request)',
    reason: 'The other way gives the page that was kept, too: this one is only faster.'
  },
  {
    file: 'packages/mcp-from-routes/src/call/loopback.ts',
    within: 'checkLoopback',
    before: 'const req = new LightRequest({ method: \'GET\', url: \'/\', params: new Map(), headers: {}, body: undefined }, outer, socket)',
    after: 'const req = new LightRequest({ method: \'\', url: \'/\', params: new Map(), headers: {}, body: undefined }, outer, socket)',
    reason: 'The check looks at the response alone.'
  },
  {
    file: 'packages/mcp-from-routes/src/call/loopback.ts',
    within: 'checkLoopback',
    before: 'const req = new LightRequest({ method: \'GET\', url: \'/\', params: new Map(), headers: {}, body: undefined }, outer, socket)',
    after: 'const req = new LightRequest({ method: \'GET\', url: \'\', params: new Map(), headers: {}, body: undefined }, outer, socket)',
    reason: 'The check looks at the response alone.'
  },
  {
    file: 'packages/mcp-from-routes/src/call/stop.ts',
    within: 'track',
    before: 'open.delete(stop)',
    after: ';',
    reason: 'Stopping an answered message has no effect: the call only frees memory.'
  },
  {
    file: 'packages/mcp-from-routes/src/confirm/held.ts',
    within: 'isConfirmed',
    before: 'return fallback === \'token\' && typeof token === \'string\' && sealer.isToken(token, subject) && await confirmStore.use(token, LIFETIME)',
    after: 'return (typeof token === \'string\') && sealer.isToken(token, subject) && await confirmStore.use(token, LIFETIME)',
    reason: 'With any other fallback the digest covers the token itself, so no token matches.'
  },
  {
    file: 'packages/mcp-from-routes/src/confirm/seal.ts',
    within: 'canonical',
    before: '? Object.fromEntries(Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1))',
    after: '? Object.fromEntries(Object.entries(value).sort(([a], [b]) => a <= b ? -1 : 1))',
    reason: 'No two keys of an object are equal.'
  },
  {
    file: 'packages/mcp-from-routes/src/options.ts',
    within: 'settingsFromOptions',
    before: 'for (const [name, value] of Object.entries({ bodyLimit: bodyLimit ?? 1, maxResultBytes, toolTimeout, pageSize })) {',
    after: 'for (const [name, value] of Object.entries({ bodyLimit: bodyLimit ?? 2, maxResultBytes, toolTimeout, pageSize })) {',
    reason: 'Any positive integer passes the check.'
  },
  {
    file: 'packages/mcp-from-routes/src/contract/patterns.ts',
    within: 'normalClass',
    before: 'for (let index = 0; index < members.length; index++) {',
    after: 'for (let index = 0; index <= members.length; index++) {',
    reason: 'One round more adds an empty atom to every list, so the same lists differ.'
  },
  {
    file: 'packages/mcp-from-routes/src/contract/containment.ts',
    within: 'gapsIn',
    before: 'if (budget.left-- <= 0) return [cannotTell(path, \'size\', \'too large to compare\')]',
    after: 'if (budget.left-- < 0) return [cannotTell(path, \'size\', \'too large to compare\')]',
    reason: 'One comparison more, after 100,000, makes no difference.'
  },
  {
    file: 'packages/mcp-from-routes/src/endpoint/tasks/result.ts',
    within: 'resultOf',
    before: 'if (Date.now() + wait > end) throw new ProtocolError(ProtocolErrorCode.InternalError, `The task is still running. Get its status with tasks/get in ${Math.ceil(wait / 1000)} s`)',
    after: 'if (Date.now() + wait >= end) throw new ProtocolError(ProtocolErrorCode.InternalError, `The task is still running. Get its status with tasks/get in ${Math.ceil(wait / 1000)} s`)',
    reason: 'A task may be waited for a millisecond longer.'
  },
  {
    file: 'packages/mcp-from-routes/src/contract/containment.ts',
    within: 'anyOfGaps',
    before: 'if (branches.some((branch) => facts.some((fact) => sameSchema(fact, comparison.from, branch, comparison.to)))) return []',
    after: ';',
    reason: 'The guard only saves time: the same schema leaves no gap either.'
  },
  {
    file: 'packages/mcp-from-routes/src/contract/document.ts',
    within: 'canonical',
    before: 'if (!isObject(value)) return Array.isArray(value) ? `[${value.map((part) => part === undefined ? \'null\' : canonical(part)).join()}]` : JSON.stringify(value) ?? \'undefined\'',
    after: 'if (!isObject(value)) return Array.isArray(value) ? `[${value.map((part) => part === undefined ? \'null\' : canonical(part))}]` : JSON.stringify(value) ?? \'undefined\'',
    reason: 'In a template, an array is joined by commas as well.'
  },
  {
    file: 'packages/mcp-from-routes/src/contract/document.ts',
    within: 'canonical',
    before: 'const text = `{${parts.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join()}}`',
    after: 'const text = `{${parts.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`)}}`',
    reason: 'In a template, an array is joined by commas as well.'
  },
  {
    file: 'packages/mcp-from-routes/src/contract/document.ts',
    within: 'canonical',
    before: 'if (known !== undefined) return known',
    after: ';',
    reason: 'The guard only saves time: the text of a value does not change.'
  },
  {
    file: 'packages/mcp-from-routes/src/contract/document.ts',
    within: 'canonical',
    before: 'texts.set(value, text)',
    after: ';',
    reason: 'Without it every text is made anew, which only takes time.'
  },
  {
    file: 'packages/mcp-from-routes/src/tool/routes.ts',
    within: 'labelOf',
    before: 'return `${[method].flat().join(\',\')} ${url}`',
    after: 'return `${[method].flat()} ${url}`',
    reason: 'In a template, an array is joined by commas as well.'
  },
  {
    file: 'packages/mcp-from-routes/src/tool/implied.ts',
    within: 'impliedShower',
    before: 'const forms = made.get(tool) ?? new Map<string, Tool>()',
    after: 'const forms = (new Map<string, Tool>())',
    reason: 'Keeping forms only saves time: the same names give the same form.'
  },
  {
    file: 'packages/mcp-from-routes/src/tool/implied.ts',
    within: 'impliedShower',
    before: 'made.set(tool, forms)',
    after: ';',
    reason: 'Keeping forms only saves time: the same names give the same form.'
  },
  {
    file: 'packages/mcp-from-routes/src/tool/implied.ts',
    within: 'impliedShower',
    before: 'const form = forms.get(key) ?? { ...tool, public: Object.freeze({ ...tool.public, inputSchema: withOptional(tool.public.inputSchema, names) }) }',
    after: 'const form = ({ ...tool, public: Object.freeze({ ...tool.public, inputSchema: withOptional(tool.public.inputSchema, names) }) })',
    reason: 'Keeping forms only saves time: the same names give the same form.'
  },
  {
    file: 'packages/mcp-from-routes/src/tool/implied.ts',
    within: 'impliedShower',
    before: 'forms.set(key, form)',
    after: ';',
    reason: 'Keeping forms only saves time: the same names give the same form.'
  },
  {
    file: 'packages/mcp-from-routes/src/cli/version.ts',
    within: 'rosePrerelease',
    before: 'return number === other ? is > was : Boolean(number)',
    after: 'return number === other ? is >= was : Boolean(number)',
    reason: 'The two are never equal: they are the first identifiers that differ.'
  },
  {
    file: 'packages/mcp-from-routes/src/cli/version.ts',
    within: 'bumpBetween',
    before: 'return Number(after[first]) > Number(before[first]) ? ([\'major\', \'minor\', \'patch\'] as const)[first] ?? \'none\' : \'none\'',
    after: 'return Number(after[first]) >= Number(before[first]) ? ([\'major\', \'minor\', \'patch\'] as const)[first] ?? \'none\' : \'none\'',
    reason: 'The two are never equal: they are the first numbers that differ.'
  },
  {
    file: 'packages/mcp-from-routes/src/tool/probe.ts',
    within: 'replySerializers',
    before: 'const key = Symbol(\'mcp-from-routes.replySerializer\')',
    after: 'const key = Symbol(\'\')',
    reason: 'The description of a symbol is for debuggers.'
  },
  {
    file: 'packages/mcp-from-routes/src/contract/containment.ts',
    within: 'gapsInCases',
    before: 'const isUnions = unionsOf(schema).length > 0 && facts.some((fact) => unionsOf(fact).length > 0)',
    after: 'const isUnions = unionsOf(schema).length >= 0 && facts.some((fact) => unionsOf(fact).length > 0)',
    reason: 'It decides only what is tried first: whatever the keywords alone prove, their cases prove as well.'
  },
  {
    file: 'packages/mcp-from-routes/src/contract/containment.ts',
    within: 'gapsInCases',
    before: 'const isUnions = unionsOf(schema).length > 0 && facts.some((fact) => unionsOf(fact).length > 0)',
    after: 'const isUnions = unionsOf(schema).length > 0 && facts.some((fact) => unionsOf(fact).length >= 0)',
    reason: 'It decides only what is tried first: whatever the keywords alone prove, their cases prove as well.'
  },
  {
    file: 'packages/mcp-from-routes/src/contract/containment.ts',
    within: 'gapsInCases',
    before: 'const isUnions = unionsOf(schema).length > 0 && facts.some((fact) => unionsOf(fact).length > 0)',
    after: 'const isUnions = (unionsOf(schema).length > 0)',
    reason: 'It decides only what is tried first: whatever the keywords alone prove, their cases prove as well.'
  },
  {
    file: 'packages/mcp-from-routes/src/contract/containment.ts',
    within: 'gapsInCases',
    before: 'const isUnions = unionsOf(schema).length > 0 && facts.some((fact) => unionsOf(fact).length > 0)',
    after: 'const isUnions = (facts.some((fact) => unionsOf(fact).length > 0))',
    reason: 'It decides only what is tried first: whatever the keywords alone prove, their cases prove as well.'
  },
  {
    file: 'packages/mcp-from-routes/src/contract/containment.ts',
    within: 'gapsInCases',
    before: 'return !found.some(({ certain }) => certain) || areApart(facts, comparison) ? found : found.map((gap) => ({ ...gap, certain: false }))',
    after: 'return (areApart(facts, comparison)) ? found : found.map((gap) => ({ ...gap, certain: false }))',
    reason: 'The guard only saves time: where nothing is certain, nothing changes.'
  },
  {
    file: 'packages/mcp-from-routes/src/task/seal.ts',
    within: 'open',
    before: 'if (bytes.length <= IV + TAG || bytes.toString(\'base64url\') !== id) return undefined',
    after: 'if (bytes.length < IV + TAG || bytes.toString(\'base64url\') !== id) return undefined',
    reason: 'The cipher rejects what is too short as well.'
  },
  {
    file: 'packages/mcp-from-routes/src/task/seal.ts',
    within: 'open',
    before: 'if (bytes.length <= IV + TAG || bytes.toString(\'base64url\') !== id) return undefined',
    after: 'if (bytes.length <= IV - TAG || bytes.toString(\'base64url\') !== id) return undefined',
    reason: 'The cipher rejects what is too short as well.'
  },
  {
    file: 'packages/mcp-from-routes/src/task/seal.ts',
    within: 'open',
    before: 'if (bytes.length <= IV + TAG || bytes.toString(\'base64url\') !== id) return undefined',
    after: 'if ((bytes.toString(\'base64url\') !== id)) return undefined',
    reason: 'The cipher rejects what is too short as well.'
  }
]

export function isSame (one: Omit<Equivalent, 'reason'>, other: Omit<Equivalent, 'reason'>): boolean {
  return one.file === other.file && one.within === other.within && one.before === other.before && one.after === other.after
}

/** Entries for files below `home` that are not one of its mutants. */
export function stale (mutants: readonly Mutant[], home: string): readonly Equivalent[] {
  return equivalents.filter((entry) => entry.file.startsWith(`${home}/`) && !mutants.some((mutant) => isSame(entry, mutant)))
}
