import {
  Box,
  Button,
  CircularProgress,
  CssBaseline,
  Paper,
  ThemeProvider,
  Typography,
  useMediaQuery,
  createTheme
} from '@mui/material'
import { type ReactNode, useMemo } from 'react'
import { texts } from '../texts.ts'
import { darkTheme, lightTheme } from '../theme.ts'
import { useDocumentTitle } from './document-title.ts'
import { ErrorText } from './of-server.tsx'

/** The theme that the system prefers, where no workspace has set another. */
export function SystemTheme ({ children }: { readonly children: ReactNode }) {
  const isDark = useMediaQuery('(prefers-color-scheme: dark)')
  const theme = useMemo(() => createTheme(isDark ? darkTheme : lightTheme), [isDark])
  return <ThemeProvider theme={theme}>{children}</ThemeProvider>
}

/** A page before there is a workspace. */
export function Bare ({ children }: { readonly children: ReactNode }) {
  return (
    <SystemTheme>
      <CssBaseline enableColorScheme />
      <Box component='main' sx={{ minHeight: '100vh', display: 'grid', placeItems: 'center', p: 2 }}>{children}</Box>
    </SystemTheme>
  )
}

interface FullPageProps {
  readonly title: string
  readonly text: ReactNode
  readonly action: string
  readonly onAction: () => void
  /** Read out at once. */
  readonly isAlert?: boolean
}

/** A page that says one thing and offers one way on. */
export function FullPage ({ title, text, action, onAction, isAlert = false }: FullPageProps) {
  useDocumentTitle(title)
  return (
    <Bare>
      <Paper sx={{ p: 4, maxWidth: 480, width: '100%' }}>
        <Typography variant='h1' gutterBottom>{title}</Typography>
        <Typography color='textSecondary' role={isAlert ? 'alert' : undefined} sx={{ mb: 3, overflowWrap: 'anywhere' }}>
          {text}
        </Typography>
        <Button variant='contained' onClick={onAction} autoFocus>{action}</Button>
      </Paper>
    </Bare>
  )
}

export function Problem ({ error, onAgain }: { readonly error: Error, readonly onAgain: () => void }) {
  return (
    <FullPage
      title={texts.errors.title}
      text={<ErrorText error={error} />}
      action={texts.errors.again}
      onAction={onAgain}
      isAlert
    />
  )
}

export function Waiting () {
  return (
    <Bare>
      <CircularProgress aria-label={texts.session.signingIn} />
    </Bare>
  )
}
