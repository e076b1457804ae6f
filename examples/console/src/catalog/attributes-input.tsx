import AddIcon from '@mui/icons-material/Add'
import RemoveIcon from '@mui/icons-material/Close'
import { Box, Button, IconButton, InputAdornment, Menu, MenuItem, Stack, TextField, Typography } from '@mui/material'
import { useState } from 'react'
import { useInput } from 'react-admin'
import { numberFrom, numberText } from '../money.ts'
import { texts } from '../texts.ts'
import { useShop } from '../viewer.tsx'
import { messageIn } from './categories-input.tsx'
import { type Attribute, useAttributes } from './use-catalog.ts'

interface Value {
  readonly attribute_id: string
  readonly value: string | number | boolean
}

/** What a new value of each type starts with. */
const FIRST = {
  text: () => '',
  number: () => 0,
  boolean: () => true,
  select: ({ options }: Attribute) => options[0] ?? ''
} as const

/** The attribute values of a product, each in the form of its type. */
export function AttributesInput ({ source }: { readonly source: string }) {
  const { field, fieldState: { error } } = useInput({ source, defaultValue: [] })
  const { data } = useAttributes()
  const [anchor, setAnchor] = useState<HTMLElement | null>(null)
  const attributes = data?.rows ?? []
  const values = (field.value ?? []) as readonly Value[]
  const free = attributes.filter(({ id }) => values.every((value) => value.attribute_id !== id))
  const set = (index: number, value: Value['value']) => field.onChange(values.with(index, { ...values[index]!, value }))
  return (
    <Stack spacing={0.5}>
      {values.length === 0 && (
        <Typography color='textSecondary' variant='body2'>{texts.products.noAttributes}</Typography>
      )}
      {values.map(({ attribute_id: id, value }, index) => {
        const attribute = attributes.find((attribute) => attribute.id === id)
        const name = attribute?.name ?? '…'
        return (
          <Box key={id} sx={{ display: 'flex', gap: 1, alignItems: 'flex-start' }}>
            <ValueInput
              name={name}
              attribute={attribute}
              value={value}
              error={messageIn((error as any)?.[index])}
              onChange={(value) => set(index, value)}
              onBlur={() => field.onBlur()}
            />
            <IconButton
              aria-label={texts.products.removeAttribute(name)}
              onClick={() => field.onChange(values.toSpliced(index, 1))}
              sx={{ mt: 1 }}
            >
              <RemoveIcon fontSize='small' />
            </IconButton>
          </Box>
        )
      })}
      <Box>
        <Button
          size='small'
          startIcon={<AddIcon />}
          disabled={free.length === 0}
          aria-haspopup='menu'
          onClick={({ currentTarget }) => setAnchor(currentTarget)}
        >
          {texts.products.addAttribute}
        </Button>
        <Menu
          anchorEl={anchor}
          open={anchor !== null}
          onClose={() => setAnchor(null)}
          slotProps={{ paper: { sx: { maxHeight: 400 } } }}
        >
          {free.map((attribute) => (
            <MenuItem
              key={attribute.id}
              onClick={() => {
                setAnchor(null)
                field.onChange([...values, { attribute_id: attribute.id, value: FIRST[attribute.type](attribute) }])
              }}
            >
              {attribute.name}
            </MenuItem>
          ))}
        </Menu>
      </Box>
    </Stack>
  )
}

interface ValueInputProps {
  readonly name: string
  readonly attribute: Attribute | undefined
  readonly value: Value['value']
  readonly error: string | undefined
  readonly onChange: (value: Value['value']) => void
  readonly onBlur: () => void
}

function ValueInput ({ name, attribute, value, error, onChange, onBlur }: ValueInputProps) {
  const { locale } = useShop()
  const [typed, setTyped] = useState('')
  // What is typed is shown as it is until it is left: then it is what is saved, also if somebody meant another number.
  const written = typeof value === 'number' ? numberText(value, locale) : String(value)
  const numeral = (numberFrom(typed, locale) ?? typed) === value ? typed : written
  const shared = { fullWidth: true, label: name, error: error !== undefined, helperText: error, onBlur }
  const unit = attribute?.unit == null
    ? undefined
    : { endAdornment: <InputAdornment position='end'>{attribute.unit}</InputAdornment> }
  switch (attribute?.type) {
    case 'select':
      return (
        <TextField {...shared} select value={value} onChange={({ target }) => onChange(target.value)}>
          {attribute.options.map((option) => <MenuItem key={option} value={option}>{option}</MenuItem>)}
        </TextField>
      )
    case 'boolean':
      return (
        <TextField
          {...shared}
          select
          value={value ? 'yes' : 'no'}
          onChange={({ target }) => onChange(target.value === 'yes')}
        >
          <MenuItem value='yes'>{texts.products.yes}</MenuItem>
          <MenuItem value='no'>{texts.products.no}</MenuItem>
        </TextField>
      )
    case 'number':
      // What is no number yet goes to the server as it is, which says so at the field.
      return (
        <TextField
          {...shared}
          value={numeral}
          onBlur={() => {
            setTyped('')
            onBlur()
          }}
          onChange={({ target }) => {
            setTyped(target.value)
            onChange(numberFrom(target.value, locale) ?? target.value)
          }}
          slotProps={{ htmlInput: { inputMode: 'decimal' }, ...unit !== undefined && { input: unit } }}
        />
      )
    default:
      return (
        <TextField
          {...shared}
          value={value}
          multiline
          onChange={({ target }) => onChange(target.value)}
          slotProps={unit === undefined ? {} : { input: unit }}
        />
      )
  }
}
