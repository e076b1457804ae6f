// Tells the people who look after a shop what they should know about its API keys.
import type { OnKeyEvent } from 'dual-auth'

/** The option `onKeyEvent`. `tell` sends a message to those who manage the keys of a shop, such as an e-mail. */
export function keyAlerts (tell: (ownerId: string, message: string) => Promise<void>): OnKeyEvent {
  return async (event) => {
    switch (event.type) {
      case 'expiring':
        return await tell(event.key.ownerId, `${event.key.name} expires in less than ${event.days} days. Rotate it.`)
      case 'unused':
        return await tell(
          event.key.ownerId,
          `Nobody has used ${event.key.name} for ${event.days} days. Revoke it if nobody needs it.`
        )
      case 'new_network':
        return await tell(
          event.key.ownerId,
          `${event.key.name} is used from a new network, ${event.network}. Revoke it if that is none of yours.`
        )
      case 'refused':
        // An old key that somebody still uses: a client that missed the rotation, or a thief.
        if (event.reason === 'expired' || event.reason === 'revoked') {
          await tell(event.key!.ownerId, `The ${event.reason} key ${event.key!.id} was refused ${event.count} times.`)
        }
    }
  }
}
