import {
  clientFromDocument,
  DocumentFault,
  DocumentOutage,
  documentUrl,
  LARGEST_DOCUMENT
} from '../client-document/document.ts'
import { fetchJson } from '../client-document/fetch-json.ts'
import { clientWith, type ClientProfile } from './clients.ts'
import { stop, type Obstacle } from './step.ts'

/** What a metadata document says, or why it cannot be used. */
export type DocumentedClients = { readonly clients: readonly ClientProfile[], readonly obstacle?: never } | {
  readonly clients?: never,
  readonly obstacle: Obstacle
}

/** In a list of callbacks: schemes of apps, which each server allows or does not. */
const SCHEME = /"([a-z][a-z0-9+.-]{0,30}):/g

/**
 * Reads the metadata document at a URL as the broker does.
 *
 * @param onThisMachine - whether it may be on loopback, because the server is
 * @returns one client for each callback
 */
export async function clientsFromDocument (
  url: string,
  timeout: number,
  onThisMachine: boolean
): Promise<DocumentedClients> {
  try {
    const address = documentUrl(url)
    const { text } = await fetchJson(address, {
      timeout,
      largest: LARGEST_DOCUMENT,
      privateHosts: onThisMachine ? [address.hostname] : [],
      loopback: onThisMachine
    })
    const { name, redirectUris } = clientFromDocument(
      text,
      url,
      [...text.matchAll(SCHEME)].map(([, scheme]) => scheme!).filter((scheme) => scheme !== 'http')
    )
    return { clients: redirectUris.map((callback) => clientWith({ url, callback }, `${name}, ${callback}`)) }
  } catch (error) {
    if (!(error instanceof DocumentFault)) throw error
    return stop(
      'document',
      error instanceof DocumentOutage
        ? `the metadata document ${url} cannot be read from here: ${error.message}`
        : `no server can use the metadata document ${url}: ${error.message}`
    )
  }
}
