import { Box, Card, Chip } from '@mui/material'
import { ListBase, SaveButton, SimpleForm, TextInput, Toolbar, useRecordContext } from 'react-admin'
import { AS_LISTED } from '../api/save.ts'
import { ChipButton, EmptyList, ListFilters, useFilterField } from '../layout/filter-chips.tsx'
import { FormGuard } from '../layout/form-guard.tsx'
import { PageHeading } from '../layout/page.tsx'
import { Pages } from '../layout/pages.tsx'
import { RecordEdit } from '../layout/record-edit.tsx'
import { RecordLink } from '../layout/record-link.tsx'
import { Col, RecordTable } from '../layout/record-table.tsx'
import { CustomerLink } from '../reconcile/customer-link.tsx'
import { texts } from '../texts.ts'
import { dateText } from '../times.ts'
import { useShop } from '../viewer.tsx'

interface Account {
  readonly id: string
  readonly name: string
  readonly hash_name: string | null
  readonly details: Readonly<Record<string, unknown>>
  readonly created_at: string
}

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

export function AccountEdit () {
  return (
    <RecordEdit>
      <Heading />
      <SimpleForm
        toolbar={
          <Toolbar>
            <SaveButton />
          </Toolbar>
        }
      >
        <FormGuard>
          <TextInput source='name' isRequired helperText={false} />
          <TextInput source='hash_name' helperText={false} />
        </FormGuard>
      </SimpleForm>
      <Details />
    </RecordEdit>
  )
}

function Heading () {
  const account = useRecordContext<Account>()
  const customer = account?.details['pay_customer_id']
  return (
    <Box sx={{ p: 2, pb: 0 }}>
      <PageHeading
        title={account?.name ?? ''}
        text={typeof customer === 'string' && customer !== ''
          ? (
            <>
              {texts.accounts.customer}: <CustomerLink id={customer} />
            </>
          )
          : undefined}
      />
    </Box>
  )
}

/** What programs and the payment provider know of the account, as it is. */
function Details () {
  const account = useRecordContext<Account>()
  return (
    <Box
      component='pre'
      role='region'
      tabIndex={0}
      aria-label={texts.names.accounts.fields.details}
      sx={{
        m: 2,
        p: 1.5,
        maxHeight: 420,
        overflow: 'auto',
        fontSize: '.8rem',
        border: 1,
        borderColor: 'divider',
        borderRadius: 1
      }}
    >
      {JSON.stringify(account?.details, null, 2)}
    </Box>
  )
}
