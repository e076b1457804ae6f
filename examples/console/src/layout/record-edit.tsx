import { Card } from '@mui/material'
import type { ReactNode } from 'react'
import { Edit, type EditProps, useDataProvider, useEditContext } from 'react-admin'
import { AS_OPENED, type Versioned } from '../api/save.ts'
import { NoRecord } from './no-record.tsx'
import { PageSkeleton } from './page-skeleton.tsx'
import { SendingContext } from './sending.ts'
import { useSaved } from './use-saved.ts'

interface FrameProps {
  readonly className?: string
  readonly children?: ReactNode
}

interface RecordEditProps extends EditProps {
  /** Whether it is still there once the record is saved. Default: the list comes. */
  readonly stays?: boolean
}

interface Written {
  readonly id: string
  readonly data: object
  readonly previousData: Versioned
}

/** The form of a record, as the record was when somebody opened it. */
export function RecordEdit ({ stays = false, ...props }: RecordEditProps) {
  const { sending, ...saved } = useSaved(() => 'updated', stays ? undefined : 'list')
  const dataProvider = useDataProvider()
  const write = async (resource: string, { id, data, previousData: shown }: Written) =>
    (await dataProvider.update(resource, { id, data, previousData: sending.before ?? shown, meta: { shown } })).data
  return (
    <SendingContext.Provider value={sending}>
      <Edit
        mutationMode='pessimistic'
        mutationOptions={{
          ...saved,
          mutationFn: async ({ resource, ...params }: { readonly resource?: string }) =>
            await write(resource!, params as Written)
        }}
        transform={(data: object) => {
          sending.sent = { ...data }
          return data
        }}
        queryOptions={AS_OPENED}
        actions={false}
        component={InCard}
        {...props}
      />
    </SendingContext.Provider>
  )
}

function InCard ({ className, children }: FrameProps) {
  return (
    <OrNoRecord>
      <Card className={className}>{children}</Card>
    </OrNoRecord>
  )
}

/** Styles of a form that has cards of its own: no room above them. */
export const FLAT = {
  '& .RaEdit-noActions, & .RaCreate-noActions': { mt: 0 },
  '& .RaEdit-main, & .RaCreate-main': { mt: 0 }
} as const

/** The frame of a form that has cards of its own. */
export function WithoutCard ({ className, children }: FrameProps) {
  return (
    <OrNoRecord>
      <div className={className}>{children}</div>
    </OrNoRecord>
  )
}

function OrNoRecord ({ children }: { readonly children: ReactNode }) {
  const { record, error } = useEditContext()
  if (record !== undefined) return children
  return error === null ? <PageSkeleton /> : <NoRecord error={error} />
}
