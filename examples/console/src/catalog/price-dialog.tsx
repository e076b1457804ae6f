import { TextField } from '@mui/material'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError } from '../api/problem.ts'
import { ifMatch } from '../api/save.ts'
import { ActButton } from '../layout/act-button.tsx'
import { useSave } from '../layout/conflicts.tsx'
import { FormDialog } from '../layout/form-dialog.tsx'
import { amountFrom, amountText, moneyText, numberText, wholeNumberFrom } from '../money.ts'
import { texts } from '../texts.ts'
import { useShop, useViewer } from '../viewer.tsx'
import type { Price } from './price-line.ts'
import { instantFrom, localFrom } from './zoned.ts'

/** Creates or changes a price of a product. */
export function PriceDialog (
  { productId, currency, price, onClose }: {
    readonly productId: string,
    readonly currency: string,
    readonly price: Price | undefined,
    readonly onClose: () => void
  }
) {
  const { call } = useViewer()
  const { id: shopId, locale, timeZone } = useShop()
  const queryClient = useQueryClient()
  const saveChanges = useSave()
  const inCurrency = price?.currency ?? currency
  const [shown] = useState({
    amount: amountText(price?.amount, inCurrency, locale),
    min_quantity: numberText(price?.min_quantity ?? 1, locale),
    valid_from: localFrom(price?.valid_from ?? null, timeZone),
    valid_to: localFrom(price?.valid_to ?? null, timeZone)
  })
  const [typed, setTyped] = useState(shown)
  const path = `/shops/${shopId}/prices`
  const readAgain = async () => await queryClient.invalidateQueries({ queryKey: ['prices'] })
  const save = async () => {
    const amount = amountFrom(typed.amount, inCurrency, locale)
    // Said in the form of the server, so that it stands at its field.
    if (amount == null) {
      throw new ApiError(422, {
        field: 'amount',
        message: texts.products.badPrice(inCurrency, amountText(1999, inCurrency, locale))
      })
    }
    // What is no number goes to the server as it is, which says so at the field. An input of numbers takes 1.000 for 1,
    // also where it means a thousand.
    const after = {
      amount,
      min_quantity: wholeNumberFrom(typed.min_quantity, locale) ?? typed.min_quantity,
      valid_from: instantFrom(typed.valid_from, timeZone),
      valid_to: instantFrom(typed.valid_to, timeZone)
    }
    // Inputs of times have no seconds, and no hour twice: what nobody changed is not written back.
    const changed = Object.fromEntries(
      Object.entries(after).filter(([name]) => typed[name as keyof typeof after] !== shown[name as keyof typeof after])
    )
    if (price === undefined) {
      await call(path, { method: 'POST', data: { product_id: productId, currency: inCurrency, ...after } })
    } else if (Object.keys(changed).length > 0) await saveChanges(`${path}/${price.id}`, { ...price }, changed)
    await readAgain()
  }
  const remove = async (price: Price) => {
    await call(`${path}/${price.id}`, { method: 'DELETE', headers: ifMatch(price) }).finally(readAgain)
    onClose()
  }
  const zone = texts.prices.zone(timeZone)
  const rows = [
    ['amount', `${texts.prices.amount} (${inCurrency})`, undefined, 'text'],
    ['min_quantity', texts.prices.quantity, texts.prices.quantityHelp, 'text'],
    ['valid_from', texts.prices.starts, zone, 'datetime-local'],
    ['valid_to', texts.prices.ends, zone, 'datetime-local']
  ] as const
  return (
    <FormDialog
      title={price === undefined ? texts.prices.add : texts.prices.edit}
      submit={texts.prices.save}
      onClose={onClose}
      onSubmit={save}
      fields={rows.map(([name]) => name)}
      actions={price !== undefined && (
        <ActButton
          color='error'
          sx={{ mr: 'auto' }}
          act={async () => await remove(price)}
          question={{
            title: texts.prices.removeTitle(moneyText(price.amount, price.currency, locale)),
            why: texts.prices.removeWhy
          }}
        >
          {texts.prices.remove}
        </ActButton>
      )}
    >
      {(faults) =>
        rows.map(([name, label, help, type]) => (
          <TextField
            key={name}
            name={name}
            fullWidth
            label={label}
            type={type}
            value={typed[name]}
            error={name in faults}
            helperText={faults[name] ?? help}
            autoFocus={name === 'amount'}
            onChange={({ target }) => setTyped({ ...typed, [name]: target.value })}
            slotProps={{
              inputLabel: { shrink: true },
              htmlInput: type === 'text' ? { inputMode: name === 'amount' ? 'decimal' : 'numeric' } : {}
            }}
          />
        ))}
    </FormDialog>
  )
}
