import { Alert, Box, Button, Typography } from '@mui/material'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useRecordContext } from 'react-admin'
import { ApiError } from '../api/problem.ts'
import { ErrorText } from '../layout/of-server.tsx'
import { Section } from '../layout/section.tsx'
import { CustomerLink } from '../reconcile/customer-link.tsx'
import { texts } from '../texts.ts'
import { timeText } from '../times.ts'
import { useShop, useViewer } from '../viewer.tsx'
import { type Account, type Customer, differencesOf, type Difference, textOf } from './account.ts'

/** What the payment provider has, or why it did not say. */
interface Answer {
  readonly customer?: Customer
  readonly problem?: ApiError
}

/**
 * The customer of an account at the payment provider, and what differs. Only admins may ask the provider; others see
 * what was stored when somebody last did.
 */
export function CustomerSection () {
  const account = useRecordContext<Account>()
  const id = account === undefined ? undefined : textOf(account.details, 'pay_customer_id')
  const { data: answer, isFetching, refetch } = useLiveCustomer(account?.id, id)
  if (account === undefined) return null
  return (
    <Section title={texts.accounts.atProvider}>
      {id === undefined
        ? <Typography variant='body2'>{texts.accounts.notThere}</Typography>
        : (
          <>
            <Typography variant='body2' sx={{ mb: 1, overflowWrap: 'anywhere' }}>
              {texts.accounts.customer}: <CustomerLink id={id} />
            </Typography>
            {answer?.problem !== undefined && (
              <Alert
                severity='warning'
                sx={{ mb: 1 }}
                action={
                  <Button
                    color='inherit'
                    disabled={isFetching}
                    onClick={() => {
                      refetch().catch(() => {})
                    }}
                  >
                    {texts.errors.again}
                  </Button>
                }
              >
                <ErrorText error={answer.problem} text={texts.accounts.notRead(answer.problem.message)} />
              </Alert>
            )}
            <Compared account={account} live={answer?.customer} />
          </>
        )}
    </Section>
  )
}

/** Asks the payment provider, for admins. That it does not answer is no fault of the page. */
function useLiveCustomer (accountId: string | undefined, customerId: string | undefined) {
  const { call, isAdmin } = useViewer()
  return useQuery({
    queryKey: ['accounts', accountId, 'customer', customerId],
    enabled: isAdmin && accountId !== undefined && customerId !== undefined,
    queryFn: async ({ signal }): Promise<Answer> => {
      try {
        const { json } = await call<{ pay_customer: Customer }>(
          `/admin/accounts/${encodeURIComponent(accountId!)}/pay-customer`,
          { signal }
        )
        return { customer: json.pay_customer }
      } catch (error) {
        if (error instanceof ApiError) return { problem: error }
        throw error
      }
    },
    refetchOnWindowFocus: false
  })
}

/** The account beside its customer: as the provider has it now, or as it was stored. */
function Compared ({ account, live }: { readonly account: Account, readonly live: Customer }): ReactNode {
  const shop = useShop()
  const customer = live ?? storedCustomer(account)
  const syncedAt = textOf(account.details, 'pay_synced_at')
  if (customer === undefined) return <Typography variant='body2'>{texts.accounts.neverRead}</Typography>
  const at = syncedAt === undefined || Number.isNaN(Date.parse(syncedAt)) ? '—' : timeText(syncedAt, shop)
  return (
    <>
      <Typography variant='body2' color='textSecondary'>
        {live === undefined ? texts.accounts.asOf(at) : texts.accounts.live}
      </Typography>
      {customer['deleted'] === true
        ? <Typography variant='body2'>{texts.accounts.customerDeleted}</Typography>
        : <Differences differences={differencesOf(account, customer)} />}
    </>
  )
}

function storedCustomer ({ details: { pay_customer: stored } }: Account): Customer {
  return typeof stored === 'object' && stored !== null ? stored as Customer : undefined
}

function Differences ({ differences }: { readonly differences: readonly Difference[] }) {
  const names = { name: texts.names.accounts.fields.name, email: texts.accounts.email, phone: texts.accounts.phone }
  if (differences.length === 0) return <Typography variant='body2'>{texts.accounts.same}</Typography>
  return (
    <Box component='ul' sx={{ m: 0, mt: 1, pl: 2.5 }}>
      {differences.map(({ field, here = texts.accounts.nothing, there = texts.accounts.nothing }) => (
        <Typography key={field} component='li' variant='body2' sx={{ overflowWrap: 'anywhere' }}>
          {texts.accounts.differs(names[field], here, there)}
        </Typography>
      ))}
    </Box>
  )
}
