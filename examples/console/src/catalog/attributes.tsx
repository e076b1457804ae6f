import AddIcon from '@mui/icons-material/Add'
import { Autocomplete, Box, Card, Chip, Stack, TextField } from '@mui/material'
import { Create, CreateButton, DataTable, DeleteWithConfirmButton, Edit, FieldTitle, FilterLiveSearch, InputHelperText, ListBase, Pagination, SaveButton, SelectInput, SimpleForm, TextInput, Toolbar, useInput, useListContext, useRecordContext } from 'react-admin'
import { useWatch } from 'react-hook-form'
import { EmptyState, PageHeading } from '../layout/page.tsx'
import { useCreated } from '../layout/use-created.ts'
import { texts } from '../texts.ts'
import { messageIn } from './categories-input.tsx'
import type { Attribute } from './use-catalog.ts'
import { withoutEmpty } from './without-empty.ts'

/** What describes the products of the shop. */
export function AttributeList () {
  return (
    <ListBase sort={{ field: 'name', order: 'ASC' }} perPage={50}>
      <PageHeading title={texts.menu.attributes}><CreateButton variant='contained' label={texts.attributes.create} icon={<AddIcon />} /></PageHeading>
      <Card>
        <Box sx={{ p: 2, maxWidth: 360 }}><FilterLiveSearch source='q' label={texts.attributes.search} placeholder={texts.attributes.search} fullWidth /></Box>
        <Attributes />
      </Card>
    </ListBase>
  )
}

/** How many choices stand in a row. */
const SHOWN = 4

function Attributes () {
  const { total, isPending } = useListContext()
  if (!isPending && total === 0) return <EmptyState title={texts.attributes.empty} text={texts.attributes.emptyWhy} />
  return (
    <>
      <DataTable rowClick='edit' bulkActionButtons={false}>
        <DataTable.Col source='name' />
        <DataTable.Col source='code' sx={{ fontFamily: 'ui-monospace, monospace' }} />
        <DataTable.Col source='type' render={({ type }) => texts.attributes.types[type] ?? type} />
        <DataTable.Col source='unit' />
        <DataTable.Col
          source='options' disableSort
          render={({ options }: Attribute & { id: string }) => <Stack direction='row' sx={{ gap: 0.5, flexWrap: 'wrap' }}>{options.slice(0, SHOWN).map((option) => <Chip key={option} size='small' label={option} />)}{options.length > SHOWN && <Chip size='small' label={texts.filters.more(options.length - SHOWN)} />}</Stack>}
        />
      </DataTable>
      <Pagination rowsPerPageOptions={[25, 50, 100]} />
    </>
  )
}

export function AttributeCreate () {
  const created = useCreated('list')
  return (
    <Create mutationOptions={created} transform={withoutEmpty} actions={false}>
      <Box sx={{ p: 2, pb: 0 }}><PageHeading title={texts.attributes.create} /></Box>
      <SimpleForm defaultValues={{ type: 'text' }} warnWhenUnsavedChanges toolbar={<Toolbar><SaveButton alwaysEnable /></Toolbar>}><Fields /></SimpleForm>
    </Create>
  )
}

export function AttributeEdit () {
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
  const type = useWatch({ name: 'type' })
  return (
    <>
      <TextInput source='name' isRequired autoFocus helperText={false} />
      <TextInput source='code' helperText={texts.attributes.codeHelp} />
      <SelectInput source='type' choices={Object.entries(texts.attributes.types).map(([id, name]) => ({ id, name }))} isRequired helperText={false} />
      <TextInput source='unit' helperText={texts.attributes.unitHelp} />
      {type === 'select' && <OptionsInput source='options' />}
    </>
  )
}

/** The choices of an attribute: what is typed becomes one with Enter. */
function OptionsInput ({ source }: { readonly source: string }) {
  const { field, fieldState: { error, invalid } } = useInput({ source, defaultValue: [] })
  return (
    <Autocomplete
      multiple freeSolo autoSelect options={[] as string[]} value={(field.value ?? []) as string[]} onChange={(_event, values) => field.onChange(values)} onBlur={() => field.onBlur()} fullWidth
      renderInput={(params) => <TextField {...params} inputRef={field.ref} label={<FieldTitle source={source} />} error={invalid} helperText={<InputHelperText error={messageIn(error)} helperText={texts.attributes.optionsHelp} />} />}
    />
  )
}
