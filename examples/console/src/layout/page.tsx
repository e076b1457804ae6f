import { Box, Typography } from '@mui/material'
import { type ReactNode, useContext, useLayoutEffect, useRef } from 'react'
import { useLocation, useNavigationType } from 'react-router-dom'
import { texts } from '../texts.ts'
import { ShopContext } from '../viewer.tsx'
import { useDocumentTitle } from './document-title.ts'

interface PageHeadingProps {
  /** Empty while the record is loaded. */
  readonly title: string
  /** The name of the page in the title of the window, where that is not its heading. */
  readonly windowTitle?: string
  readonly text?: ReactNode
  readonly children?: ReactNode
}

/** The heading of a page, with what can be done there. It names the window, and has the focus after a navigation. */
export function PageHeading ({ title, windowTitle = title, text, children }: PageHeadingProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  const { pathname, key } = useLocation()
  const navigation = useNavigationType()
  const place = useContext(ShopContext)?.name ?? texts.layout.administration
  const isHere = title !== ''
  useDocumentTitle(windowTitle, place)
  // With the heading, not a moment later: who types at once would lose the focus.
  useLayoutEffect(() => {
    // Not after a page was loaded, or led elsewhere at once: there the focus starts at the top, before the link that
    // skips the menu.
    if (isHere && key !== 'default' && navigation !== 'REPLACE') heading.current?.focus({ preventScroll: true })
  }, [pathname, isHere])
  return (
    <Box
      sx={{ display: 'flex', flexWrap: 'wrap', gap: 1.5, alignItems: 'center', justifyContent: 'space-between', mb: 2 }}
    >
      <Box sx={{ minWidth: 0 }}>
        {isHere && (
          <Typography ref={heading} tabIndex={-1} variant='h1' sx={{ overflowWrap: 'anywhere' }}>{title}</Typography>
        )}
        {text !== undefined && <Typography color='textSecondary'>{text}</Typography>}
      </Box>
      <Box sx={{ display: 'flex', gap: 1, flexWrap: 'wrap' }}>{children}</Box>
    </Box>
  )
}

/** What a list shows when it has nothing. */
export function EmptyState (
  { title, text, children }: {
    readonly title: string,
    readonly text?: string | undefined,
    readonly children?: ReactNode
  }
) {
  return (
    <Box sx={{ py: 8, px: 2, textAlign: 'center' }}>
      <Typography variant='h2' gutterBottom>{title}</Typography>
      {text !== undefined && (
        <Typography color='textSecondary' sx={{ mb: 2, maxWidth: '40ch', mx: 'auto' }}>{text}</Typography>
      )}
      {children}
    </Box>
  )
}
