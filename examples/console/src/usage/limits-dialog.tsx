import { DialogContentText, TextField } from '@mui/material'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { changesOf } from '../api/changes.ts'
import { ApiError } from '../api/problem.ts'
import { useSave } from '../layout/conflicts.tsx'
import { FormDialog } from '../layout/form-dialog.tsx'
import { numberText, wholeNumberFrom } from '../money.ts'
import { texts } from '../texts.ts'
import { useShop } from '../viewer.tsx'
import { COUNTED, type Limits } from './usage.ts'

const FIELDS = COUNTED.map((name) => [`${name}_per_day`, texts.usage.columns[name]] as const)

/** @throws {@link ApiError} in the form of the server, so that it stands at its field */
function limitFrom (field: string, text: string, locale: string): number | null {
  if (text.trim() === '') return null
  const limit = wholeNumberFrom(text, locale)
  if (limit === undefined || limit < 0) throw new ApiError(422, { field, message: texts.usage.badLimit })
  return limit
}

/** Sets how many calls, writes and imports a day may have; an empty field for any number. */
export function LimitsDialog (
  { path, keyId, limits, onClose }: {
    readonly path: string,
    readonly keyId: string | undefined,
    readonly limits: Limits,
    readonly onClose: () => void
  }
) {
  const { id: shopId, locale } = useShop()
  const queryClient = useQueryClient()
  const saveChanges = useSave()
  const [before] = useState({ ...limits, shop_id: shopId, ...keyId !== undefined && { id: keyId } })
  const [typed, setTyped] = useState(() =>
    Object.fromEntries(
      FIELDS.map(([field]) => [field, limits[field] === null ? '' : numberText(limits[field], locale)])
    )
  )
  const save = async () => {
    const after = Object.fromEntries(FIELDS.map(([field]) => [field, limitFrom(field, typed[field]!, locale)]))
    const changes = changesOf(before, after)
    if (Object.keys(changes).length > 0) await saveChanges(`${path}/limits`, before, changes)
    await queryClient.invalidateQueries({ queryKey: ['usage'] })
  }
  return (
    <FormDialog
      title={texts.usage.setTitle}
      submit={texts.usage.save}
      onClose={onClose}
      onSubmit={save}
      fields={FIELDS.map(([field]) => field)}
    >
      {(faults) => (
        <>
          <DialogContentText sx={{ mb: 1 }}>
            {keyId === undefined ? texts.usage.setWhy : texts.usage.setKeyWhy}
          </DialogContentText>
          {FIELDS.map(([field, label], index) => (
            <TextField
              key={field}
              name={field}
              fullWidth
              label={label}
              value={typed[field]}
              error={field in faults}
              helperText={faults[field] ?? texts.usage.anyNumber}
              autoFocus={index === 0}
              onChange={({ target }) => setTyped({ ...typed, [field]: target.value })}
              slotProps={{ htmlInput: { inputMode: 'numeric' } }}
            />
          ))}
        </>
      )}
    </FormDialog>
  )
}
