import { answersLost } from './answers-lost.ts'
import { backup } from './backup.ts'
import { connectionLimit } from './connection-limit.ts'
import { diskFull } from './disk-full.ts'
import type { Drill } from './drill.ts'
import { failover, failoverAsynchronous } from './failover.ts'
import { identityProviderGone } from './identity-provider-gone.ts'
import { lockHeld } from './lock-held.ts'
import { paymentProviderHangs } from './payment-provider-hangs.ts'
import { postgresFrozen } from './postgres-frozen.ts'
import { postgresStopped } from './postgres-stopped.ts'
import { readReplica } from './read-replica.ts'
import { redisGone } from './redis-gone.ts'
import { replicaKilled } from './replica-killed.ts'
import { secretsRotated } from './secrets-rotated.ts'
import { twoVersions } from './two-versions.ts'

/** All drills, in the order of the page. */
export const drills: readonly Drill[] = [
  replicaKilled,
  answersLost,
  postgresStopped,
  postgresFrozen,
  failover,
  failoverAsynchronous,
  readReplica,
  connectionLimit,
  redisGone,
  identityProviderGone,
  paymentProviderHangs,
  diskFull,
  lockHeld,
  twoVersions,
  backup,
  secretsRotated
]
