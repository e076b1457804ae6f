import { Box, Button, Popover, TextField } from '@mui/material'
import { type FormEvent, useState } from 'react'
import { useListContext } from 'react-admin'
import { currencies } from '../layout/codes.ts'
import { ChipButton } from '../layout/filter-chips.tsx'
import { Picker } from '../layout/picker.tsx'
import { amountText, isCurrency, moneyText } from '../money.ts'
import { filterOfRange, isBadEnd, rangeOfFilter } from '../price-filter.ts'
import { texts } from '../texts.ts'
import { useShop } from '../viewer.tsx'

/** A range of amounts that may lack an end; undefined if it lacks both. */
function rangeText (
  from: number | undefined,
  to: number | undefined,
  money: (amount: number) => string
): string | undefined {
  if (from !== undefined && to !== undefined) return `${money(from)} – ${money(to)}`
  if (from !== undefined) return `≥ ${money(from)}`
  return to === undefined ? undefined : `≤ ${money(to)}`
}

/** Limits products to a currency and a range of prices in it: amounts of several currencies cannot be compared. */
export function PriceChip () {
  const shop = useShop()
  const { locale } = shop
  const { filterValues, setFilters, displayedFilters } = useListContext()
  const [anchor, setAnchor] = useState<HTMLElement | null>(null)
  const { price_amount_gte: from, price_amount_lte: to, currency: chosen, ...others } = filterValues ?? {}
  const only = [chosen].flat() as readonly string[]
  const currency = only[0] ?? shop.currency
  const [typed, setTyped] = useState({ currency, from: '', to: '' })
  const bad = (end: 'from' | 'to') => isBadEnd(typed, end, locale)

  const open = (element: HTMLElement) => {
    setTyped(rangeOfFilter(filterValues ?? {}, shop.currency, locale))
    setAnchor(element)
  }
  const apply = (event: FormEvent) => {
    event.preventDefault()
    const filter = filterOfRange(typed, locale)
    if (filter === undefined) return
    setFilters({ ...others, ...filter }, displayedFilters, false)
    setAnchor(null)
  }
  const range = rangeText(from, to, (amount) => moneyText(amount, currency, locale))
  const value = range === undefined && chosen === undefined
    ? undefined
    : [chosen === undefined ? texts.filters.anyCurrency : only.join(', '), ...range === undefined ? [] : [range]].join(
      ' '
    )
  return (
    <>
      <ChipButton
        label={texts.filters.price}
        popup='dialog'
        value={value}
        isOpen={anchor !== null}
        onOpen={open}
        onClear={() => setFilters(others, displayedFilters, false)}
      />
      <Popover
        open={anchor !== null}
        anchorEl={anchor}
        onClose={() => setAnchor(null)}
        anchorOrigin={{ vertical: 'bottom', horizontal: 'left' }}
        slotProps={{ paper: { role: 'dialog', 'aria-label': texts.filters.price } }}
      >
        <Box component='form' noValidate onSubmit={apply} sx={{ p: 2, display: 'grid', gap: 1.5, maxWidth: 380 }}>
          <Picker
            margin='none'
            label={texts.settings.currency}
            value={typed.currency}
            onChange={(text) => setTyped({ ...typed, currency: text.toUpperCase() })}
            choices={currencies()}
            error={!isCurrency(typed.currency)}
          />
          <Box sx={{ display: 'flex', gap: 1, alignItems: 'flex-start' }}>
            {(['from', 'to'] as const).map((end) => (
              <TextField
                key={end}
                label={`${texts.filters[end]} (${typed.currency})`}
                value={typed[end]}
                error={bad(end)}
                autoFocus={end === 'from'}
                margin='none'
                fullWidth={false}
                helperText={bad(end)
                  ? texts.products.badPrice(typed.currency, amountText(1999, typed.currency, locale))
                  : undefined}
                onChange={({ target }) => setTyped({ ...typed, [end]: target.value })}
                slotProps={{ htmlInput: { inputMode: 'decimal' } }}
              />
            ))}
          </Box>
          <Button type='submit' variant='contained'>{texts.filters.apply}</Button>
        </Box>
      </Popover>
    </>
  )
}
