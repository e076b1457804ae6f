import type { BrokerStore } from './memory.ts'

/** What this store needs of a Redis client; one of ioredis has it. */
export interface RedisForBroker {
  eval(script: string, keys: number, ...args: Array<string | number>): Promise<unknown>
}

const RAISE = `
local now = redis.call('HMGET', KEYS[1], 'value', 'since')
if now[1] and tonumber(now[1]) >= tonumber(ARGV[1]) then return now end
redis.call('HSET', KEYS[1], 'value', ARGV[1], 'since', ARGV[2])
redis.call('EXPIRE', KEYS[1], ARGV[3])
return {}`

/**
 * Remembers in Redis, which all replicas share. A Redis that evicts keys (`maxmemory-policy` other than `noeviction`)
 * forgets used tokens too early.
 *
 * @param prefix - what its keys begin with
 */
export function redisBrokerStore (redis: RedisForBroker, prefix = 'oauth-broker:'): BrokerStore {
  return {
    async raise (key, value, seconds) {
      const [stored, since] = await redis.eval(RAISE, 1, prefix + key, value, Date.now(), seconds) as [string?, string?]
      return stored === undefined ? { raised: true } : { raised: false, value: Number(stored), since: Number(since) }
    }
  }
}
