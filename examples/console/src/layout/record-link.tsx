import { useCreatePath, useRecordContext, useResourceContext } from 'react-admin'
import { PageLink } from './page-link.tsx'

/** The name of a record in a list, which leads to its page: by keyboard and in a new tab too. */
export function RecordLink ({ text, to = 'edit' }: { readonly text?: string, readonly to?: 'edit' | 'show' }) {
  const createPath = useCreatePath()
  const resource = useResourceContext()!
  const record = useRecordContext()
  return <PageLink to={createPath({ resource, type: to, id: record!.id })}>{text ?? record!['name']}</PageLink>
}
