import { Button } from '@mui/material'
import { useBasename } from 'react-admin'
import { Link, useLocation } from 'react-router-dom'
import { texts } from '../texts.ts'
import { PageHeading } from './page.tsx'

/** For addresses within a workspace that have no page. */
export function NotFound () {
  const { pathname } = useLocation()
  return (
    <>
      <PageHeading title={texts.errors.noPage} text={texts.errors.noPageAt(pathname)} />
      <div>
        <Button variant='contained' component={Link} to={useBasename()}>{texts.errors.back}</Button>
      </div>
    </>
  )
}
