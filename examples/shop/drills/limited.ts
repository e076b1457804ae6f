import { call } from '../test/process.ts'
import type { Exercise } from './exercise.ts'

/** Whether each replica tells a caller how many calls are left. */
export async function areLimited ({ replicas, shop, headers }: Exercise): Promise<boolean> {
  const answers = await Promise.all(
    replicas.map(async ({ baseUrl }) => await call('GET', `${baseUrl}/shops/${shop}/tags?limit=1`, { headers }))
  )
  return answers.every((answer) => answer.headers.has('ratelimit-remaining'))
}
