import { Alert } from '@mui/material'
import { type ReactNode, useLayoutEffect, useRef } from 'react'
import { BANNER_HEIGHT } from './edge.ts'

/** Says what is amiss with the whole page, at its lower edge. */
export function Banner ({ action, children }: { readonly action?: ReactNode, readonly children: ReactNode }) {
  const banner = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const { style } = document.documentElement
    const observer = new ResizeObserver(() =>
      style.setProperty(BANNER_HEIGHT, `${banner.current?.offsetHeight ?? 0}px`)
    )
    observer.observe(banner.current!)
    return () => {
      observer.disconnect()
      style.removeProperty(BANNER_HEIGHT)
    }
  }, [])
  return (
    <Alert
      ref={banner}
      severity='warning'
      variant='filled'
      action={action}
      sx={{ position: 'fixed', insetInline: 0, bottom: 0, zIndex: 'snackbar', borderRadius: 0 }}
    >
      {children}
    </Alert>
  )
}
