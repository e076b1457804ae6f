import { useNotify, useRedirect, useResourceContext } from 'react-admin'

/**
 * Mutation options of a form that creates: it goes on once the form counts as submitted, and does not ask about unsaved
 * changes.
 */
export function useCreated (to: 'list' | 'edit'): { readonly onSuccess: (record: { readonly id: string }) => void } {
  const resource = useResourceContext()
  const notify = useNotify()
  const redirect = useRedirect()
  return {
    onSuccess: (record) => {
      notify('ra.notification.created', { type: 'success', messageArgs: { smart_count: 1 } })
      setTimeout(() => redirect(to, resource, record.id, record as never), 50)
    }
  }
}
