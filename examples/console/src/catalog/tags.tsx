import AddIcon from '@mui/icons-material/Add'
import { Box, Card } from '@mui/material'
import { Create, CreateButton, DataTable, DeleteWithConfirmButton, Edit, FilterLiveSearch, ListBase, Pagination, SaveButton, SimpleForm, TextInput, Toolbar, useListContext, useRecordContext } from 'react-admin'
import { EmptyState, PageHeading } from '../layout/page.tsx'
import { useCreated } from '../layout/use-created.ts'
import { texts } from '../texts.ts'
import { agoText, timeText } from '../times.ts'
import { useShop } from '../viewer.tsx'
import { withoutEmpty } from './without-empty.ts'

/** The tags of the shop. */
export function TagList () {
  return (
    <ListBase sort={{ field: 'name', order: 'ASC' }} perPage={50}>
      <PageHeading title={texts.menu.tags}><CreateButton variant='contained' label={texts.tags.create} icon={<AddIcon />} /></PageHeading>
      <Card>
        <Box sx={{ p: 2, maxWidth: 360 }}><FilterLiveSearch source='q' label={texts.tags.search} placeholder={texts.tags.search} fullWidth /></Box>
        <Tags />
      </Card>
    </ListBase>
  )
}

function Tags () {
  const shop = useShop()
  const { total, isPending } = useListContext()
  if (!isPending && total === 0) return <EmptyState title={texts.tags.empty} text={texts.tags.emptyWhy} />
  return (
    <>
      <DataTable rowClick='edit' bulkActionButtons={false}>
        <DataTable.Col source='name' />
        <DataTable.Col source='slug' />
        <DataTable.Col source='updated_at' render={({ updated_at: at }) => <span title={timeText(at, shop)}>{agoText(at, shop)}</span>} />
      </DataTable>
      <Pagination rowsPerPageOptions={[25, 50, 100]} />
    </>
  )
}

export function TagCreate () {
  const created = useCreated('list')
  return (
    <Create mutationOptions={created} transform={withoutEmpty} actions={false}>
      <Box sx={{ p: 2, pb: 0 }}><PageHeading title={texts.tags.create} /></Box>
      <SimpleForm warnWhenUnsavedChanges toolbar={<Toolbar><SaveButton alwaysEnable /></Toolbar>}><Fields /></SimpleForm>
    </Create>
  )
}

export function TagEdit () {
  return (
    <Edit mutationMode='pessimistic' actions={false}>
      <Heading />
      <SimpleForm warnWhenUnsavedChanges toolbar={<Toolbar><SaveButton /><DeleteWithConfirmButton mutationMode='pessimistic' sx={{ ml: 'auto' }} /></Toolbar>}><Fields /></SimpleForm>
    </Edit>
  )
}

function Heading () {
  return <Box sx={{ p: 2, pb: 0 }}><PageHeading title={useRecordContext()?.name ?? ''} /></Box>
}

function Fields () {
  return (
    <>
      <TextInput source='name' isRequired autoFocus helperText={false} />
      <TextInput source='slug' helperText={texts.products.slugHelp} />
    </>
  )
}
