import { Link } from '@mui/material'
import { settings } from '../settings.ts'
import { texts } from '../texts.ts'

/** The id of a customer, which leads to their page at the payment provider if it has one. */
export function CustomerLink ({ id }: { readonly id: string }) {
  const { pay_dashboard: dashboard } = settings
  if (dashboard === undefined) return id
  return (
    <Link
      href={dashboard + encodeURIComponent(id)}
      target='_blank'
      rel='noreferrer'
      aria-label={`${id}: ${texts.reconcile.open}`}
    >
      {id}
    </Link>
  )
}
