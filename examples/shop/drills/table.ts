import { answersLost } from './answers-lost.ts'
import { backup } from './backup.ts'
import { clockBehind } from './clock-behind.ts'
import { connectionLimit } from './connection-limit.ts'
import { diskFull, tablespaceFull } from './disk-full.ts'
import type { Drill } from './drill.ts'
import { failover, failoverAsynchronous } from './failover.ts'
import { identityProviderGone } from './identity-provider-gone.ts'
import { lockBehindImport } from './lock-behind-import.ts'
import { lockHeld } from './lock-held.ts'
import { paymentProviderHangs, paymentProviderHtml } from './payment-provider.ts'
import { postgresFrozen } from './postgres-frozen.ts'
import { postgresStopped } from './postgres-stopped.ts'
import { postgresUnreachable } from './postgres-unreachable.ts'
import { readReplica } from './read-replica.ts'
import { readSubscriber } from './read-subscriber.ts'
import { redisGone } from './redis-gone.ts'
import { redisRefuses } from './redis-refuses.ts'
import { replicaKilled } from './replica-killed.ts'
import { secretsRotated } from './secrets-rotated.ts'
import { twoVersions } from './two-versions.ts'

/** All drills, in the order of the page. */
export const drills: readonly Drill[] = [
  replicaKilled,
  answersLost,
  postgresStopped,
  postgresFrozen,
  postgresUnreachable,
  failover,
  failoverAsynchronous,
  readReplica,
  readSubscriber,
  connectionLimit,
  redisGone,
  redisRefuses,
  identityProviderGone,
  clockBehind,
  paymentProviderHangs,
  paymentProviderHtml,
  diskFull,
  tablespaceFull,
  lockHeld,
  lockBehindImport,
  twoVersions,
  backup,
  secretsRotated
]
