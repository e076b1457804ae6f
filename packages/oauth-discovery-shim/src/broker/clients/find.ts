import type { Client } from '../../client-document/client.ts'
import type { ListedClient } from '../options.ts'
import { refusal } from '../refusal.ts'
import type { Sealer } from '../seal.ts'
import type { ClientDocuments } from './documents.ts'
import type { RegisteredClient } from './register.ts'

/** Finds clients by their id. */
export interface Clients {
  /** @throws a {@link refusal} `invalid_client` for an unknown client, or a document that must not be used */
  find(id: string): Promise<Client>
}

interface Sources {
  readonly listed: readonly ListedClient[]
  readonly sealer: Sealer
  /** `undefined`: client ids that are URLs are unknown. */
  readonly documents: ClientDocuments | undefined
}

/** The three sources, in the order in which they are asked. */
export function clientsFrom ({ listed, sealer, documents }: Sources): Clients {
  return {
    async find (id) {
      const known = listed.find((client) => client.id === id)
      if (known) return { id, source: 'list', name: known.name, redirectUris: known.redirectUris, auth: 'none' }
      // No sealed id starts like this.
      if (documents !== undefined && id.startsWith('https://')) return await documents.read(id)
      const registered = sealer.open<RegisteredClient>('client', id)
      if (registered) {
        return { id, source: 'registration', name: registered.name, redirectUris: registered.uris, auth: 'none' }
      }
      throw refusal(
        'invalid_client',
        /^https?:/.test(id)
          ? 'This server does not accept clients by a metadata document at this URL'
          : 'This server does not know the client: its registration was made elsewhere, or with a secret that is ' +
            'no longer used. Register again'
      )
    }
  }
}
