import { Box, Card, Chip, Stack } from '@mui/material'
import { ListBase, SaveButton, SimpleForm, TextInput, Toolbar, useRecordContext } from 'react-admin'
import { AS_LISTED } from '../api/save.ts'
import { Facts } from '../layout/facts.tsx'
import { ChipButton, EmptyList, ListFilters, useFilterField } from '../layout/filter-chips.tsx'
import { FormGuard } from '../layout/form-guard.tsx'
import { PageHeading } from '../layout/page.tsx'
import { Pages } from '../layout/pages.tsx'
import { FLAT, RecordEdit, WithoutCard } from '../layout/record-edit.tsx'
import { RecordLink } from '../layout/record-link.tsx'
import { Col, RecordTable } from '../layout/record-table.tsx'
import { KEEP_TYPED } from '../layout/sending.ts'
import { Section } from '../layout/section.tsx'
import { texts } from '../texts.ts'
import { dateText, timeText } from '../times.ts'
import { useShop } from '../viewer.tsx'
import { type Account, nameOf, textOf } from './account.ts'
import { EmailLink, PhoneLink } from './contact.tsx'
import { CustomerSection } from './customer-section.tsx'
import { OrdersOfAccount } from './orders-of-account.tsx'

/** The accounts of the shop's customers. */
export function AccountList () {
  const shop = useShop()
  return (
    <ListBase sort={{ field: 'name', order: 'ASC' }} perPage={25} queryOptions={AS_LISTED}>
      <PageHeading title={texts.menu.accounts} />
      <Card>
        <ListFilters search={texts.accounts.search} own={['missing_pay']}>
          <MissingChip />
        </ListFilters>
        <RecordTable
          rowClick='edit'
          bulkActionButtons={false}
          empty={<EmptyList title={texts.accounts.empty} text={texts.accounts.emptyWhy} />}
        >
          <Col source='name' isName>
            <RecordLink />
          </Col>
          <Col
            source='details.email'
            label={texts.accounts.email}
            disableSort
            render={({ details }: Account) => {
              const email = textOf(details, 'email')
              return email === undefined ? '—' : <EmailLink email={email} />
            }}
          />
          <Col source='hash_name' />
          <Col
            source='details'
            label={texts.accounts.customer}
            disableSort
            render={({ details }: Account) =>
              details['pay_customer_id'] === undefined
                ? <Chip size='small' color='warning' variant='outlined' label={texts.accounts.missing} />
                : String(details['pay_customer_id'])}
          />
          <Col source='created_at' render={({ created_at: at }: Account) => dateText(at, shop)} />
        </RecordTable>
        <Pages />
      </Card>
    </ListBase>
  )
}

function MissingChip () {
  const [value, setValue] = useFilterField<boolean>('missing_pay')
  return (
    <ChipButton
      label={texts.accounts.customer}
      value={value === true ? texts.accounts.missing : undefined}
      isOpen={false}
      onOpen={() => setValue(true)}
      onClear={() => setValue(undefined)}
    />
  )
}

/** An account: who it is, what the payment provider knows of them, and what they ordered. */
export function AccountEdit () {
  return (
    <RecordEdit component={WithoutCard} sx={FLAT}>
      <Heading />
      <Stack sx={{ gap: 2 }}>
        <Contact />
        <CustomerSection />
        <OrdersOfAccount />
        <Section title={texts.accounts.change}>
          <SimpleForm
            resetOptions={KEEP_TYPED}
            sx={{ p: 0 }}
            toolbar={
              <Toolbar sx={{ px: 0, bgcolor: 'transparent' }}>
                <SaveButton />
              </Toolbar>
            }
          >
            <FormGuard>
              <TextInput source='name' isRequired helperText={false} />
              <TextInput source='hash_name' helperText={false} />
            </FormGuard>
          </SimpleForm>
        </Section>
        <RawData />
      </Stack>
    </RecordEdit>
  )
}

function Heading () {
  const account = useRecordContext<Account>()
  return <PageHeading title={account === undefined ? '' : nameOf(account)} />
}

function Contact () {
  const account = useRecordContext<Account>()
  const shop = useShop()
  if (account === undefined) return null
  const email = textOf(account.details, 'email')
  const phone = textOf(account.details, 'phone')
  const { fields } = texts.names.accounts
  return (
    <Section title={texts.accounts.contact}>
      <Facts
        facts={[
          [texts.accounts.email, email === undefined ? '—' : <EmailLink email={email} />],
          [texts.accounts.phone, phone === undefined ? '—' : <PhoneLink phone={phone} />],
          [fields.hash_name, account.hash_name ?? '—'],
          [fields.created_at, timeText(account.created_at, shop)]
        ]}
      />
    </Section>
  )
}

/** The account as programs see it, for those who want to know. */
function RawData () {
  const account = useRecordContext<Account>()
  if (account === undefined) return null
  return (
    <Card sx={{ p: 2 }}>
      <details>
        <Box component='summary' sx={{ cursor: 'pointer', fontWeight: 650 }}>{texts.accounts.raw}</Box>
        <Box
          component='pre'
          role='region'
          tabIndex={0}
          aria-label={texts.accounts.raw}
          sx={{ mb: 0, maxHeight: 420, overflow: 'auto', fontSize: '.8rem' }}
        >
          {JSON.stringify(account, null, 2)}
        </Box>
      </details>
    </Card>
  )
}
