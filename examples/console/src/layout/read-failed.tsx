import { Alert, Button } from '@mui/material'
import { type Query, useQueryClient } from '@tanstack/react-query'
import { useRef, useSyncExternalStore } from 'react'
import { SessionEnded } from '../session/session.ts'
import { texts } from '../texts.ts'
import { ErrorText } from './of-server.tsx'

/** Failed, and not succeeded since. A query that is tried again has no error meanwhile. */
const isFailed = ({ state }: Query): boolean =>
  state.errorUpdatedAt > state.dataUpdatedAt && !(state.error instanceof SessionEnded)

/**
 * Says that something on the page could not be read, and reads it again. What was read before stays, and may be old.
 */
export function ReadFailed () {
  const queries = useQueryClient()
  const cache = queries.getQueryCache()
  const failed = () => cache.findAll({ type: 'active', predicate: isFailed })
  const last = useRef<Error | null>(null)
  const error = useSyncExternalStore((onChange) => cache.subscribe(onChange), () => {
    const errors = failed()
    if (errors.length === 0) return null
    return (last.current = errors.map(({ state }) => state.error).find((error) => error !== null) ?? last.current)
  })
  if (error === null) return null
  const readAgain = () => {
    queries.refetchQueries({ type: 'active', predicate: isFailed }).catch(() => {})
  }
  return (
    <Alert
      severity='error'
      action={<Button color='inherit' onClick={readAgain}>{texts.errors.again}</Button>}
      sx={{ position: 'sticky', top: 56, zIndex: 2, mb: 2, overflowWrap: 'anywhere' }}
    >
      <ErrorText error={error} text={texts.errors.notRead(error.message)} />
    </Alert>
  )
}
