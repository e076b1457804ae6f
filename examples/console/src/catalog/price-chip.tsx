import { Box, Button, Popover, TextField } from '@mui/material'
import { type FormEvent, useState } from 'react'
import { useListContext } from 'react-admin'
import { ChipButton } from '../layout/filter-chips.tsx'
import { amountFrom, amountText, moneyText } from '../money.ts'
import { texts } from '../texts.ts'
import { useShop } from '../viewer.tsx'

/** Limits products to a range of prices, in the currency of the shop. */
export function PriceChip () {
  const { currency, locale } = useShop()
  const { filterValues, setFilters, displayedFilters } = useListContext()
  const [anchor, setAnchor] = useState<HTMLElement | null>(null)
  const { price_amount_gte: from, price_amount_lte: to, ...others } = filterValues ?? {}
  const [typed, setTyped] = useState({ from: '', to: '' })
  const bad = (text: string) => amountFrom(text, currency) === undefined

  const open = (element: HTMLElement) => {
    setTyped({ from: amountText(from, currency, locale), to: amountText(to, currency, locale) })
    setAnchor(element)
  }
  const apply = (event: FormEvent) => {
    event.preventDefault()
    if (bad(typed.from) || bad(typed.to)) return
    const bounds = { price_amount_gte: amountFrom(typed.from, currency), price_amount_lte: amountFrom(typed.to, currency) }
    setFilters({ ...others, ...Object.fromEntries(Object.entries(bounds).filter(([, amount]) => amount !== null)) }, displayedFilters, false)
    setAnchor(null)
  }
  const money = (amount: number) => moneyText(amount, currency, locale)
  const value = from !== undefined && to !== undefined ? `${money(from)} – ${money(to)}` : from !== undefined ? `≥ ${money(from)}` : to !== undefined ? `≤ ${money(to)}` : undefined
  return (
    <>
      <ChipButton label={texts.filters.price} popup='dialog' value={value} isOpen={anchor !== null} onOpen={open} onClear={() => setFilters(others, displayedFilters, false)} />
      <Popover open={anchor !== null} anchorEl={anchor} onClose={() => setAnchor(null)} anchorOrigin={{ vertical: 'bottom', horizontal: 'left' }} slotProps={{ paper: { role: 'dialog', 'aria-label': texts.filters.price } }}>
        <Box component='form' noValidate onSubmit={apply} sx={{ p: 2, display: 'flex', gap: 1, alignItems: 'flex-start', maxWidth: 380 }}>
          {(['from', 'to'] as const).map((end) => (
            <TextField
              key={end} label={`${texts.filters[end]} (${currency})`} value={typed[end]} error={bad(typed[end])} autoFocus={end === 'from'} margin='none' fullWidth={false}
              onChange={({ target }) => setTyped({ ...typed, [end]: target.value })} slotProps={{ htmlInput: { inputMode: 'decimal' } }}
            />
          ))}
          <Button type='submit' variant='contained'>{texts.filters.apply}</Button>
        </Box>
      </Popover>
    </>
  )
}
