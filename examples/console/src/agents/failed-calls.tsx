import { Box, Typography } from '@mui/material'
import { visible } from '../../../../shared/visible.ts'
import { texts } from '../texts.ts'
import { exactTimeText } from '../times.ts'
import { useShop } from '../viewer.tsx'
import { type FailedCall, indented } from './key-use.ts'

const CODE = {
  fontFamily: 'ui-monospace, monospace',
  fontSize: '.82rem',
  whiteSpace: 'pre-wrap',
  overflowWrap: 'anywhere',
  m: 0
} as const

/** The newest calls that failed: what the agent sent, and what it read. Both are text: nothing of them runs. */
export function FailedCalls ({ calls }: { readonly calls: readonly FailedCall[] }) {
  const shop = useShop()
  return (
    <Box component='ol' sx={{ listStyle: 'none', m: 0, p: 0 }}>
      {calls.map(({ at, tool, status, answer, arguments: args }, index) => (
        <Box component='li' key={index} sx={{ py: 1.5, borderTop: 1, borderColor: 'divider' }}>
          <Typography variant='body2' component='h3' sx={{ fontWeight: 600, overflowWrap: 'anywhere' }}>
            {tool}
          </Typography>
          <Typography variant='caption' component='div' color='textSecondary'>
            <time dateTime={at}>{exactTimeText(at, shop)}</time>
            {' · '}
            {status === null ? texts.keys.notSent : texts.keys.status(status)}
          </Typography>
          <Box component='pre' lang='en' sx={{ ...CODE, my: 0.5 }}>{visible(answer, { lines: true })}</Box>
          <details>
            <Typography
              component='summary'
              variant='body2'
              color='primary'
              sx={{ cursor: 'pointer', width: 'fit-content' }}
            >
              {texts.keys.arguments}
            </Typography>
            <Box component='pre' sx={{ ...CODE, mt: 0.5, p: 1.5, bgcolor: 'background.default', borderRadius: 1 }}>
              {visible(indented(args), { lines: true })}
            </Box>
          </details>
        </Box>
      ))}
    </Box>
  )
}
