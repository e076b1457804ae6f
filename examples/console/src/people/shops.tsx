import OpenIcon from '@mui/icons-material/ArrowForward'
import { Button, Card } from '@mui/material'
import { ListBase, SelectInput, TextInput } from 'react-admin'
import { Link } from 'react-router-dom'
import { AS_LISTED } from '../api/save.ts'
import { CurrencyInput } from '../catalog/currency-input.tsx'
import { NamedRecordCreate, NamedRecordEdit } from '../catalog/named-records.tsx'
import { CreateLink } from '../layout/create-link.tsx'
import { ChoiceChip, EmptyList, ListFilters } from '../layout/filter-chips.tsx'
import { PageHeading } from '../layout/page.tsx'
import { Pages } from '../layout/pages.tsx'
import { RecordLink } from '../layout/record-link.tsx'
import { Col, RecordTable } from '../layout/record-table.tsx'
import { StatusChip } from '../layout/status-chip.tsx'
import { MANNER } from '../reconcile/manner.ts'
import { statusText, texts } from '../texts.ts'
import { dateText } from '../times.ts'
import type { Shop } from '../viewer.tsx'

const STATUSES = ['active', 'archived'].map((id) => ({ id, name: statusText(id) }))

/** All shops. */
export function ShopList () {
  return (
    <ListBase sort={{ field: 'name', order: 'ASC' }} perPage={25} queryOptions={AS_LISTED}>
      <PageHeading title={texts.menu.shops}>
        <CreateLink text={texts.shops.create} />
      </PageHeading>
      <Card>
        <ListFilters search={texts.shops.search} own={['status']}>
          <ChoiceChip field='status' label={texts.filters.status} choices={STATUSES} />
        </ListFilters>
        <RecordTable
          rowClick='edit'
          bulkActionButtons={false}
          empty={<EmptyList title={texts.shops.empty} />}
        >
          <Col source='name' isName>
            <RecordLink />
          </Col>
          <Col source='slug' />
          <Col source='currency' />
          <Col source='status' isPlain render={({ status }: Shop) => <StatusChip status={status} />} />
          <Col source='created_at' render={({ created_at: at }) => dateText(at, MANNER)} />
          <Col
            isEnd
            disableSort
            label={texts.shops.open}
            render={(shop: Shop) => (
              <Button
                size='small'
                component={Link}
                to={`/shops/${shop.slug}`}
                endIcon={<OpenIcon />}
                onClick={(event) => event.stopPropagation()}
                aria-label={`${texts.shops.open}: ${shop.name}`}
              >
                {texts.shops.open}
              </Button>
            )}
          />
        </RecordTable>
        <Pages />
      </Card>
    </ListBase>
  )
}

export function ShopCreate () {
  return (
    <NamedRecordCreate title={texts.shops.create}>
      <TextInput source='name' isRequired helperText={false} />
      <CurrencyInput source='currency' isRequired helperText={texts.settings.currencyHelp} />
      <TextInput source='slug' helperText={texts.products.slugHelp} />
    </NamedRecordCreate>
  )
}

export function ShopEdit () {
  return (
    <NamedRecordEdit canDelete={false}>
      <TextInput source='name' isRequired helperText={false} />
      <TextInput source='slug' helperText={texts.products.slugHelp} />
      <SelectInput source='status' choices={STATUSES} isRequired helperText={texts.shops.archiveHelp} />
    </NamedRecordEdit>
  )
}
