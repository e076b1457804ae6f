import type { Bug } from './bug.ts'

export const bugs: readonly Bug[] = [
  {
    suffered: 'a key works on for as long as its expiry is old: the clock is compared the wrong way round',
    file: 'src/keys/verify.ts',
    before: 'row.expiresAt.getTime() <= Date.now()',
    after: 'row.expiresAt.getTime() <= Date.now() - 3_600_000',
    noticedBy: 'test/api-key.test.ts'
  }
]
