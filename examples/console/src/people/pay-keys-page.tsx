import { Alert, Button, Card, Chip, TablePagination, TextField } from '@mui/material'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { isolated } from '../isolated.ts'
import { useAnnounceResult } from '../layout/announcements.tsx'
import { FoldingRow, FoldingTable } from '../layout/fold.tsx'
import { FormDialog } from '../layout/form-dialog.tsx'
import { listUrl, rangeFrom } from '../api/http.ts'
import { PageHeading } from '../layout/page.tsx'
import { PageLink } from '../layout/page-link.tsx'
import { ErrorText } from '../layout/of-server.tsx'
import { texts } from '../texts.ts'
import { type Shop, useViewer } from '../viewer.tsx'
import { PAY_STATES, type PayState, payStateOf } from './pay-state.ts'

const PER_PAGE = 25

const COLORS: Readonly<Record<PayState, 'warning' | 'default' | 'error'>> = {
  none: 'warning',
  set: 'default',
  unreadable: 'error'
}

interface Status {
  readonly configured: boolean
  readonly readable: boolean
  readonly accounts: number
  readonly linked: number
  readonly synced: number
}
interface Verdict {
  readonly valid: boolean
  readonly code?: string
}

/** The payment keys of all shops: whether they work, and new ones. */
export function PayKeysPage () {
  const { call } = useViewer()
  const [page, setPage] = useState(0)
  const [round, setRound] = useState(0)
  const { data } = useQuery({
    queryKey: ['shops', 'pay-keys', page],
    queryFn: async () => {
      const { json, headers } = await call<readonly Shop[]>(
        listUrl('/shops', { skip: page * PER_PAGE, limit: PER_PAGE, sort: 'name' })
      )
      return { shops: json, total: rangeFrom(headers).total }
    },
    placeholderData: (before) => before
  })
  return (
    <>
      <PageHeading title={texts.menu.payKeys} text={texts.settings.payKeys}>
        <Button variant='outlined' onClick={() => setRound(round + 1)}>{texts.settings.verifyAll}</Button>
      </PageHeading>
      <Card>
        <FoldingTable
          name={texts.menu.payKeys}
          foldsBelow={760}
          columns={texts.settings.keyColumns.map((name, index) => ({
            name,
            isPlain: true,
            ...index === 3 && { align: 'right' as const }
          }))}
        >
          {data?.shops.map((shop) => <KeyRow key={shop.id} shop={shop} round={round} />)}
        </FoldingTable>
        {data !== undefined && (
          <TablePagination
            component='div'
            count={data.total}
            page={page}
            rowsPerPage={PER_PAGE}
            rowsPerPageOptions={[PER_PAGE]}
            onPageChange={(_event, page) => {
              setPage(page)
              setRound(0)
            }}
          />
        )}
      </Card>
    </>
  )
}

/** @param round - how often all keys were to be verified: not yet if 0 */
function KeyRow ({ shop: { id, name, slug }, round }: { readonly shop: Shop, readonly round: number }) {
  const { call } = useViewer()
  const queryClient = useQueryClient()
  const path = `/shops/${id}/pay`
  const [tries, setTries] = useState(0)
  const [isReplacing, setReplacing] = useState(false)
  const [key, setKey] = useState('')
  const status = useQuery({
    queryKey: ['pay', 'status', id],
    queryFn: async () => (await call<Status>(`${path}/status`)).json
  })
  const verdict = useQuery({
    queryKey: ['pay', 'verdict', id, round, tries],
    enabled: round + tries > 0 && status.data?.configured === true,
    gcTime: 0,
    queryFn: async () => (await call<Verdict>(`${path}/key/verify`, { method: 'POST', isRead: true })).json
  })
  const replace = async () => {
    await call(`${path}/key`, { method: 'PUT', data: { pay_secret_key: key.trim() } })
    setKey('')
    await queryClient.invalidateQueries({ queryKey: ['pay', 'status', id] })
    setTries(tries + 1)
  }
  const { data } = status
  const said = verdict.data?.valid === true ? texts.settings.valid : texts.settings.invalid(verdict.data?.code ?? '')
  useAnnounceResult(
    String(verdict.dataUpdatedAt),
    verdict.data === undefined ? undefined : `${isolated(name)}: ${said}`
  )
  return (
    <FoldingRow>
      <PageLink to={`/shops/${slug}/settings`}>{name}</PageLink>
      <>
        {data !== undefined && (
          <Chip
            size='small'
            variant='outlined'
            color={COLORS[payStateOf(data)]}
            label={PAY_STATES[payStateOf(data)]}
          />
        )}
        {verdict.data !== undefined && (
          <Chip
            size='small'
            sx={{ ml: 1 }}
            color={verdict.data.valid ? 'success' : 'error'}
            label={said}
          />
        )}
        {verdict.error !== null && (
          <Alert severity='error' sx={{ mt: 1 }}>
            <ErrorText error={verdict.error} />
          </Alert>
        )}
      </>
      {data !== undefined && texts.settings.counts(data.accounts, data.linked, data.synced)}
      <>
        <Button
          size='small'
          disabled={data?.configured !== true}
          loading={verdict.isFetching}
          aria-label={texts.settings.verifyOf(name)}
          onClick={() => setTries(tries + 1)}
        >
          {texts.settings.verifyShort}
        </Button>
        <Button
          size='small'
          aria-label={data?.configured === false ? texts.settings.setOf(name) : texts.settings.replaceOf(name)}
          onClick={() => setReplacing(true)}
        >
          {data?.configured === false ? texts.settings.setShort : texts.settings.replaceShort}
        </Button>
        {isReplacing && (
          <FormDialog
            title={texts.settings.payKeyOf(name)}
            submit={texts.settings.replace}
            fields={['pay_secret_key']}
            isReady={key.trim() !== ''}
            onClose={() => {
              setReplacing(false)
              setKey('')
            }}
            onSubmit={replace}
          >
            {(faults) => (
              <TextField
                autoFocus
                label={texts.settings.newKey}
                type='password'
                autoComplete='off'
                value={key}
                error={faults['pay_secret_key'] !== undefined}
                helperText={faults['pay_secret_key']}
                onChange={({ target }) => setKey(target.value)}
              />
            )}
          </FormDialog>
        )}
      </>
    </FoldingRow>
  )
}
