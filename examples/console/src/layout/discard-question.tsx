import { useSyncExternalStore } from 'react'
import { texts } from '../texts.ts'
import { Ask } from './ask.tsx'
import { useUnsaved } from './ask-before-leaving.tsx'

/** Asks before what was typed is lost. */
export function DiscardQuestion () {
  const unsaved = useUnsaved()
  const question = useSyncExternalStore(unsaved.onQuestion, unsaved.question)
  return question === undefined
    ? null
    : (
      <Ask
        title={texts.unsaved.title}
        why={texts.unsaved.why}
        submit={texts.unsaved.discard}
        cancel={texts.unsaved.keep}
        isDangerous
        onConfirm={async () => unsaved.answer(true)}
        onClose={() => unsaved.answer(false)}
      />
    )
}
