import { Skeleton, Typography } from '@mui/material'
import { useCreatePath, useGetManyReference, useRecordContext } from 'react-admin'
import { AS_LISTED } from '../api/save.ts'
import { FoldingRow, FoldingTable } from '../layout/fold.tsx'
import { PageLink } from '../layout/page-link.tsx'
import { Section } from '../layout/section.tsx'
import { StatusChip } from '../layout/status-chip.tsx'
import { moneyText } from '../money.ts'
import { texts } from '../texts.ts'
import { timeText } from '../times.ts'
import { useShop } from '../viewer.tsx'
import { numberOf, type Order } from './order.ts'

/** Most orders on the page of an account: the list of orders has the others. */
const MOST = 10

/** The newest orders of an account, and the way to all of them. */
export function OrdersOfAccount () {
  const account = useRecordContext()
  const shop = useShop()
  const createPath = useCreatePath()
  const { data: orders = [], total = 0, isPending, isSuccess } = useGetManyReference<Order>('orders', {
    target: 'account_id',
    id: account?.id,
    pagination: { page: 1, perPage: MOST },
    sort: { field: 'created_at', order: 'DESC' }
  }, { ...AS_LISTED, enabled: account !== undefined })
  if (account === undefined) return null
  const filter = encodeURIComponent(JSON.stringify({ account_id: account.id }))
  return (
    <Section
      title={texts.orders.title}
      action={total > MOST && (
        <PageLink to={`${createPath({ resource: 'orders', type: 'list' })}?filter=${filter}`}>
          {texts.accounts.allOrders(total)}
        </PageLink>
      )}
    >
      {isPending && <Skeleton height={40} />}
      {isSuccess && orders.length === 0 && (
        <Typography color='textSecondary' variant='body2'>{texts.accounts.noOrders}</Typography>
      )}
      {orders.length > 0 && (
        <FoldingTable
          name={texts.orders.title}
          columns={[
            { name: texts.orders.number, isNumber: true },
            { name: texts.names.orders.fields.created_at },
            { name: texts.filters.status, isPlain: true },
            { name: texts.orders.total, align: 'right' }
          ]}
        >
          {orders.map((order) => (
            <FoldingRow key={order.id}>
              <PageLink to={createPath({ resource: 'orders', type: 'show', id: order.id })}>{numberOf(order)}</PageLink>
              {timeText(order.created_at, shop)}
              <StatusChip status={order.status} />
              {moneyText(order.total_amount, order.currency, shop.locale)}
            </FoldingRow>
          ))}
        </FoldingTable>
      )}
    </Section>
  )
}
