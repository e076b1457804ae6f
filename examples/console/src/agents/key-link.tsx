import type { ReactNode } from 'react'
import { useBasename } from 'react-admin'
import { PageLink } from '../layout/page-link.tsx'

/** Leads to the page of a key. */
export function KeyLink ({ keyId, children }: { readonly keyId: string, readonly children: ReactNode }) {
  return <PageLink to={`${useBasename()}/api-keys/${keyId}`}>{children}</PageLink>
}
