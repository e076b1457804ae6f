import { InputAdornment, TextField } from '@mui/material'
import { useEffect, useState } from 'react'
import { FieldTitle, InputHelperText, useInput } from 'react-admin'
import { useWatch } from 'react-hook-form'
import { amountFrom, amountText } from '../money.ts'
import { texts } from '../texts.ts'
import { useShop } from '../viewer.tsx'

/** Text that is no amount: kept in the form, so that it cannot be saved, and what was typed is not lost. */
const BAD = Symbol('no amount')

/** An amount in minor units, typed as people write it in the currency of the record. */
export function MoneyInput ({ source, label, helperText, isRequired = false }: { readonly source: string, readonly label?: string, readonly helperText?: string, readonly isRequired?: boolean }) {
  const shop = useShop()
  const currency: string = useWatch({ name: 'currency' }) ?? shop.currency
  const { id, field, fieldState: { error, invalid } } = useInput({
    source,
    parse: (value) => value,
    format: (value) => value,
    validate: (value) => value === BAD ? texts.products.badPrice(currency) : isRequired && (value === null || value === undefined) ? 'ra.validation.required' : undefined
  })
  const [typed, setTyped] = useState(() => amountText(field.value, currency, shop.locale))
  const value = amountFrom(typed, currency)
  // The record was read again, or the form was reset.
  useEffect(() => {
    if (field.value !== BAD && (field.value ?? null) !== (value ?? null)) setTyped(amountText(field.value, currency, shop.locale))
  }, [field.value])
  return (
    <TextField
      id={id} label={<FieldTitle source={source} label={label} isRequired={isRequired} />} value={typed} error={invalid} fullWidth ref={field.ref}
      onChange={({ target }) => { setTyped(target.value); field.onChange(amountFrom(target.value, currency) === undefined ? BAD : amountFrom(target.value, currency)) }}
      onBlur={() => { field.onBlur(); if (value !== undefined) setTyped(amountText(value, currency, shop.locale)) }}
      helperText={<InputHelperText error={error?.message} helperText={helperText} />}
      slotProps={{ htmlInput: { inputMode: 'decimal' }, input: { endAdornment: <InputAdornment position='end'>{currency}</InputAdornment> } }}
    />
  )
}
