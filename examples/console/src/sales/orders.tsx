import { Card, Stack, Typography } from '@mui/material'
import {
  ListBase,
  ReferenceField,
  ShowBase,
  useCreatePath,
  useListContext,
  useReference,
  useRefresh,
  useShowContext
} from 'react-admin'
import { AS_LISTED, ifMatch } from '../api/save.ts'
import { ActButton } from '../layout/act-button.tsx'
import { ChipButton, ChoiceChip, EmptyList, ListFilters, useFilterField } from '../layout/filter-chips.tsx'
import { FoldingRow, FoldingTable } from '../layout/fold.tsx'
import { NoRecord } from '../layout/no-record.tsx'
import { PageLink } from '../layout/page-link.tsx'
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
import { numberOf, type Order } from './order.ts'

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
        <ListFilters search={texts.orders.search} own={['status', 'account_id']}>
          <ChoiceChip
            field='status'
            label={texts.filters.status}
            choices={['pending', 'paid', 'fulfilled', 'cancelled'].map((id) => ({ id, name: statusText(id) }))}
          />
          <AccountChip />
        </ListFilters>
        <Orders />
      </Card>
    </ListBase>
  )
}

/** The account whose orders are listed, if a link asked for them. */
function AccountChip () {
  const [value, setValue] = useFilterField<string | readonly string[]>('account_id')
  const [id] = value === undefined ? [] : [value].flat() as readonly string[]
  const { referenceRecord: account } = useReference({
    reference: 'accounts',
    id: id ?? '',
    options: { enabled: id !== undefined }
  })
  if (id === undefined) return null
  const clear = () => setValue(undefined)
  return (
    <ChipButton
      label={texts.orders.account}
      value={account?.['name'] ?? id.slice(0, 8)}
      isOpen={false}
      onOpen={clear}
      onClear={clear}
    />
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
          source='id'
          label={texts.orders.number}
          isName
          disableSort
          render={(order: Order) => <RecordLink text={numberOf(order)} to='show' />}
        />
        <Col source='created_at' isPlain render={({ created_at: at }: Order) => timeText(at, shop)} />
        <Col source='account_id' isPlain disableSort>
          <ReferenceField source='account_id' reference='accounts' link={false} emptyText='—'>
            <RecordLink />
          </ReferenceField>
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
  const createPath = useCreatePath()
  if (order === undefined) return error === null ? <PageSkeleton /> : <NoRecord error={error} />
  const money = (amount: number) => moneyText(amount, order.currency, shop.locale)
  const name = texts.orders.named(numberOf(order))
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
          <ReferenceField source='account_id' reference='accounts' link={false} emptyText={texts.orders.deleted}>
            <RecordLink />
          </ReferenceField>
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
                {line.product_id === null
                  ? line.name
                  : (
                    <PageLink to={createPath({ resource: 'products', type: 'edit', id: line.product_id })}>
                      {line.name}
                    </PageLink>
                  )}
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
