import type { ReactNode } from 'react'
import { useBasename } from 'react-admin'
import { PageLink } from '../layout/page-link.tsx'

/** The name of somebody or something that acts, which leads to what it did. */
export function ActivityLink ({ actorId, children }: { readonly actorId: string, readonly children: ReactNode }) {
  return (
    <PageLink to={`${useBasename()}/history?filter=${encodeURIComponent(JSON.stringify({ actor_id: actorId }))}`}>
      {children}
    </PageLink>
  )
}
