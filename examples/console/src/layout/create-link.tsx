import AddIcon from '@mui/icons-material/Add'
import { Button } from '@mui/material'
import { useCreatePath, useResourceContext } from 'react-admin'
import { Link } from 'react-router-dom'

/** Leads to the form of a new record. On a phone, react-admin's lies over the last rows of the list. */
export function CreateLink ({ text }: { readonly text: string }) {
  const createPath = useCreatePath()
  const resource = useResourceContext()!
  return (
    <Button
      variant='contained'
      size='small'
      startIcon={<AddIcon />}
      component={Link}
      to={createPath({ resource, type: 'create' })}
    >
      {text}
    </Button>
  )
}
