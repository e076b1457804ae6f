import { Card, TablePagination } from '@mui/material'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { listUrl, rangeFrom } from '../api/http.ts'
import { FoldingRow, FoldingTable } from '../layout/fold.tsx'
import { EmptyState, PageHeading } from '../layout/page.tsx'
import { texts } from '../texts.ts'
import { timeText } from '../times.ts'
import { useViewer } from '../viewer.tsx'
import { MANNER } from './manner.ts'
import { ACCOUNTS } from './run.ts'
import { useActors } from './use-actors.ts'

interface Row {
  readonly id: string
  readonly at: string
  readonly actor: string
  readonly action: string
  readonly account_id: string
  readonly before: Readonly<Record<string, unknown>> | null
  readonly after: Readonly<Record<string, unknown>> | null
}

const PER_PAGE = 50

/** Who linked, synced and unlinked which account. */
export function AuditPage () {
  const { call } = useViewer()
  const [page, setPage] = useState(0)
  const { data } = useQuery({
    queryKey: ['accounts', 'audit', page],
    queryFn: async () => {
      const { json, headers } = await call<readonly Row[]>(
        listUrl(`${ACCOUNTS}/audit`, { skip: page * PER_PAGE, limit: PER_PAGE })
      )
      const { rows: accounts } = {
        rows: json.length === 0
          ? []
          : (await call<ReadonlyArray<{ id: string, name: string, shop_name: string }>>(
            listUrl(ACCOUNTS, { filter: { id: [...new Set(json.map((row) => row.account_id))] }, limit: PER_PAGE })
          )).json
      }
      return {
        rows: json,
        total: rangeFrom(headers).total,
        accounts: new Map(accounts.map((account) => [account.id, account]))
      }
    },
    placeholderData: (before) => before
  })
  const nameOf = useActors(data?.rows.map(({ actor }) => actor) ?? [])
  const customer = (side: Row['before']) => String(side?.['pay_customer_id'] ?? texts.activity.nothing)
  return (
    <>
      <PageHeading title={texts.menu.audit} text={texts.reconcile.auditWhy} />
      <Card>
        {data?.rows.length === 0 && <EmptyState title={texts.activity.empty} />}
        {data !== undefined && data.rows.length > 0 && (
          <FoldingTable
            name={texts.menu.audit}
            foldsBelow={760}
            columns={texts.reconcile.auditColumns.map((name) => ({ name }))}
          >
            {data.rows.map((row) => (
              <FoldingRow key={row.id}>
                {timeText(row.at, MANNER)}
                <bdi>{nameOf(row.actor)}</bdi>
                {texts.reconcile.changes[row.action] ?? row.action}
                <bdi>{data.accounts.get(row.account_id)?.name ?? row.account_id}</bdi>
                <bdi>{data.accounts.get(row.account_id)?.shop_name}</bdi>
                {customer(row.before)}
                {customer(row.after)}
              </FoldingRow>
            ))}
          </FoldingTable>
        )}
        {data !== undefined && (
          <TablePagination
            component='div'
            count={data.total}
            page={page}
            rowsPerPage={PER_PAGE}
            rowsPerPageOptions={[PER_PAGE]}
            onPageChange={(_event, page) => setPage(page)}
          />
        )}
      </Card>
    </>
  )
}
