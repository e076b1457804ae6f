import ImportIcon from '@mui/icons-material/FileUploadOutlined'
import { Alert, Button, Card, Chip, Stack, Typography } from '@mui/material'
import { BulkActionsToolbar, ListBase, SelectAllButton, useBasename, useListContext } from 'react-admin'
import { Link } from 'react-router-dom'
import { PAGE } from '../api/http.ts'
import { AS_LISTED } from '../api/save.ts'
import { ColumnsButton } from '../layout/columns-button.tsx'
import { CreateLink } from '../layout/create-link.tsx'
import { ChoiceChip, EmptyList, ListFilters } from '../layout/filter-chips.tsx'
import { PageHeading } from '../layout/page.tsx'
import { Pages } from '../layout/pages.tsx'
import { RecordLink } from '../layout/record-link.tsx'
import { Col, RecordTable } from '../layout/record-table.tsx'
import { Selectable, useSelectedText } from '../layout/selection.tsx'
import { StatusChip } from '../layout/status-chip.tsx'
import { moneyText } from '../money.ts'
import { statusText, texts } from '../texts.ts'
import { agoText, timeText } from '../times.ts'
import { useShop } from '../viewer.tsx'
import { BulkStatus } from './bulk-status.tsx'
import { BulkTags } from './bulk-tags.tsx'
import { ExportButton } from './export-button.tsx'
import { Picture } from './picture.tsx'
import { PriceChip } from './price-chip.tsx'
import { pathsOf } from './tree.ts'
import { useCategories, useTags } from './use-catalog.ts'

/** Where the browser keeps which columns are hidden, all of them, and those hidden at first. */
const COLUMNS = 'products.datatable'
const SOURCES = ['name', 'slug', 'sku', 'status', 'price_amount', 'tag_ids', 'updated_at', 'created_at']
const HIDDEN = ['slug', 'created_at']

/** The products of the shop. */
export function ProductList () {
  const basename = useBasename()
  return (
    <ListBase sort={{ field: 'name', order: 'ASC' }} perPage={25} queryOptions={AS_LISTED}>
      <PageHeading title={texts.menu.products}>
        <ColumnsButton storeKey={COLUMNS} sources={SOURCES} hidden={HIDDEN} />
        <ExportButton />
        <Button component={Link} to={`${basename}/imports`} size='small' startIcon={<ImportIcon />}>
          {texts.imports.open}
        </Button>
        <CreateLink text={texts.products.create} />
      </PageHeading>
      {/* What is hidden beyond its corners must still scroll with the page: see the bulk actions. */}
      <Card sx={{ overflow: 'clip' }}>
        <Filters />
        <Selectable>
          <Products />
        </Selectable>
      </Card>
    </ListBase>
  )
}

function Filters () {
  const { data: categories } = useCategories()
  const { data: tags } = useTags()
  return (
    <ListFilters
      search={texts.products.search}
      own={['status', 'category_ids', 'tag_ids', 'price_amount_gte', 'price_amount_lte', 'currency']}
    >
      <ChoiceChip
        field='status'
        label={texts.filters.status}
        choices={['draft', 'active', 'archived'].map((id) => ({ id, name: statusText(id) }))}
      />
      <ChoiceChip
        field='category_ids'
        label={texts.filters.category}
        choices={pathsOf(categories?.rows ?? []).map(({ id, path }) => ({ id, name: path }))}
      />
      <ChoiceChip field='tag_ids' label={texts.filters.tag} choices={tags?.rows ?? []} />
      <PriceChip />
    </ListFilters>
  )
}

/** Selects as many products as the server lists at once, and says how many these are. */
function SelectAll () {
  const { total = 0 } = useListContext()
  return <SelectAllButton limit={PAGE} {...total > PAGE && { label: texts.products.bulk.all(PAGE) }} />
}

/** What can be done with the selected products. */
function Bulk () {
  return (
    <BulkActionsToolbar label={useSelectedText()} selectAllButton={<SelectAll />}>
      <BulkStatus />
      <BulkTags />
    </BulkActionsToolbar>
  )
}

function Products () {
  const shop = useShop()
  const { total, data, sort, filterValues, setFilters, displayedFilters, isPending } = useListContext()
  const { data: tags } = useTags()
  if (!isPending && (total ?? 0) === 0) {
    return (
      <EmptyList title={texts.products.empty} text={texts.products.emptyWhy}>
        <CreateLink text={texts.products.create} />
      </EmptyList>
    )
  }
  const price = ({ price_amount: amount, currency }: any) =>
    amount === null ? '—' : moneyText(amount, currency, shop.locale)
  const tagName = (id: string) => tags?.rows.find((tag) => tag.id === id)?.name ?? '…'
  const currencies = sort.field === 'price_amount'
    ? [
      ...new Set(data?.filter(({ price_amount: amount }) => amount !== null).map(({ currency }) => currency as string))
    ]
    : []
  return (
    <>
      {currencies.length > 1 && (
        <Alert
          severity='info'
          sx={{ mx: 2, mb: 1 }}
          action={currencies.map((currency) => (
            <Button
              key={currency}
              color='inherit'
              onClick={() => setFilters({ ...filterValues, currency: [currency] }, displayedFilters, false)}
            >
              {texts.filters.only(currency)}
            </Button>
          ))}
        >
          {texts.filters.severalCurrencies}
        </Alert>
      )}
      <RecordTable
        rowClick='edit'
        foldsBelow={880}
        storeKey={COLUMNS}
        hiddenColumns={HIDDEN}
        bulkActionsToolbar={<Bulk />}
        sx={{ '& .RaDataTable-row': { height: 48 } }}
      >
        <Col
          source='name'
          isName
          sx={{ minWidth: 180 }}
          render={({ image_urls: [url] }) => (
            <Stack
              direction='row'
              sx={{ gap: 1.5, alignItems: 'center', '& > a': { minWidth: '9em', overflowWrap: 'anywhere' } }}
            >
              <Picture url={url} name='' size={36} />
              <RecordLink />
            </Stack>
          )}
        />
        <Col source='slug' />
        <Col
          source='sku'
          render={({ sku }) => <Typography variant='body2' noWrap title={sku} sx={{ maxWidth: 160 }}>{sku}</Typography>}
        />
        <Col source='status' isPlain render={({ status }) => <StatusChip status={status} />} />
        <Col source='price_amount' isPlain align='right' render={price} />
        <Col
          source='tag_ids'
          disableSort
          render={({ tag_ids: ids }) => (
            <Stack direction='row' sx={{ gap: 0.5, flexWrap: 'wrap' }}>
              {ids.slice(0, 3).map((id: string) => <Chip key={id} size='small' label={tagName(id)} />)}
              {ids.length > 3 && <Chip size='small' label={texts.filters.more(ids.length - 3)} />}
            </Stack>
          )}
        />
        <Col
          source='updated_at'
          render={({ updated_at: at }) => (
            <Typography variant='body2' color='textSecondary' noWrap title={timeText(at, shop)}>
              {agoText(at, shop)}
            </Typography>
          )}
        />
        <Col source='created_at' render={({ created_at: at }) => timeText(at, shop)} />
      </RecordTable>
      <Pages />
    </>
  )
}
