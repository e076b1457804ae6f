import { lazy, createContext, Suspense, useContext, useEffect, useState } from 'react'
import { type Meanwhile, saveChanges, type Settle, type Versioned } from '../api/save.ts'
import { loaded } from '../loaded.ts'
import { useViewer } from '../viewer.tsx'

const ConflictDialog = lazy(async () => await loaded(async () => await import('./conflict-dialog.tsx')))

/** A question that waits for its answer. */
export interface Question extends Meanwhile {
  readonly answer: (kept: Readonly<Record<string, unknown>> | undefined) => void
}

/** The way from a write to the dialog: one question at a time. */
export interface Settling {
  readonly settle: Settle
  /** Called with each question, and with undefined when it is answered. */
  listener?: (question: Question | undefined) => void
}

/** @returns a settling, whose questions the component {@link Conflicts} shows */
export function createSettling (): Settling {
  const settling: Settling = {
    settle: async (meanwhile) =>
      await new Promise((resolve) => {
        settling.listener?.({
          ...meanwhile,
          answer: (kept) => {
            settling.listener?.(undefined)
            resolve(kept)
          }
        })
      })
  }
  return settling
}

export const SettlingContext = createContext<Settling>(createSettling())

/** @returns writes changes of a record that was read before, see {@link saveChanges} */
export function useSave (): (
  path: string,
  before: Versioned,
  changes: Readonly<Record<string, unknown>>
) => Promise<Versioned> {
  const { call } = useViewer()
  const { settle } = useContext(SettlingContext)
  return async (path, before, changes) => await saveChanges(call, path, before, changes, settle)
}

/** Shows what others have changed of a record that somebody saves, and asks whose to keep, field by field. */
export function Conflicts () {
  const settling = useContext(SettlingContext)
  const [question, setQuestion] = useState<Question>()
  useEffect(() => {
    settling.listener = setQuestion
    return () => {
      delete settling.listener
    }
  }, [settling])
  return question === undefined
    ? null
    : (
      <Suspense>
        <ConflictDialog question={question} />
      </Suspense>
    )
}
