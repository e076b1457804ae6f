import DeleteIcon from '@mui/icons-material/DeleteOutlineOutlined'
import { useDelete, useNotify, useRecordContext, useResourceContext } from 'react-admin'
import type { Versioned } from '../api/save.ts'
import { texts } from '../texts.ts'
import { ActButton } from './act-button.tsx'
import { useGoOn } from './use-go-on.ts'

/**
 * Deletes the record of the page after a question, unless others have changed it since it was read. Then the list is
 * shown.
 */
export function DeleteButton () {
  const resource = useResourceContext()!
  const record = useRecordContext<Versioned & { readonly id: string, readonly name: string }>()!
  const [remove] = useDelete()
  const goOn = useGoOn()
  const notify = useNotify()
  const { id, name } = record
  const act = async () => {
    await remove(resource, { id, previousData: record }, { mutationMode: 'pessimistic', returnPromise: true })
    notify(texts.ask.deleted(name), { type: 'success' })
    goOn('list')
  }
  return (
    <ActButton
      color='error'
      size='small'
      startIcon={<DeleteIcon />}
      sx={{ ml: 'auto' }}
      act={act}
      question={{ title: texts.ask.delete(name), why: texts.ask.canBeUndone }}
    >
      {texts.ask.deleteIt}
    </ActButton>
  )
}
