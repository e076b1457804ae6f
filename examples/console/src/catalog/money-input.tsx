import { InputAdornment, TextField } from '@mui/material'
import { useEffect, useRef, useState } from 'react'
import { FieldTitle, InputHelperText, useInput, useRecordContext } from 'react-admin'
import { useWatch } from 'react-hook-form'
import { amountFrom, amountText, inCurrency, isCurrency } from '../money.ts'
import { texts } from '../texts.ts'
import { useShop } from '../viewer.tsx'

/** Text that is no amount: kept in the form, so that it cannot be saved, and what was typed is not lost. */
const BAD = Symbol('no amount')

/** An amount in minor units, typed as people write it in the currency of the record. */
export function MoneyInput (
  { source, label, helperText, isRequired = false }: {
    readonly source: string,
    readonly label?: string,
    readonly helperText?: string,
    readonly isRequired?: boolean
  }
) {
  const shop = useShop()
  const record = useRecordContext()
  const chosen: string = useWatch({ name: 'currency' }) ?? shop.currency
  const last = useRef(chosen)
  // A code that is half typed is no currency yet.
  const currency = isCurrency(chosen) ? chosen : last.current
  const { id, field, fieldState: { error, invalid } } = useInput({
    source,
    parse: (value) => value,
    format: (value) => value,
    validate: (value) => {
      if (value === BAD) return texts.products.badPrice(currency, amountText(1999, currency, shop.locale))
      return isRequired && (value === null || value === undefined) ? 'ra.validation.required' : undefined
    }
  })
  const [typed, setTyped] = useState(() => amountText(field.value, currency, shop.locale))
  const value = amountFrom(typed, currency, shop.locale)
  // Somebody chose another currency, the record was read again, or the form was reset. What is on the screen is what is
  // saved: 19.99 stays 19.99 in another currency, and is an error in one without decimals.
  useEffect(() => {
    const from = last.current
    last.current = currency
    const isStored = record !== undefined && record['currency'] === currency && record[source] === field.value
    if (from !== currency && !isStored) {
      const amount = field.value === BAD ? value : inCurrency(field.value ?? null, from, currency)
      field.onChange(amount === undefined ? BAD : amount)
      if (amount !== undefined) setTyped(amountText(amount, currency, shop.locale))
    } else if (field.value !== BAD && (from !== currency || (field.value ?? null) !== (value ?? null))) {
      setTyped(amountText(field.value, currency, shop.locale))
    }
  }, [field.value, currency])
  return (
    <TextField
      id={id}
      label={<FieldTitle source={source} label={label} isRequired={isRequired} />}
      value={typed}
      error={invalid}
      fullWidth
      ref={field.ref}
      onChange={({ target }) => {
        const amount = amountFrom(target.value, currency, shop.locale)
        setTyped(target.value)
        field.onChange(amount === undefined ? BAD : amount)
      }}
      onBlur={() => {
        field.onBlur()
        if (value !== undefined) setTyped(amountText(value, currency, shop.locale))
      }}
      helperText={<InputHelperText error={error?.message} helperText={helperText} />}
      slotProps={{
        htmlInput: { inputMode: 'decimal' },
        input: { endAdornment: <InputAdornment position='end'>{currency}</InputAdornment> }
      }}
    />
  )
}
