import HistoryIcon from '@mui/icons-material/History'
import { Box, Button, Stack } from '@mui/material'
import { Fragment, lazy, type ReactNode, Suspense } from 'react'
import { Form, SaveButton, SelectInput, TextInput, useBasename, useRecordContext } from 'react-admin'
import { Link } from 'react-router-dom'
import { DeleteButton } from '../layout/delete-button.tsx'
import { FormGuard } from '../layout/form-guard.tsx'
import { PageHeading } from '../layout/page.tsx'
import type { productFields } from '../../../shop/src/catalog/product-fields.ts'
import { RecordCreate } from '../layout/record-create.tsx'
import { FLAT, RecordEdit, WithoutCard } from '../layout/record-edit.tsx'
import { loaded } from '../loaded.ts'
import { SaveBar } from '../layout/save-bar.tsx'
import { SaveNew } from '../layout/save-new.tsx'
import { KEEP_TYPED } from '../layout/sending.ts'
import { Section } from '../layout/section.tsx'
import { statusText, texts } from '../texts.ts'
import { useShop } from '../viewer.tsx'
import { AttributesInput } from './attributes-input.tsx'
import { CategoriesInput } from './categories-input.tsx'
import { CurrencyInput } from './currency-input.tsx'
import { MoneyInput } from './money-input.tsx'
import { PicturesInput } from './pictures-input.tsx'
import { TagsInput } from './tags-input.tsx'

const PricesOfProduct = lazy(async () => await loaded(async () => await import('./prices-of-product.tsx')))

/** Creates a product. */
export function ProductCreate () {
  const { currency } = useShop()
  return (
    <RecordCreate to='edit' component='div' sx={FLAT}>
      <PageHeading title={texts.products.create} />
      <Form
        defaultValues={{ status: 'draft', currency, category_ids: [], tag_ids: [], attributes: [], image_urls: [] }}
      >
        <FormGuard>
          <Fields />
        </FormGuard>
      </Form>
    </RecordCreate>
  )
}

/** Changes a product. */
export function ProductEdit () {
  return (
    <RecordEdit component={WithoutCard} stays sx={FLAT}>
      <Heading />
      <Form resetOptions={KEEP_TYPED}>
        <FormGuard>
          <Fields isKnown />
        </FormGuard>
      </Form>
      <Box sx={{ mt: 2 }}>
        <Suspense>
          <PricesOfProduct />
        </Suspense>
      </Box>
    </RecordEdit>
  )
}

function Heading () {
  const product = useRecordContext()
  const basename = useBasename()
  if (product === undefined) return null
  const filter = encodeURIComponent(JSON.stringify({ record_id: product.id }))
  return (
    <PageHeading title={product.name}>
      <Button component={Link} to={`${basename}/history?filter=${filter}`} startIcon={<HistoryIcon />}>
        {texts.products.history}
      </Button>
    </PageHeading>
  )
}

type Part = 'basics' | 'pictures' | 'attributes' | 'selling' | 'organisation'

/**
 * The input of each field, and the part of the form that it is in; null for a field that has none of its own. A field
 * of the server that is missing here does not compile. For numbers, `numberFrom` reads what is typed, as in
 * attributes-input.tsx: react-admin's NumberInput takes 1,5 for 15.
 */
const INPUTS: Readonly<Record<keyof typeof productFields, readonly [part: Part, input: () => ReactNode] | null>> = {
  name: ['basics', () => <TextInput source='name' isRequired helperText={false} />],
  description: ['basics', () => <TextInput source='description' multiline minRows={4} helperText={false} />],
  slug: ['basics', () => <TextInput source='slug' helperText={texts.products.slugHelp} />],
  image_urls: ['pictures', () => <PicturesInput source='image_urls' />],
  attributes: ['attributes', () => <AttributesInput source='attributes' />],
  status: [
    'selling',
    () => (
      <SelectInput
        source='status'
        choices={['draft', 'active', 'archived'].map((id) => ({ id, name: statusText(id) }))}
        isRequired
        helperText={texts.products.statusHelp}
      />
    )
  ],
  price_amount: ['selling', () => (
    <Box sx={{ display: 'flex', gap: 1 }}>
      <MoneyInput source='price_amount' helperText={texts.products.priceHelp} />
      <Box sx={{ flex: '0 0 130px' }}>
        <CurrencyInput source='currency' />
      </Box>
    </Box>
  )],
  // Beside the price.
  currency: null,
  sku: ['selling', () => <TextInput source='sku' helperText={false} />],
  category_ids: ['organisation', () => <CategoriesInput source='category_ids' />],
  tag_ids: ['organisation', () => <TagsInput source='tag_ids' />],
  // For programs.
  metadata: null
}

/** A part of the form, with its inputs in their order. */
function InputsOf ({ part }: { readonly part: Part }) {
  return (
    <Section title={texts.products[part]}>
      {Object.entries(INPUTS).map(([name, input]) =>
        input?.[0] === part && <Fragment key={name}>{input[1]()}</Fragment>
      )}
    </Section>
  )
}

function Fields ({ isKnown = false }: { readonly isKnown?: boolean }) {
  return (
    <Box
      sx={{
        display: 'grid',
        gap: 2,
        gridTemplateColumns: { xs: 'minmax(0, 1fr)', md: 'minmax(0, 3fr) minmax(0, 2fr)' },
        alignItems: 'start'
      }}
    >
      <Stack spacing={2} sx={{ minWidth: 0, gridRow: { md: 'span 2' } }}>
        <InputsOf part='basics' />
        <InputsOf part='pictures' />
        <InputsOf part='attributes' />
      </Stack>
      <Stack spacing={2} sx={{ minWidth: 0 }}>
        <InputsOf part='selling' />
        <InputsOf part='organisation' />
      </Stack>
      <SaveBar>
        {isKnown ? <SaveButton /> : <SaveNew />}
        {isKnown && <DeleteButton />}
      </SaveBar>
    </Box>
  )
}
