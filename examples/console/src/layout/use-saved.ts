import { useRef } from 'react'
import { useNotify, useResourceContext, useTranslate } from 'react-admin'
import { ApiError } from '../api/problem.ts'
import type { Versioned } from '../api/save.ts'
import { texts } from '../texts.ts'
import { type Sending, showStored } from './sending.ts'
import { useGoOn } from './use-go-on.ts'
import { useNotifyError } from './use-notify-error.tsx'
import { useReadAgain } from './use-read-again.ts'

interface Saved {
  /** For the form. */
  readonly sending: Sending
  readonly onSuccess: (record: Versioned & { readonly id: string }) => void
  readonly onError: (error: unknown) => void
}

/**
 * What follows a save: the page says that the record is saved and goes on, unless more was typed since; or it says why
 * it is not saved.
 *
 * @param what - what the save did
 * @param to - default: it stays
 */
export function useSaved (what: () => 'created' | 'updated', to?: 'list' | 'edit'): Saved {
  const resource = useResourceContext()
  const translate = useTranslate()
  const notify = useNotify()
  const notifyError = useNotifyError()
  const goOn = useGoOn()
  const readAgain = useReadAgain()
  const { current: sending } = useRef<Sending>({})
  return {
    sending,
    onSuccess: (record) => {
      const isTyped = showStored(sending, { ...record })
      if (isTyped) sending.before = record
      const saved = texts.saved[what()](translate(`resources.${resource}.name`, { smart_count: 1 }))
      notify(isTyped ? `${saved}. ${texts.saved.since}` : saved, { type: 'success' })
      if (to !== undefined && !isTyped) goOn(to, record.id)
    },
    // What is wrong with a field is said at the field.
    onError: (error) => {
      if (error instanceof ApiError && error.body.errors !== undefined) return
      notifyError(error as Error)
      readAgain(error)
    }
  }
}
