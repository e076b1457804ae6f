import { useEffect } from 'react'
import { Notification, useNotificationContext } from 'react-admin'
import { createPortal } from 'react-dom'
import { useLiveRegion } from './announcements.tsx'
import { EDGE } from './edge.ts'

/** Above the banner, and on a narrow screen above the buttons of a form, which stay at its lower edge. */
const ABOVE = { '&&': { bottom: { xs: `calc(${EDGE} + 72px)`, md: `calc(${EDGE} + 24px)` } } } as const

/** Toasts stand in the live region, which says them: they are no alerts of their own. */
export function Toasts () {
  const { region, open } = useLiveRegion()
  const { notifications } = useNotificationContext()
  useEffect(() => {
    if (notifications.length > 0) open()
  }, [notifications, open])
  return region === null
    ? null
    : createPortal(<Notification slotProps={{ content: { role: 'none' } }} sx={ABOVE} />, region)
}
