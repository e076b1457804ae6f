import { useLocation } from 'react-router-dom'
import { ActivityList } from './activity-list.tsx'
import { WorkPage } from './work-page.tsx'

/** What was changed in the shop: by piece of work, or each change where the address has a filter of changes. */
export function ActivityPage () {
  const search = new URLSearchParams(useLocation().search)
  return search.has('filter') ? <ActivityList /> : <WorkPage />
}
