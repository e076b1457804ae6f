import {
  Alert,
  Box,
  Checkbox,
  FormControl,
  FormControlLabel,
  FormHelperText,
  FormLabel,
  MenuItem,
  Radio,
  RadioGroup,
  TextField,
  Typography
} from '@mui/material'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError } from '../api/problem.ts'
import { FormDialog } from '../layout/form-dialog.tsx'
import { texts } from '../texts.ts'
import { useShop, useViewer } from '../viewer.tsx'
import { endOf, type Life, LIVES, type NewKey } from './key.ts'
import type { Tool } from './tool.ts'
import { useTools } from './tools.ts'

type Preset = 'read' | 'write' | 'some' | 'all'

/** Asks what a new key is for, and creates it. */
export function CreateKey (
  { onClose, onCreated }: { readonly onClose: () => void, readonly onCreated: (key: NewKey) => void }
) {
  const { call } = useViewer()
  const { id: shopId, timeZone } = useShop()
  const queryClient = useQueryClient()
  const { data: tools = [] } = useTools()
  const [name, setName] = useState('')
  const [preset, setPreset] = useState<Preset>('read')
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [life, setLife] = useState<Life>('quarter')
  const [date, setDate] = useState('')

  const create = async () => {
    // Said in the form of the server, so that they stand at their fields.
    if (name.trim() === '') throw new ApiError(422, { field: 'name', message: texts.keys.noName })
    if (preset === 'some' && chosen.size === 0) {
      throw new ApiError(422, { field: 'scopes', message: texts.keys.noTools })
    }
    const some = tools.map(({ name }) => name).filter((name) => chosen.has(name))
    const scopes = { all: 'all', some, write: ['read', 'write'], read: ['read'] }[preset]
    const expires = endOf(life, date, timeZone)
    const { json } = await call<NewKey>(`/shops/${shopId}/api-keys/`, {
      method: 'POST',
      data: { name: name.trim(), scopes, ...expires !== null && { expires_at: expires ?? '' } }
    })
    await queryClient.invalidateQueries({ queryKey: ['api-keys'] })
    onCreated(json)
  }
  return (
    <FormDialog
      title={texts.keys.create}
      submit={texts.keys.submit}
      onClose={onClose}
      onSubmit={create}
      fields={['name', 'scopes', 'expires_at']}
      maxWidth='sm'
    >
      {(faults) => (
        <>
          <TextField
            label={texts.keys.name}
            value={name}
            onChange={({ target }) => setName(target.value)}
            fullWidth
            autoFocus
            required
            error={'name' in faults}
            helperText={faults['name'] ?? texts.keys.nameHelp}
          />
          <FormControl error={'scopes' in faults} sx={{ mt: 2 }} fullWidth component='fieldset'>
            <FormLabel component='legend'>{texts.keys.scopes}</FormLabel>
            <RadioGroup value={preset} onChange={({ target }) => setPreset(target.value as Preset)} name='preset'>
              {(['read', 'write', ...tools.length > 0 ? ['some'] as const : [], 'all'] as const).map((one) => (
                <FormControlLabel
                  key={one}
                  value={one}
                  control={<Radio size='small' />}
                  label={<Described text={texts.keys.presets[one]} why={texts.keys.presets[`${one}Why`]} />}
                  sx={{ my: 0.25 }}
                />
              ))}
            </RadioGroup>
            {faults['scopes'] !== undefined && <FormHelperText>{faults['scopes']}</FormHelperText>}
          </FormControl>
          {preset === 'some' && <ToolPicker tools={tools} chosen={chosen} onChange={setChosen} />}
          <Box sx={{ display: 'flex', gap: 1.5, mt: 2, flexWrap: 'wrap' }}>
            <TextField
              fullWidth={false}
              select
              label={texts.keys.expires}
              value={life}
              onChange={({ target }) => setLife(target.value as Life)}
              sx={{ minWidth: 200 }}
              error={'expires_at' in faults && life !== 'date'}
              helperText={life === 'date' ? undefined : faults['expires_at']}
            >
              {(Object.keys(LIVES) as Life[]).map((one) => (
                <MenuItem key={one} value={one}>{texts.keys.expiry[one]}</MenuItem>
              ))}
            </TextField>
            {life === 'date' && (
              <TextField
                fullWidth={false}
                type='date'
                label={texts.keys.expiry.date}
                value={date}
                onChange={({ target }) => setDate(target.value)}
                error={'expires_at' in faults}
                helperText={faults['expires_at'] ?? texts.keys.endOfDay(timeZone)}
                slotProps={{ inputLabel: { shrink: true } }}
              />
            )}
          </Box>
          {life === 'never' && <Alert severity='warning' sx={{ mt: 1 }}>{texts.keys.neverWhy}</Alert>}
        </>
      )}
    </FormDialog>
  )
}

function Described ({ text, why }: { readonly text: string, readonly why: string }) {
  return (
    <>
      <Typography component='span' sx={{ display: 'block', lineHeight: 1.3 }}>{text}</Typography>
      <Typography component='span' variant='body2' color='textSecondary'>{why}</Typography>
    </>
  )
}

/** The real tools of the server, by what they do. */
function ToolPicker (
  { tools, chosen, onChange }: {
    readonly tools: readonly Tool[],
    readonly chosen: ReadonlySet<string>,
    readonly onChange: (chosen: ReadonlySet<string>) => void
  }
) {
  const set = (names: readonly string[], isOn: boolean) =>
    onChange(new Set(isOn ? [...chosen, ...names] : [...chosen].filter((name) => !names.includes(name))))
  return (
    <Box
      sx={{
        display: 'grid',
        gridTemplateColumns: { sm: 'repeat(3, 1fr)' },
        gap: 1.5,
        mt: 1,
        p: 1.5,
        border: 1,
        borderColor: 'divider',
        borderRadius: 1,
        maxHeight: 320,
        overflowY: 'auto'
      }}
    >
      {(['reads', 'writes', 'deletes'] as const).map((kind) => {
        const names = tools.filter((tool) => tool.kind === kind).map(({ name }) => name)
        const count = names.filter((name) => chosen.has(name)).length
        return (
          <Box key={kind} role='group' aria-label={texts.keys[kind]}>
            <FormControlLabel
              label={<b>{texts.keys[kind]}</b>}
              control={
                <Checkbox
                  size='small'
                  checked={count > 0 && count === names.length}
                  indeterminate={count > 0 && count < names.length}
                  onChange={({ target }) => set(names, target.checked)}
                  sx={{ py: 0.25 }}
                />
              }
            />
            {tools.filter((tool) => tool.kind === kind).map(({ name, description }) => (
              <FormControlLabel
                key={name}
                title={description}
                lang='en'
                sx={{ display: 'flex', ml: 0 }}
                label={
                  <Typography
                    variant='body2'
                    component='span'
                    sx={{ fontFamily: 'ui-monospace, monospace', fontSize: '.8rem' }}
                  >
                    {name}
                  </Typography>
                }
                control={
                  <Checkbox
                    size='small'
                    checked={chosen.has(name)}
                    onChange={({ target }) => set([name], target.checked)}
                    sx={{ py: 0.25 }}
                  />
                }
              />
            ))}
          </Box>
        )
      })}
    </Box>
  )
}
