import { Alert, Box, Button } from '@mui/material'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useNotify } from 'react-admin'
import { heirsIn } from '../people/heirs.ts'
import { type Decision, LeavingDialog } from '../people/leaving-dialog.tsx'
import { texts } from '../texts.ts'
import { useShop, useViewer } from '../viewer.tsx'
import { useWaitingKeys } from './use-waiting-keys.ts'

interface Maker {
  readonly id: string
  readonly name: string
}

/**
 * The keys that are active and refused, because who made them has left; owners decide about them.
 *
 * @param keyId - of the only one that is named. Default: all
 */
export function WaitingKeys ({ keyId }: { readonly keyId?: string }) {
  const { call, id, name } = useViewer()
  const shop = useShop()
  const notify = useNotify()
  const queryClient = useQueryClient()
  const [asked, setAsked] = useState<Maker>()
  const keys = useWaitingKeys().filter(({ id }) => keyId === undefined || id === keyId)
  if (keys.length === 0) return null
  const makers = new Map(
    keys.filter((key) => key.user_id !== null).map((key) => [key.user_id!, key.user_name ?? key.user_id!])
  )
  const pathOf = (maker: Maker) => `/shops/${shop.id}/members/${maker.id}/api-keys`
  const decide = async (maker: Maker, decision: Decision) => {
    await call(pathOf(maker), { method: 'PUT', data: decision })
    await queryClient.invalidateQueries({ queryKey: ['api-keys'] })
    notify(texts.leaving.done, { type: 'success' })
  }
  return (
    <Alert severity='warning' sx={{ mb: 2 }}>
      {texts.leaving.waiting(keys.length)}
      <Box component='ul' sx={{ my: 0.5, pl: 3 }}>
        {keys.map((key) => (
          <li key={key.id}>
            {key.user_id === null
              ? texts.leaving.waitingOfNobody(key.name)
              : texts.leaving.waitingOf(key.name, makers.get(key.user_id)!)}
          </li>
        ))}
      </Box>
      {shop.isOwner &&
        [...makers].map(([makerId, makerName]) => (
          <Button
            key={makerId}
            size='small'
            color='inherit'
            onClick={() => setAsked({ id: makerId, name: makerName })}
          >
            {texts.leaving.decide(makerName)}
          </Button>
        ))}
      {asked !== undefined && (
        <LeavingDialog
          title={texts.leaving.decideTitle(asked.name)}
          why={texts.leaving.decideWhy}
          submit={texts.leaving.submit}
          keysPath={pathOf(asked)}
          mayDecide
          mayWait={false}
          heirs={async () => await heirsIn(call, shop.id, { id, name }, asked.id)}
          onConfirm={async (decision) => await decide(asked, decision)}
          onClose={() => setAsked(undefined)}
        />
      )}
    </Alert>
  )
}
