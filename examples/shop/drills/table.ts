import type { Drill } from './drill.ts'
import { postgresStopped } from './postgres-stopped.ts'
import { replicaKilled } from './replica-killed.ts'

/** All drills, in the order of the page. */
export const drills: readonly Drill[] = [replicaKilled, postgresStopped]
