import type { FastifyBaseLogger, FastifyRequest } from 'fastify'
import { createStoreCall } from './call-store.ts'
import type { StoredApiKey } from './store.ts'

/** A good key that is about to be used. Frozen; nothing in it is secret. */
export type UsedKey = Pick<StoredApiKey, 'id' | 'ownerId' | 'scopes' | 'createdBy' | 'owner'>

/** For the option `apiKeys.mayUse`. */
export type MayUse = (key: UsedKey, request: FastifyRequest) => boolean | Promise<boolean>

/** The longest that a yes may be kept, in milliseconds: for so long who has left can go on. */
export const LONGEST_YES = 1000

/** What the host said of a key. */
export interface UseAnswer {
  readonly isAllowed: boolean
  /** When it was asked, as `performance.now()`. */
  readonly asked: number
}

/** Asks the host. @throws {@link DUAL_AUTH_STORE_UNAVAILABLE} if it does not say */
export type AskMayUse = (key: StoredApiKey, request: FastifyRequest) => Promise<UseAnswer>

interface Kept {
  readonly asked: number
  readonly createdBy: string
  readonly answer: Promise<boolean>
}

/** The options of this, checked. */
export interface MayUseSettings {
  readonly mayUse: MayUse | undefined
  readonly mayUseCacheTime: number
  readonly storeTimeout: number
}

/**
 * Asks `mayUse` at each use of a key. With `mayUseCacheTime`, calls with one key share a yes for that time, counted
 * from when it was asked: whoever leaves meanwhile is refused at the end of it, however slow the answer was. A no is
 * asked again by the next call. Without an answer a key is neither good nor bad, as without the store.
 */
export function createMayUse (
  { mayUse, mayUseCacheTime, storeTimeout }: MayUseSettings,
  log: FastifyBaseLogger
): AskMayUse {
  // No error is an answer here: a refusal of something else that `mayUse` did would be taken for one of this call.
  const call = createStoreCall(storeTimeout, log, { name: 'mayUse', answers: [] })
  // In the order in which they were asked.
  const kept = new Map<string, Kept>()

  /** @param key - of a store that may be JavaScript */
  async function ask (key: StoredApiKey, request: FastifyRequest): Promise<boolean> {
    return call(async () => {
      const answer: unknown = await mayUse?.(usedKey(key), request)
      // It may be JavaScript: a function that returns nothing must let nobody in, and not refuse everybody in silence.
      if (typeof answer !== 'boolean') throw new TypeError(`mayUse must return true or false, not ${String(answer)}`)
      return answer
    })
  }

  const isFresh = ({ asked }: Kept, now: number): boolean => now - asked < mayUseCacheTime

  function forgetOld (now: number): void {
    for (const [id, entry] of kept) {
      if (isFresh(entry, now)) return
      kept.delete(id)
    }
  }

  return async (key, request) => {
    const now = performance.now()
    if (mayUse === undefined) return { isAllowed: true, asked: now }
    if (mayUseCacheTime === 0) return { isAllowed: await ask(key, request), asked: now }
    forgetOld(now)
    const known = kept.get(key.id)
    if (known !== undefined && known.createdBy === key.createdBy && isFresh(known, now)) {
      return { isAllowed: await known.answer, asked: known.asked }
    }
    const entry = { asked: now, createdBy: key.createdBy, answer: ask(key, request) }
    kept.delete(key.id)
    kept.set(key.id, entry)
    let isAllowed = false
    try {
      isAllowed = await entry.answer
    } finally {
      if (!isAllowed && kept.get(key.id) === entry) kept.delete(key.id)
    }
    return { isAllowed, asked: now }
  }
}

function usedKey ({ id, ownerId, scopes, createdBy, owner }: StoredApiKey): UsedKey {
  if (typeof createdBy !== 'string') {
    throw new TypeError(`the store returned an API key (id ${id}) whose createdBy is not a string`)
  }
  return Object.freeze({
    id,
    ownerId,
    scopes: Object.freeze([...scopes]),
    createdBy,
    ...owner && { owner: Object.freeze({ ...owner }) }
  })
}
