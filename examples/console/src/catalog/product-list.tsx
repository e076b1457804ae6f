import AddIcon from '@mui/icons-material/Add'
import ImportIcon from '@mui/icons-material/FileUploadOutlined'
import { Box, Button, Card, Chip, Stack, Typography, useMediaQuery, type Theme } from '@mui/material'
import { BulkActionsToolbar, CreateButton, DataTable, ListBase, Pagination, SelectAllButton, SimpleList, useBasename, useListContext } from 'react-admin'
import { Link } from 'react-router-dom'
import { PAGE } from '../api/http.ts'
import { ColumnsButton } from '../layout/columns-button.tsx'
import { ChoiceChip, FilterChips } from '../layout/filter-chips.tsx'
import { EmptyState, PageHeading } from '../layout/page.tsx'
import { Search } from '../layout/search.tsx'
import { RecordLink } from '../layout/record-link.tsx'
import { StatusChip } from '../layout/status-chip.tsx'
import { moneyText } from '../money.ts'
import { statusText, texts } from '../texts.ts'
import { agoText, timeText } from '../times.ts'
import { useShop } from '../viewer.tsx'
import { BulkStatus } from './bulk-status.tsx'
import { BulkTags } from './bulk-tags.tsx'
import { ExportButton } from './export-button.tsx'
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
    <ListBase sort={{ field: 'name', order: 'ASC' }} perPage={25}>
      <PageHeading title={texts.menu.products}>
        <ColumnsButton storeKey={COLUMNS} sources={SOURCES} hidden={HIDDEN} />
        <ExportButton />
        <Button component={Link} to={`${basename}/imports`} size='small' startIcon={<ImportIcon />}>{texts.imports.open}</Button>
        <CreateButton variant='contained' label={texts.products.create} icon={<AddIcon />} />
      </PageHeading>
      <Card>
        <Filters />
        <Products />
      </Card>
    </ListBase>
  )
}

function Filters () {
  const { data: categories } = useCategories()
  const { data: tags } = useTags()
  return (
    <Stack sx={{ p: 2, gap: 1.5, flexDirection: { md: 'row' }, alignItems: { md: 'center' } }}>
      <Box sx={{ width: { xs: '100%', md: 380 } }}><Search text={texts.products.search} /></Box>
      <FilterChips>
        <ChoiceChip field='status' label={texts.filters.status} choices={['draft', 'active', 'archived'].map((id) => ({ id, name: statusText(id) }))} />
        <ChoiceChip field='category_id' label={texts.filters.category} choices={pathsOf(categories?.rows ?? []).map(({ id, path }) => ({ id, name: path }))} />
        <ChoiceChip field='tag_id' label={texts.filters.tag} choices={tags?.rows ?? []} />
        <PriceChip />
      </FilterChips>
    </Stack>
  )
}

/** Selects as many products as the server lists at once, and says how many these are. */
function SelectAll () {
  const { total = 0 } = useListContext()
  return <SelectAllButton limit={PAGE} {...total > PAGE && { label: texts.products.bulk.all(PAGE) }} />
}

function Products () {
  const shop = useShop()
  const { total, filterValues, isPending } = useListContext()
  const isSmall = useMediaQuery<Theme>((theme) => theme.breakpoints.down('sm'))
  const { data: tags } = useTags()
  if (!isPending && total === 0 && Object.keys(filterValues ?? {}).length === 0) {
    return <EmptyState title={texts.products.empty} text={texts.products.emptyWhy}><CreateButton variant='contained' label={texts.products.create} /></EmptyState>
  }
  const price = ({ price_amount: amount, currency }: any) => amount === null ? '—' : moneyText(amount, currency, shop.locale)
  const tagName = (id: string) => tags?.rows.find((tag) => tag.id === id)?.name ?? '…'
  return (
    <>
      {isSmall
        ? <SimpleList primaryText={({ name }) => name} secondaryText={(product) => `${price(product)} · ${product.sku ?? '—'}`} tertiaryText={({ status }) => <StatusChip status={status} />} rowClick='edit' />
        : (
          <DataTable rowClick='edit' storeKey={COLUMNS} hiddenColumns={HIDDEN} bulkActionsToolbar={<BulkActionsToolbar selectAllButton={<SelectAll />}><BulkStatus /><BulkTags /></BulkActionsToolbar>} sx={{ '& .RaDataTable-row': { height: 48 } }}>
            <DataTable.Col source='name' sx={{ minWidth: 180 }}><RecordLink /></DataTable.Col>
            <DataTable.Col source='slug' />
            <DataTable.Col source='sku' render={({ sku }) => <Typography variant='body2' noWrap title={sku} sx={{ maxWidth: 160 }}>{sku}</Typography>} />
            <DataTable.Col source='status' render={({ status }) => <StatusChip status={status} />} />
            <DataTable.Col source='price_amount' align='right' render={price} />
            <DataTable.Col
              source='tag_ids' disableSort
              render={({ tag_ids: ids }) => <Stack direction='row' sx={{ gap: 0.5, flexWrap: 'wrap' }}>{ids.slice(0, 3).map((id: string) => <Chip key={id} size='small' label={tagName(id)} />)}{ids.length > 3 && <Chip size='small' label={texts.filters.more(ids.length - 3)} />}</Stack>}
            />
            <DataTable.Col source='updated_at' render={({ updated_at: at }) => <Typography variant='body2' color='textSecondary' noWrap title={timeText(at, shop)}>{agoText(at, shop)}</Typography>} />
            <DataTable.Col source='created_at' render={({ created_at: at }) => timeText(at, shop)} />
          </DataTable>
          )}
      <Pagination rowsPerPageOptions={[25, 50, 100]} />
    </>
  )
}
