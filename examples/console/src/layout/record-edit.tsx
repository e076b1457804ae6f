import { Card } from '@mui/material'
import type { ReactNode } from 'react'
import { Edit, type EditProps, useEditContext } from 'react-admin'
import { AS_OPENED } from '../api/save.ts'
import { NoRecord } from './no-record.tsx'

interface FrameProps { readonly className?: string, readonly children?: ReactNode }

/** The form of a record, as the record was when somebody opened it. */
export function RecordEdit (props: EditProps) {
  return <Edit mutationMode='pessimistic' queryOptions={AS_OPENED} actions={false} component={InCard} {...props} />
}

function InCard ({ className, children }: FrameProps) {
  return <OrNoRecord><Card className={className}>{children}</Card></OrNoRecord>
}

/** The frame of a form that has cards of its own. */
export function WithoutCard ({ className, children }: FrameProps) {
  return <OrNoRecord><div className={className}>{children}</div></OrNoRecord>
}

function OrNoRecord ({ children }: { readonly children: ReactNode }) {
  const { record, error } = useEditContext()
  return record === undefined && error !== null ? <NoRecord error={error} /> : children
}
