import { Alert, Box, Button, Dialog, DialogActions, DialogContent, DialogTitle } from '@mui/material'
import { type FormEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { ApiError } from '../api/problem.ts'
import { AskBeforeLeaving, useUnsaved } from './ask-before-leaving.tsx'
import { ErrorText } from './of-server.tsx'
import { texts } from '../texts.ts'
import { useReadAgain } from './use-read-again.ts'

/** What is wrong with the fields of a form, by their names. */
export type Faults = Readonly<Record<string, ReactNode>>

interface FormDialogProps {
  readonly title: string
  readonly submit: string
  /** Default: Cancel. */
  readonly cancel?: string
  readonly onClose: () => void
  /** Does it; the dialog closes after that. Its error stays in the dialog, with all that was typed. */
  readonly onSubmit: () => Promise<void>
  /** Further buttons. */
  readonly actions?: ReactNode
  /** The fields that can show an error of theirs. */
  readonly fields?: readonly string[]
  readonly isDangerous?: boolean
  readonly isReady?: boolean
  readonly maxWidth?: 'xs' | 'sm' | 'md'
  readonly children: (faults: Faults) => ReactNode
}

/**
 * A form in a dialog: errors about a field stand at the field, all others above the buttons. What was typed is not lost
 * without a question.
 */
export function FormDialog (
  {
    title,
    submit,
    cancel = texts.list.cancel,
    onClose,
    onSubmit,
    actions,
    fields = [],
    isDangerous = false,
    isReady = true,
    maxWidth = 'xs',
    children
  }: FormDialogProps
) {
  const id = useId()
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<Error>()
  const [isTyped, setTyped] = useState(false)
  const unsaved = useUnsaved()
  const readAgain = useReadAgain()
  // Not before: what is read again may take the dialog away, and what was typed with it.
  const close = () => {
    onClose()
    readAgain(error)
  }
  const leave = () => {
    if (isTyped) unsaved.ask({ leave: close })
    else close()
  }
  const form = useRef<HTMLFormElement>(null)
  const send = async (event: FormEvent) => {
    event.preventDefault()
    // A question may be asked from within another form.
    event.stopPropagation()
    setBusy(true)
    setError(undefined)
    try {
      refuseHalfTyped(form.current!)
      await onSubmit()
      onClose()
    } catch (error) {
      setError(error as Error)
      setBusy(false)
    }
  }
  useEffect(() => {
    form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
  }, [error])
  const { problem: { field } = {}, atField } = error instanceof ApiError ? error : {} as Partial<ApiError>
  const known = field === undefined ? undefined : fields.find((name) => field === name || field.startsWith(`${name}/`))
  return (
    <Dialog open onClose={isBusy ? undefined : leave} fullWidth maxWidth={maxWidth} aria-labelledby={id}>
      {isTyped && !isBusy && <AskBeforeLeaving />}
      <form
        ref={form}
        noValidate
        onInput={() => setTyped(true)}
        onSubmit={(event) => {
          send(event)
        }}
      >
        <DialogTitle id={id}>{title}</DialogTitle>
        <DialogContent>
          <Box sx={FIELDS} {...isBusy && { inert: '' }}>
            {children(known === undefined ? {} : { [known]: <ErrorText error={error!} text={atField ?? ''} /> })}
          </Box>
          {error !== undefined && known === undefined && (
            <Alert severity='error' sx={{ mt: 2 }}>
              <ErrorText error={error} />
            </Alert>
          )}
        </DialogContent>
        <DialogActions>
          {actions}
          <Button onClick={leave} disabled={isBusy}>{cancel}</Button>
          <Button
            type='submit'
            variant='contained'
            color={isDangerous ? 'error' : 'primary'}
            disabled={isBusy || !isReady}
            loading={isBusy}
          >
            {submit}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}

/** They are dim while they are being sent: the dialog closes after that, and what was typed meanwhile would be gone. */
const FIELDS = { display: 'contents', '&[inert] > *': { opacity: 0.5 } } as const

/** A date that is half typed has no value, as an empty one. @throws {@link ApiError} about its field */
function refuseHalfTyped (form: HTMLFormElement): void {
  const input = [...form.elements].find((element) => element instanceof HTMLInputElement && element.validity.badInput)
  if (input !== undefined) {
    throw new ApiError(422, { field: (input as HTMLInputElement).name, message: texts.errors.halfTyped })
  }
}
