import AddIcon from '@mui/icons-material/Add'
import { Button, Chip, Skeleton, Typography } from '@mui/material'
import { ChartsReferenceLine } from '@mui/x-charts/ChartsReferenceLine'
import { LineChart } from '@mui/x-charts/LineChart'
import { useEffect, useState } from 'react'
import { useGetManyReference, useRecordContext } from 'react-admin'
import { AS_LISTED } from '../api/save.ts'
import { FoldingRow, FoldingTable } from '../layout/fold.tsx'
import { Section } from '../layout/section.tsx'
import { digitsOf, moneyText } from '../money.ts'
import { texts } from '../texts.ts'
import { dateText, timeText } from '../times.ts'
import { useShop } from '../viewer.tsx'
import { PriceDialog } from './price-dialog.tsx'
import { inForceAt, nextChange, type Price, spanOf, stepsOf } from './price-line.ts'

/** Most prices of a product that are shown. */
const MOST = 200

/** The prices of a product as a picture and as a list, which can be changed. */
export default function PricesOfProduct () {
  const product = useRecordContext<any>()
  const shop = useShop()
  const [open, setOpen] = useState<Price | 'new'>()
  const { data: prices = [], isPending, isSuccess } = useGetManyReference<any>('prices', {
    target: 'product_id',
    id: product?.id,
    pagination: { page: 1, perPage: MOST },
    sort: { field: 'valid_from', order: 'ASC' }
  }, { ...AS_LISTED, enabled: product !== undefined })
  const now = useNow(prices)
  if (product === undefined) return null

  const [from, to] = spanOf(prices, now)
  const steps = stepsOf(product.price_amount, product.currency, prices, from, to)
  const scale = 10 ** digitsOf(product.currency)
  const points = [...steps, { at: to, amount: steps.at(-1)?.amount ?? null }]
  const inForce = inForceAt(prices, now)
  return (
    <Section
      title={texts.prices.title}
      text={texts.prices.why}
      action={
        <Button
          size='small'
          startIcon={<AddIcon />}
          onClick={() => setOpen('new')}
        >
          {texts.prices.add}
        </Button>
      }
    >
      {prices.length > 0 && (
        <figure style={{ margin: 0 }} aria-label={texts.prices.chart(product.currency)}>
          <LineChart
            height={220}
            skipAnimation
            grid={{ horizontal: true }}
            margin={{ left: 10, right: 24 }}
            hideLegend
            xAxis={[{
              data: points.map(({ at }) => new Date(at)),
              scaleType: 'time',
              valueFormatter: (at: Date) => dateText(at.getTime(), shop)
            }]}
            yAxis={[{
              min: 0,
              width: 70,
              valueFormatter: (value: number) => moneyText(Math.round(value * scale), product.currency, shop.locale)
            }]}
            series={[{
              data: points.map(({ amount }) => amount === null ? null : amount / scale),
              curve: 'stepAfter',
              showMark: false,
              label: texts.prices.chart(product.currency),
              valueFormatter: (value) =>
                value === null ? '—' : moneyText(Math.round(value * scale), product.currency, shop.locale)
            }]}
          >
            <ChartsReferenceLine x={new Date(now)} label={texts.prices.today} lineStyle={{ strokeDasharray: 4 }} />
          </LineChart>
        </figure>
      )}
      {isPending && <Skeleton height={40} />}
      {isSuccess && prices.length === 0 && (
        <Typography color='textSecondary' variant='body2'>{texts.prices.none}</Typography>
      )}
      {prices.length > 0 && (
        <FoldingTable
          name={texts.prices.title}
          columns={[
            { name: texts.prices.amount },
            { name: texts.prices.quantity, align: 'right' },
            { name: texts.prices.starts },
            { name: texts.prices.ends },
            { name: texts.list.actions, align: 'right', isEnd: true }
          ]}
        >
          {prices.map((price: Price) => (
            <FoldingRow key={price.id}>
              {moneyText(price.amount, price.currency, shop.locale)}
              {price.min_quantity}
              {price.valid_from === null ? texts.prices.ever : timeText(price.valid_from, shop)}
              <>
                {price.valid_to === null ? texts.prices.always : timeText(price.valid_to, shop)}
                {inForce.includes(price) && (
                  <Chip size='small' color='success' variant='outlined' label={texts.prices.now} sx={{ ml: 1 }} />
                )}
              </>
              <Button size='small' onClick={() => setOpen(price)}>{texts.prices.edit}</Button>
            </FoldingRow>
          ))}
        </FoldingTable>
      )}
      {open !== undefined && (
        <PriceDialog
          productId={product.id}
          currency={product.currency}
          price={open === 'new' ? undefined : open}
          onClose={() => setOpen(undefined)}
        />
      )}
    </Section>
  )
}

/** Most milliseconds that a timer takes. */
const LONGEST = 2 ** 31 - 1

/** The current time. When a price starts or ends, the page is drawn again. */
function useNow (prices: readonly Price[]): number {
  const [, setTurn] = useState(0)
  const now = Date.now()
  const next = nextChange(prices, now)
  useEffect(() => {
    if (next === undefined) return undefined
    const timer = setTimeout(() => setTurn(Date.now()), Math.min(Math.max(next - Date.now(), 0) + 1, LONGEST))
    return () => clearTimeout(timer)
  })
  return now
}
