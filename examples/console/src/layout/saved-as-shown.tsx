import type { ReactNode } from 'react'

/**
 * Fields of a form. Nobody can use them while they are being saved: what was typed meanwhile would be gone with the
 * answer.
 */
export function SavedAsShown ({ isBusy, children }: { readonly isBusy: boolean, readonly children: ReactNode }) {
  return <div style={{ display: 'contents' }} {...isBusy && { inert: '' }}>{children}</div>
}
