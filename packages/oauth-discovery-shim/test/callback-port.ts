import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'

/**
 * Waits until no other test process uses port 7777, the one callback port that is registered.
 * The neighbouring port is the lock: it is let go when the test ends, however it ends.
 */
export async function callbackPort (t: Test): Promise<7777> {
  for (;;) {
    const lock = createServer().listen(7776, '127.0.0.1')
    const taken = await Promise.race([once(lock, 'listening').then(() => false), once(lock, 'error').then(() => true)])
      .catch(() => true)
    if (!taken) {
      t.teardown(() => lock.close())
      return 7777
    }
    await sleep(200)
  }
}
