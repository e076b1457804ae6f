import { ApiError } from '../api/problem.ts'
import { texts } from '../texts.ts'
import { NotFound } from './not-found.tsx'
import { PageHeading } from './page.tsx'

/** In place of a record that could not be read; why, the page says above. */
export function NoRecord ({ error }: { readonly error: unknown }) {
  return error instanceof ApiError && error.status === 404 ? <NotFound /> : <PageHeading title={texts.errors.title} />
}
