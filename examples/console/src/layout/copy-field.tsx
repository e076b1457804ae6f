import CheckIcon from '@mui/icons-material/Check'
import CopyIcon from '@mui/icons-material/ContentCopy'
import { Box, Button, Typography } from '@mui/material'
import { useState } from 'react'
import { texts } from '../texts.ts'

/** How long a copy button says that it copied, in milliseconds. */
const SAID = 2500

/** A button that copies a text and says so. */
export function CopyButton (
  { text, label = texts.copy.copy, onCopied }: {
    readonly text: string,
    readonly label?: string,
    readonly onCopied?: () => void
  }
) {
  const [state, setState] = useState<'copied' | 'failed'>()
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setState('copied')
      onCopied?.()
    } catch {
      setState('failed')
    }
    setTimeout(() => setState(undefined), SAID)
  }
  return (
    <Button
      size='small'
      variant='outlined'
      color={state === 'failed' ? 'error' : 'primary'}
      startIcon={state === 'copied' ? <CheckIcon /> : <CopyIcon />}
      onClick={() => {
        copy()
      }}
    >
      <span aria-live='polite'>{state === undefined ? label : texts.copy[state]}</span>
    </Button>
  )
}

/** A text in a box of its own, as code, with a button that copies it. */
export function CopyField (
  { label, text, onCopied }: { readonly label: string, readonly text: string, readonly onCopied?: () => void }
) {
  return (
    <Box sx={{ border: 1, borderColor: 'divider', borderRadius: 1, overflow: 'hidden' }}>
      <Box
        sx={{
          display: 'flex',
          alignItems: 'center',
          justifyContent: 'space-between',
          px: 1.5,
          py: 0.75,
          borderBottom: 1,
          borderColor: 'divider'
        }}
      >
        <Typography variant='body2' color='textSecondary'>{label}</Typography>
        <CopyButton text={text} {...onCopied !== undefined && { onCopied }} />
      </Box>
      <Box
        component='pre'
        role='region'
        tabIndex={0}
        aria-label={label}
        sx={{
          m: 0,
          p: 1.5,
          overflowX: 'auto',
          fontFamily: 'ui-monospace, monospace',
          fontSize: '.82rem',
          whiteSpace: 'pre-wrap',
          overflowWrap: 'anywhere',
          bgcolor: 'background.default'
        }}
      >
        {text}
      </Box>
    </Box>
  )
}
