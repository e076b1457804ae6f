import { Card, Stack, Typography } from '@mui/material'
import { ListBase, ReferenceField, ShowBase, useListContext, useRefresh, useShowContext } from 'react-admin'
import { AS_LISTED, ifMatch } from '../api/save.ts'
import { ActButton } from '../layout/act-button.tsx'
import { ChoiceChip, EmptyList, ListFilters } from '../layout/filter-chips.tsx'
import { FoldingRow, FoldingTable } from '../layout/fold.tsx'
import { NoRecord } from '../layout/no-record.tsx'
import { PageSkeleton } from '../layout/page-skeleton.tsx'
import { PageHeading } from '../layout/page.tsx'
import { Pages } from '../layout/pages.tsx'
import { RecordLink } from '../layout/record-link.tsx'
import { Col, RecordTable } from '../layout/record-table.tsx'
import { Section } from '../layout/section.tsx'
import { StatusChip } from '../layout/status-chip.tsx'
import { moneyText } from '../money.ts'
import { statusText, texts } from '../texts.ts'
import { timeText } from '../times.ts'
import { useShop, useViewer } from '../viewer.tsx'

interface Line {
  readonly product_id: string | null
  readonly name: string
  readonly sku: string | null
  readonly unit_amount: number
  readonly quantity: number
}
interface Order {
  readonly id: string
  readonly status: string
  readonly currency: string
  readonly total_amount: number
  readonly created_at: string
  readonly updated_at: string
  readonly account_id: string | null
  readonly lines: readonly Line[]
}

/** Where an order can go from each state. */
const NEXT: Readonly<Record<string, readonly string[]>> = {
  pending: ['paid', 'cancelled'],
  paid: ['fulfilled', 'cancelled']
}

/** The orders of the shop. */
export function OrderList () {
  return (
    <ListBase sort={{ field: 'created_at', order: 'DESC' }} perPage={25} queryOptions={AS_LISTED}>
      <PageHeading title={texts.orders.title} />
      <Card>
        <ListFilters own={['status']}>
          <ChoiceChip
            field='status'
            label={texts.filters.status}
            choices={['pending', 'paid', 'fulfilled', 'cancelled'].map((id) => ({ id, name: statusText(id) }))}
          />
        </ListFilters>
        <Orders />
      </Card>
    </ListBase>
  )
}

function Orders () {
  const shop = useShop()
  const { total, isPending } = useListContext()
  if (!isPending && (total ?? 0) === 0) return <EmptyList title={texts.orders.empty} text={texts.orders.emptyWhy} />
  return (
    <>
      <RecordTable
        rowClick='show'
        bulkActionButtons={false}
      >
        <Col
          source='created_at'
          isName
          render={({ created_at: at }: Order) => <RecordLink text={timeText(at, shop)} to='show' />}
        />
        <Col source='account_id' isPlain disableSort>
          <ReferenceField source='account_id' reference='accounts' link={false} emptyText='—' />
        </Col>
        <Col source='status' isPlain render={({ status }: Order) => <StatusChip status={status} />} />
        <Col
          source='lines'
          label={texts.orders.lines}
          disableSort
          align='right'
          render={({ lines }: Order) => lines.length}
        />
        <Col
          source='total_amount'
          align='right'
          render={({ total_amount: total, currency }: Order) => moneyText(total, currency, shop.locale)}
        />
      </RecordTable>
      <Pages />
    </>
  )
}

/** An order with its lines. */
export function OrderShow () {
  return (
    <ShowBase queryOptions={AS_LISTED}>
      <OrderPage />
    </ShowBase>
  )
}

function OrderPage () {
  const { record: order, error } = useShowContext<Order>()
  const shop = useShop()
  const { call } = useViewer()
  const refresh = useRefresh()
  if (order === undefined) return error === null ? <PageSkeleton /> : <NoRecord error={error} />
  const money = (amount: number) => moneyText(amount, order.currency, shop.locale)
  const name = `${texts.names.orders.name.split(' ')[0]} ${order.id.slice(0, 8)}`
  const set = async (status: string) => {
    await call(`/shops/${shop.id}/orders/${order.id}`, { method: 'PATCH', data: { status }, headers: ifMatch(order) })
      .finally(() => refresh())
  }
  return (
    <>
      <PageHeading title={name} text={timeText(order.created_at, shop)}>
        {(NEXT[order.status] ?? []).map((status) => (
          <ActButton
            key={status}
            variant={status === 'cancelled' ? 'outlined' : 'contained'}
            color={status === 'cancelled' ? 'error' : 'primary'}
            act={async () => await set(status)}
            question={{
              title: texts.orders.ask(name, statusText(status), money(order.total_amount)),
              why: texts.orders.askWhy[status]
            }}
          >
            {texts.orders.next[status]!}
          </ActButton>
        ))}
      </PageHeading>
      <Section title={texts.orders.lines} action={<StatusChip status={order.status} />}>
        <Stack direction='row' sx={{ gap: 1, mb: 1 }}>
          <Typography color='textSecondary'>{texts.orders.account}:</Typography>
          <ReferenceField source='account_id' reference='accounts' link={false} emptyText={texts.orders.deleted} />
        </Stack>
        <FoldingTable
          name={texts.orders.lines}
          columns={[
            { name: texts.orders.product },
            { name: texts.orders.quantity, align: 'right' },
            { name: texts.orders.unit, align: 'right' },
            { name: texts.orders.sum, align: 'right' }
          ]}
        >
          {order.lines.map((line, index) => (
            <FoldingRow key={index}>
              <>
                {line.name}
                {line.sku !== null && (
                  <Typography component='span' variant='body2' color='textSecondary' sx={{ whiteSpace: 'nowrap' }}>
                    {` ${line.sku}`}
                  </Typography>
                )}
              </>
              {line.quantity}
              {money(line.unit_amount)}
              {money(line.unit_amount * line.quantity)}
            </FoldingRow>
          ))}
          <FoldingRow>
            <b>{texts.orders.total}</b>
            {null}
            {null}
            <b>{money(order.total_amount)}</b>
          </FoldingRow>
        </FoldingTable>
      </Section>
    </>
  )
}
