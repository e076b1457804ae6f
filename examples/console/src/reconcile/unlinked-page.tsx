import { Box, Button, Card, Chip, MenuItem, TextField, Typography } from '@mui/material'
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useNotify } from 'react-admin'
import { ActButton } from '../layout/act-button.tsx'
import { EmptyState, PageHeading } from '../layout/page.tsx'
import { texts } from '../texts.ts'
import { useViewer } from '../viewer.tsx'
import { CustomerLink } from './customer-link.tsx'
import { ACCOUNTS } from './run.ts'

interface UnlinkedCustomer {
  readonly pay_customer_id: string
  readonly name: string | null
  readonly email: string | null
  readonly accounts: ReadonlyArray<
    {
      readonly account_id: string,
      readonly account_name: string,
      readonly match: string,
      readonly pay_customer_id: string | null
    }
  >
}
interface Page {
  readonly customers: readonly UnlinkedCustomer[]
  readonly next: string | null
}

/** Customers at the payment provider that no account is linked to. */
export function UnlinkedPage () {
  const { call, shops } = useViewer()
  const queryClient = useQueryClient()
  const notify = useNotify()
  const [shop, setShop] = useState(shops[0]?.id ?? '')
  const { data, fetchNextPage, hasNextPage, isFetching } = useInfiniteQuery({
    queryKey: ['unlinked-customers', shop],
    enabled: shop !== '',
    initialPageParam: '',
    queryFn: async ({ pageParam }) =>
      (await call<Page>(
        `${ACCOUNTS}/unlinked-customers?${new URLSearchParams({
          shop_id: shop,
          ...pageParam !== '' && { after: pageParam }
        })}`
      )).json,
    getNextPageParam: ({ next }) => next
  })
  const customers = data?.pages.flatMap((page) => page.customers) ?? []
  const link = async (account: string, customer: string) => {
    await call(`${ACCOUNTS}/${encodeURIComponent(account)}/link-pay`, {
      method: 'POST',
      data: { pay_customer_id: customer }
    })
    notify(texts.reconcile.linked, { type: 'success' })
    await queryClient.invalidateQueries({ queryKey: ['unlinked-customers'] })
  }
  return (
    <>
      <PageHeading title={texts.menu.unlinked} text={texts.reconcile.unlinkedWhy}>
        <TextField
          select
          fullWidth={false}
          label={texts.reconcile.shop}
          value={shop}
          onChange={({ target }) => setShop(target.value)}
          sx={{ minWidth: 220 }}
        >
          {shops.map(({ id, name }) => <MenuItem key={id} value={id}>{name}</MenuItem>)}
        </TextField>
      </PageHeading>
      <Card aria-busy={isFetching}>
        {data !== undefined && customers.length === 0 && <EmptyState title={texts.reconcile.noUnlinked} />}
        <Box component='ul' sx={{ listStyle: 'none', m: 0, p: 0 }}>
          {customers.map(({ pay_customer_id: id, name, email, accounts }) => (
            <Box component='li' key={id} sx={{ p: 2, borderBottom: 1, borderColor: 'divider' }}>
              <Typography sx={{ fontWeight: 650 }}>{name ?? id}</Typography>
              <Typography variant='body2' color='textSecondary'>
                {email !== null && `${email} · `}
                <CustomerLink id={id} />
              </Typography>
              {accounts.map((account) => (
                <Box
                  key={account.account_id}
                  sx={{ display: 'flex', gap: 1, alignItems: 'center', mt: 1, flexWrap: 'wrap' }}
                >
                  <Typography variant='body2'>
                    {texts.reconcile.mayBelong(account.match)} <b>{account.account_name}</b>
                  </Typography>
                  {account.pay_customer_id === null
                    ? (
                      <ActButton
                        size='small'
                        variant='contained'
                        act={async () => await link(account.account_id, id)}
                      >
                        {texts.reconcile.link}
                      </ActButton>
                    )
                    : <Chip size='small' label={texts.reconcile.taken} />}
                </Box>
              ))}
            </Box>
          ))}
        </Box>
        {hasNextPage && (
          <Box sx={{ p: 2 }}>
            <Button
              onClick={() => {
                fetchNextPage()
              }}
              disabled={isFetching}
            >
              {texts.activity.more}
            </Button>
          </Box>
        )}
      </Card>
    </>
  )
}
