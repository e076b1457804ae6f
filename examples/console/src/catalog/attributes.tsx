import { Autocomplete, Chip, Stack, TextField } from '@mui/material'
import { FieldTitle, InputHelperText, SelectInput, TextInput, useInput } from 'react-admin'
import { useWatch } from 'react-hook-form'
import { RecordLink } from '../layout/record-link.tsx'
import { Col } from '../layout/record-table.tsx'
import { texts } from '../texts.ts'
import { messageIn } from './categories-input.tsx'
import { NamedRecordCreate, NamedRecordEdit, NamedRecordList } from './named-records.tsx'
import type { Attribute } from './use-catalog.ts'

/** How many choices stand in a row. */
const SHOWN = 4

/** What describes the products of the shop. */
export function AttributeList () {
  return (
    <NamedRecordList title={texts.menu.attributes} words={texts.attributes}>
      <Col source='name' isName>
        <RecordLink />
      </Col>
      <Col source='code' sx={{ fontFamily: 'ui-monospace, monospace' }} />
      <Col source='type' render={({ type }) => texts.attributes.types[type] ?? type} />
      <Col source='unit' />
      <Col
        source='options'
        disableSort
        render={({ options }: Attribute & { id: string }) => (
          <Stack direction='row' sx={{ gap: 0.5, flexWrap: 'wrap' }}>
            {options.slice(0, SHOWN).map((option) => <Chip key={option} size='small' label={option} />)}
            {options.length > SHOWN && <Chip size='small' label={texts.filters.more(options.length - SHOWN)} />}
          </Stack>
        )}
      />
    </NamedRecordList>
  )
}

export function AttributeCreate () {
  return (
    <NamedRecordCreate title={texts.attributes.create} defaults={{ type: 'text' }}>
      <Fields />
    </NamedRecordCreate>
  )
}

export function AttributeEdit () {
  return (
    <NamedRecordEdit>
      <Fields />
    </NamedRecordEdit>
  )
}

function Fields () {
  const type = useWatch({ name: 'type' })
  return (
    <>
      <TextInput source='name' isRequired helperText={false} />
      <TextInput source='code' helperText={texts.attributes.codeHelp} />
      <SelectInput
        source='type'
        choices={Object.entries(texts.attributes.types).map(([id, name]) => ({ id, name }))}
        isRequired
        helperText={false}
      />
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
      multiple
      freeSolo
      autoSelect
      options={[] as string[]}
      value={(field.value ?? []) as string[]}
      onChange={(_event, values) => field.onChange(values)}
      onBlur={() => field.onBlur()}
      fullWidth
      renderInput={(params) => (
        <TextField
          {...params}
          inputRef={field.ref}
          label={<FieldTitle source={source} />}
          error={invalid}
          helperText={<InputHelperText error={messageIn(error)} helperText={texts.attributes.optionsHelp} />}
        />
      )}
    />
  )
}
