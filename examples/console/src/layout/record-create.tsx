import { type ReactNode, useRef } from 'react'
import { Create, type CreateProps, useDataProvider } from 'react-admin'
import type { Versioned } from '../api/save.ts'
import { withoutEmpty } from '../catalog/without-empty.ts'
import { SendingContext } from './sending.ts'
import { useSaved } from './use-saved.ts'

/** A version of the record. */
type Made = Versioned & { readonly id: string }

interface RecordCreateProps extends Omit<CreateProps, 'redirect'> {
  /** What comes once it is saved. */
  readonly to: 'list' | 'edit'
  readonly children: ReactNode
}

/** The form of a new record. It stays for what was typed since it was sent: the next save changes the record. */
export function RecordCreate ({ to, ...props }: RecordCreateProps) {
  const dataProvider = useDataProvider()
  const { current: made } = useRef<Made[]>([])
  const { sending, onSuccess, onError } = useSaved(() => made.length === 1 ? 'created' : 'updated', to)
  const write = async (resource: string, data: object): Promise<Made> => {
    const last = made.at(-1)
    const { data: stored } = last === undefined
      ? await dataProvider.create(resource, { data: withoutEmpty({ ...data }) })
      : await dataProvider.update(resource, { id: last.id, data, previousData: last })
    made.push(stored)
    return stored
  }
  return (
    <SendingContext.Provider value={sending}>
      <Create
        actions={false}
        transform={(data: object) => {
          sending.sent = { ...data }
          return data
        }}
        mutationOptions={{
          onSuccess,
          onError,
          mutationFn: async ({ resource, data }: { readonly resource?: string, readonly data?: object }) =>
            await write(resource!, data!)
        }}
        {...props}
      />
    </SendingContext.Provider>
  )
}
