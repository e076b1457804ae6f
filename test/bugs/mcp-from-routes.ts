/* eslint no-template-curly-in-string: 0 -- these are lines of sources */
import type { Bug } from './bug.ts'

export const bugs: readonly Bug[] = [
  {
    suffered: 'a page of Japanese text gets past `maxResultBytes`: characters are counted as bytes',
    file: 'src/call/result.ts',
    before: 'if (Buffer.byteLength(response.body) > context.maxResultBytes)',
    after: 'if (response.body.length > context.maxResultBytes)',
    noticedBy: 'test/options.test.ts'
  },
  {
    suffered: 'a route with a body in another alphabet gets half of it: the length counts characters',
    file: 'src/call/light.ts',
    before: "headers['content-length'] = String(Buffer.byteLength(body))",
    after: "headers['content-length'] = String(body.length)",
    noticedBy: 'test/loopback.test.ts'
  },
  {
    suffered: 'progress of a character that two pieces share is garbled',
    file: 'src/call/progress.ts',
    before: '(text + decoder.write(chunk))',
    after: '(text + chunk.toString())',
    noticedBy: 'test/progress.test.ts'
  },
  {
    suffered: 'JSON of a route that writes `Application/JSON` reaches the model as text without structure',
    file: 'src/call/result.ts',
    before: ".replace(/;.*/s, '').trim().toLowerCase()",
    after: ".replace(/;.*/s, '').trim()",
    noticedBy: 'test/result.test.ts'
  },
  {
    suffered: 'a call that may have been carried out is said to be safe to repeat when the route fails',
    file: 'src/call/result.ts',
    before: '${statusText(statusCode)}.${context.open} The request id',
    after: '${statusText(statusCode)}. The request id',
    noticedBy: 'test/result.test.ts'
  },
  {
    suffered: 'the model repeats a write whose answer was too large, because it reads that it should narrow the call',
    file: 'src/call/result.ts',
    before: "if (open !== '') return cut",
    after: "if (open !== '' && cut) return cut",
    noticedBy: 'test/result.test.ts'
  },
  {
    suffered: 'a 403 about a missing permission signs the user out',
    file: 'src/call/result.ts',
    before: ': statusCode === 403 && /\\berror="?insufficient_scope\\b/.test(authenticate)',
    after: ": statusCode === 403 && authenticate !== ''",
    noticedBy: 'test/result.test.ts'
  },
  {
    suffered: 'an address with `/` or `?` in an id reaches another route, or none',
    file: 'src/tool/path.ts',
    before: 'encodeURIComponent(',
    after: 'encodeURI(',
    noticedBy: 'test/request.test.ts'
  },
  {
    suffered: 'two answers that are given at once carry out a confirmed call twice',
    file: 'src/confirm/held.ts',
    before: 'sealer.isFor(state, subject) && await confirmStore.use(state.id, LIFETIME)',
    after: 'sealer.isFor(state, subject) && (await confirmStore.use(state.id, LIFETIME), true)',
    noticedBy: 'test/confirm/attacks.test.ts'
  },
  {
    suffered: 'a person who said yes to one deletion has said yes to another one',
    file: 'src/confirm/seal.ts',
    before: 'serverInfo.name, callerOf(outer), tool, args, question])',
    after: 'serverInfo.name, callerOf(outer), tool, question])',
    noticedBy: 'test/confirm/attacks.test.ts'
  },
  {
    suffered: 'a yes counts for ever: its time is never looked at',
    file: 'src/confirm/seal.ts',
    before: 'isFor: ({ of, until }, subject) => until >= Date.now() && of ===',
    after: 'isFor: ({ of, until }, subject) => of ===',
    noticedBy: 'test/confirm/attacks.test.ts'
  },
  {
    suffered: 'a person agrees to a text in which an invisible character turned the order round',
    file: 'src/confirm/question.ts',
    before: "text.slice(0, 4 * MAX_DATA).replace(UNSEEN, ' ')",
    after: "text.slice(0, 4 * MAX_DATA).replace(/\\p{Cc}/gu, ' ')",
    noticedBy: 'test/confirm/question.test.ts'
  },
  {
    suffered: 'a confirmation is accepted twice around the moment at which the store forgets',
    file: 'src/confirm/store.ts',
    before: 'older = now - since >= 2 * ttl ? new Set() : recent',
    after: 'older = new Set()',
    noticedBy: 'test/confirm/rounds.test.ts'
  },
  {
    suffered: 'the task of one person can be followed by another',
    file: 'src/task/seal.ts',
    before: 'JSON.stringify([serverInfo.name, callerOf(outer)])',
    after: 'JSON.stringify([serverInfo.name])',
    noticedBy: 'test/task/attacks.test.ts'
  },
  {
    suffered: 'somebody who lost access to a tool still reads the result of its task',
    file: 'src/endpoint/tasks/open.ts',
    before: 'const tool = sealed && await toolFor(sealed.tool, outer)',
    after: 'const tool = sealed && [...rules().keys()].find(({ public: { name } }) => name === sealed.tool)',
    noticedBy: 'test/task/attacks.test.ts'
  },
  {
    suffered: 'a client that may not delete cancels work all the same',
    file: 'src/endpoint/tasks/cancel.ts',
    before: 'if (await isDenied(route, outer, mayUse)) throw cannot',
    after: 'if (isDenied(route, outer, mayUse) instanceof Error) throw cannot',
    noticedBy: 'test/task/rounds.test.ts'
  },
  {
    suffered: 'cancelling work that has ended meanwhile deletes its result',
    file: 'src/endpoint/tasks/cancel.ts',
    before: "if (before.status !== 'working' || work === undefined) {",
    after: 'if (work === undefined) {',
    noticedBy: 'test/task/rounds.test.ts'
  },
  {
    suffered: 'a task asks again a thousand times too early: `Retry-After` has seconds',
    file: 'src/task/state.ts',
    before: 'Number(text) * 1000',
    after: 'Number(text)',
    noticedBy: 'test/task/stages.test.ts'
  },
  {
    suffered: 'a status route that is over its rate limit fails the work',
    file: 'src/task/state.ts',
    before: 'if (statusCode === 429 || (statusCode === 503 && poll !== undefined)) return',
    after: 'if (statusCode === 503 && poll !== undefined) return',
    noticedBy: 'test/task/stages.test.ts'
  },
  {
    suffered: 'the result of a task is lost when its route is busy at that moment',
    file: 'src/task/follow.ts',
    before: "if (statusCode === 429 || statusCode >= 500) return { status: 'unreadable', why: textOf(result) }\n    return { ...said, status: 'completed', result }",
    after: "return { ...said, status: 'completed', result }",
    noticedBy: 'test/task/rounds.test.ts'
  },
  {
    suffered: 'what one client sees of the tools is sent to the next one',
    file: 'src/endpoint/list.ts',
    before: 'if (isPerClient || start < 0 || start % pageSize !== 0) return write(era, found)',
    after: 'if (start < 0 || start % pageSize !== 0) return write(era, found)',
    noticedBy: 'test/pages.test.ts'
  },
  {
    suffered: 'a client that pages through the list misses a tool on each page',
    file: 'src/endpoint/list.ts',
    before: 'nextCursor: cursorFromName(last.public.name)',
    after: 'nextCursor: cursorFromName(rest[size]!.public.name)',
    noticedBy: 'test/pages.test.ts'
  },
  {
    suffered: 'the arguments of one shop are implied for a caller of another: forms are kept by tool alone',
    file: 'src/tool/implied.ts',
    before: "const key = names.join('\\n')",
    after: "const key = ''",
    noticedBy: 'test/pages.test.ts'
  },
  {
    suffered: 'an argument that is given is overwritten by the implied one',
    file: 'src/call/call.ts',
    before: '{ ...impliedValues(tool, outer, impliedArguments), ...args }',
    after: '{ ...args, ...impliedValues(tool, outer, impliedArguments) }',
    noticedBy: 'test/implied.test.ts'
  },
  {
    suffered: 'calls after a client has gone go on working for nobody',
    file: 'src/call/stop.ts',
    before: "if (!raw.writableEnded) stop.stop('client gone')",
    after: "if (!raw.writableFinished && raw.errored) stop.stop('client gone')",
    noticedBy: 'test/endpoint.test.ts'
  },
  {
    suffered: 'a slow call that started while another ran is never ended',
    file: 'src/call/stop.ts',
    before: '    if (next < Infinity) this.#wait(next - now)\n',
    after: '',
    noticedBy: 'test/deadlines.test.ts'
  },
  {
    suffered: 'a deadline ends the call of somebody else: the list of running calls is out of step',
    file: 'src/call/stop.ts',
    before: '    last.index = index\n',
    after: '',
    noticedBy: 'test/deadlines.test.ts'
  },
  {
    suffered: 'an empty list in a query means every record',
    file: 'src/call/query-string.ts',
    before: 'if (isArray && value.length === 0) return shape?.hasEmptyDefault ? undefined : ',
    after: 'if (isArray && value.length === 0) return shape !== undefined ? undefined : ',
    noticedBy: 'test/query.test.ts'
  },
  {
    suffered: 'an optional field that the model leaves null is refused by routes that convert types',
    file: 'src/call/request.ts',
    before: '&& !tool.required.has(argument) && !takesNull(plan)) return undefined',
    after: '&& tool.required.has(argument) && !takesNull(plan)) return undefined',
    noticedBy: 'test/typed.test.ts'
  },
  {
    suffered: 'a call is answered with the envelope of another client: only names are compared',
    file: 'src/endpoint/wire.ts',
    before: 'if (!Object.hasOwn(b, name) || !isSame(a[name], b[name])) return false',
    after: 'if (!Object.hasOwn(b, name)) return false',
    noticedBy: 'test/wire.test.ts'
  },
  {
    suffered: 'the trace of a call is joined to the trace state of another request',
    file: 'src/call/trace.ts',
    before: '    delete headers.tracestate\n',
    after: '',
    noticedBy: 'test/reads.test.ts'
  }
]
