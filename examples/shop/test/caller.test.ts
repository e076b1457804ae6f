import { setFlagsFromString } from 'node:v8'
import { runInThisContext } from 'node:vm'
import type { FastifyRequest } from 'fastify'
import { CONFIRMATION } from 'mcp-from-routes/confirm'
import t from 'tap'
import { callerOf } from '../src/access/caller.ts'

setFlagsFromString('--allow-natives-syntax')
const haveSameShape = runInThisContext('(one, other) => %HaveSameMap(one, other)') as (...two: object[]) => boolean

const requestOf = (id: string): FastifyRequest =>
  ({ id, raw: {}, method: 'GET', routeOptions: { url: '/a' }, currentUser: null, identity: undefined }) as never

t.test('callers are of one shape: V8 keeps the request of one that has a shape of its own until a full collection', async (t) => {
  t.ok(haveSameShape(callerOf(requestOf('1')), callerOf(requestOf('2'))))
  const withGetter = (id: string): object => ({
    ...{ id },
    get later () {
      return id
    }
  })
  t.notOk(haveSameShape(withGetter('1'), withGetter('2')), 'as objects with a getter have')
})

t.test('a caller knows of a confirmation that came after it', async (t) => {
  const request = requestOf('1')
  const caller = callerOf(request)
  t.equal(caller.confirmed, null)
  Object.assign(request.raw, { [CONFIRMATION]: { client: 'Desk' } })
  t.equal(caller.confirmed, 'Desk')
})
