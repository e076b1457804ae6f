import { Pagination, useListContext } from 'react-admin'

/** The pages of the list around; none while nobody knows how many there are. */
export function Pages () {
  const { total } = useListContext()
  return total === undefined ? null : <Pagination rowsPerPageOptions={[25, 50, 100]} />
}
