import { Box, Card } from '@mui/material'
import type { ReactNode } from 'react'
import { ListBase, SaveButton, SimpleForm, Toolbar, useListContext, useRecordContext } from 'react-admin'
import { AS_LISTED } from '../api/save.ts'
import { CreateLink } from '../layout/create-link.tsx'
import { DeleteButton } from '../layout/delete-button.tsx'
import { EmptyList, ListFilters } from '../layout/filter-chips.tsx'
import { FormGuard } from '../layout/form-guard.tsx'
import { PageHeading } from '../layout/page.tsx'
import { Pages } from '../layout/pages.tsx'
import { RecordCreate } from '../layout/record-create.tsx'
import { RecordEdit } from '../layout/record-edit.tsx'
import { RecordTable } from '../layout/record-table.tsx'
import { SaveNew } from '../layout/save-new.tsx'
import { KEEP_TYPED } from '../layout/sending.ts'

interface Words {
  readonly create: string
  readonly search: string
  readonly empty: string
  readonly emptyWhy: string
}

/** Records that have a name, which can be searched; `children` are the columns. */
export function NamedRecordList (
  { title, words, children }: { readonly title: string, readonly words: Words, readonly children: ReactNode }
) {
  return (
    <ListBase sort={{ field: 'name', order: 'ASC' }} perPage={50} queryOptions={AS_LISTED}>
      <PageHeading title={title}>
        <CreateLink text={words.create} />
      </PageHeading>
      <Card>
        <ListFilters search={words.search} />
        <Records words={words}>{children}</Records>
      </Card>
    </ListBase>
  )
}

function Records ({ words, children }: { readonly words: Words, readonly children: ReactNode }) {
  const { total, isPending } = useListContext()
  if (!isPending && (total ?? 0) === 0) return <EmptyList title={words.empty} text={words.emptyWhy} />
  return (
    <>
      <RecordTable rowClick='edit' bulkActionButtons={false}>{children}</RecordTable>
      <Pages />
    </>
  )
}

export function NamedRecordCreate (
  { title, defaults, children }: { readonly title: string, readonly defaults?: object, readonly children: ReactNode }
) {
  return (
    <RecordCreate to='list'>
      <Heading title={title} />
      <SimpleForm
        defaultValues={defaults}
        toolbar={
          <Toolbar>
            <SaveNew />
          </Toolbar>
        }
      >
        <FormGuard>{children}</FormGuard>
      </SimpleForm>
    </RecordCreate>
  )
}

export function NamedRecordEdit (
  { canDelete = true, children }: { readonly canDelete?: boolean, readonly children: ReactNode }
) {
  return (
    <RecordEdit>
      <NameAsHeading />
      <SimpleForm
        resetOptions={KEEP_TYPED}
        toolbar={
          <Toolbar>
            <SaveButton />
            {canDelete && <DeleteButton />}
          </Toolbar>
        }
      >
        <FormGuard>{children}</FormGuard>
      </SimpleForm>
    </RecordEdit>
  )
}

function NameAsHeading () {
  return <Heading title={useRecordContext()?.name ?? ''} />
}

function Heading ({ title }: { readonly title: string }) {
  return (
    <Box sx={{ p: 2, pb: 0 }}>
      <PageHeading title={title} />
    </Box>
  )
}
