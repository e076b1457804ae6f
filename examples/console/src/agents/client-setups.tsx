import { Box, Tab, Tabs, Typography } from '@mui/material'
import { useState } from 'react'
import { CopyField } from '../layout/copy-field.tsx'
import { settings } from '../settings.ts'
import { texts } from '../texts.ts'

/** The configuration of each client, with this key in it. */
export function ClientSetups ({ apiKey, onCopied }: { readonly apiKey: string, readonly onCopied: () => void }) {
  const [chosen, setChosen] = useState(0)
  const { mcp } = settings
  if (mcp === undefined) return null
  const setup = mcp.setups[chosen]!
  return (
    <Box>
      <Typography variant='h3' component='h3' sx={{ mt: 3 }}>{texts.keys.connect}</Typography>
      <Tabs
        value={chosen}
        onChange={(_event, index: number) => setChosen(index)}
        variant='scrollable'
        allowScrollButtonsMobile
        aria-label={texts.keys.connect}
        sx={{ mb: 1.5, borderBottom: 1, borderColor: 'divider' }}
      >
        {mcp.setups.map(({ client }, index) => (
          <Tab key={client} label={client} id={`setup-${index}`} aria-controls='setup' />
        ))}
      </Tabs>
      <Box role='tabpanel' id='setup' aria-labelledby={`setup-${chosen}`}>
        <CopyField label={setup.place} text={setup.text.replaceAll(mcp.key_place, () => apiKey)} onCopied={onCopied} />
      </Box>
    </Box>
  )
}
