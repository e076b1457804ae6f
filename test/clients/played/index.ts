import type { Shop } from '../shop.ts'
import { playedClients, type PlayedClient } from './clients.ts'
import { refresh, revoke, signIn, type SignedIn } from './play.ts'

/** What became of a client that the lab played. */
export interface PlayedOutcome {
  readonly client: PlayedClient
  /** What went wrong; `undefined` if nothing did. */
  readonly problem: string | undefined
}

/** Signs all of them in, restarts the server, refreshes, and revokes. */
export async function playAll (shop: Shop): Promise<readonly PlayedOutcome[]> {
  const steps: ReadonlyArray<(signedIn: SignedIn) => Promise<SignedIn | undefined>> = [
    refresh,
    refresh,
    async (signedIn) => {
      await revoke(signedIn)
      return undefined
    }
  ]
  const problems = new Map<PlayedClient, string>()
  let all: SignedIn[] = []
  for (const client of playedClients) {
    await signIn(client, shop.demo.mcp_url, shop.person).then(
      (signedIn) => all.push(signedIn),
      (error: Error) => problems.set(client, error.message)
    )
  }
  for (const [index, step] of steps.entries()) {
    if (index === 1) await shop.restart()
    const next: SignedIn[] = []
    for (const signedIn of all) {
      await step(signedIn).then((result) => {
        if (result) next.push(result)
      }, (error: Error) => problems.set(signedIn.client, error.message))
    }
    all = next
  }
  return playedClients.map((client) => ({ client, problem: problems.get(client) }))
}
