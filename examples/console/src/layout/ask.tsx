import { DialogContentText } from '@mui/material'
import type { ReactNode } from 'react'
import { texts } from '../texts.ts'
import { FormDialog } from './form-dialog.tsx'

/** What is asked before something that is hard to take back. */
export interface Question {
  /** Names the record, and what happens to it. */
  readonly title: string
  /** What follows, and how it can be taken back. */
  readonly why: ReactNode
}

interface AskProps extends Question {
  /** The answer that does it. */
  readonly submit: string
  /** The answer that does not. Default: Back. */
  readonly cancel?: string
  readonly isDangerous?: boolean
  /** Does it; the question closes after that, or shows why it failed. */
  readonly onConfirm: () => Promise<unknown>
  readonly onClose: () => void
}

/** A question before something that is hard to take back. */
export function Ask ({ why, onConfirm, cancel = texts.ask.back, ...dialog }: AskProps) {
  return (
    <FormDialog
      {...dialog}
      cancel={cancel}
      onSubmit={async () => {
        await onConfirm()
      }}
    >
      {() => <DialogContentText>{why}</DialogContentText>}
    </FormDialog>
  )
}
