import { Button, ButtonGroup } from '@mui/material'
import { useBasename } from 'react-admin'
import { Link } from 'react-router-dom'
import { texts } from '../texts.ts'

/** @param filter - of the changes that are shown one by one */
export function Views ({ current, filter = {} }: { readonly current: 'work' | 'each', readonly filter?: object }) {
  const path = `${useBasename()}/history`
  const views = [
    ['work', texts.activity.work.title, path],
    [
      'each',
      texts.activity.work.each,
      `${path}?filter=${encodeURIComponent(JSON.stringify(filter))}`
    ]
  ] as const
  return (
    <ButtonGroup aria-label={texts.activity.views}>
      {views.map(([view, name, to]) => (
        <Button
          key={view}
          component={Link}
          to={to}
          aria-current={view === current ? 'page' : undefined}
          variant={view === current ? 'contained' : 'outlined'}
        >
          {name}
        </Button>
      ))}
    </ButtonGroup>
  )
}
