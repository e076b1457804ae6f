import { Button, type ButtonProps } from '@mui/material'
import { useState } from 'react'
import { Ask, type Question } from './ask.tsx'
import { useNotifyError } from './use-notify-error.tsx'
import { useReadAgain } from './use-read-again.ts'

interface ActButtonProps extends Omit<ButtonProps, 'onClick' | 'children' | 'loading'> {
  readonly children: string
  /** What it does on the server. */
  readonly act: () => Promise<unknown>
  /** Asked first. Default: nothing, for what is easy to take back. */
  readonly question?: Question
}

/** A button that does something on the server, once at a time: it is busy until the answer, and shows a failure. */
export function ActButton ({ act, question, children, ...button }: ActButtonProps) {
  const notifyError = useNotifyError()
  const readAgain = useReadAgain()
  const [isBusy, setBusy] = useState(false)
  const [isAsking, setAsking] = useState(false)
  const start = async () => {
    setBusy(true)
    await act().catch((error: Error) => {
      notifyError(error)
      readAgain(error)
    })
    setBusy(false)
  }
  return (
    <>
      <Button
        {...button}
        loading={isBusy}
        onClick={() => {
          if (question === undefined) start()
          else setAsking(true)
        }}
      >
        {children}
      </Button>
      {isAsking && question !== undefined && (
        <Ask
          {...question}
          submit={children}
          isDangerous={button.color === 'error'}
          onConfirm={act}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  )
}
