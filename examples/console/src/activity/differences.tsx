import {
  Box,
  Link as MuiLink,
  Table,
  TableBody,
  TableCell,
  TableContainer,
  TableHead,
  TableRow,
  Typography
} from '@mui/material'
import { useBasename } from 'react-admin'
import { Link } from 'react-router-dom'
import { texts } from '../texts.ts'
import { useShop } from '../viewer.tsx'
import { affectedText, type Entry, fieldName } from './entry.ts'
import { useWords } from './words.ts'

/** Each changed field, before and after. Values are text: nothing of them runs. */
export function Differences ({ entry }: { readonly entry: Entry }) {
  const { changes, affected = {}, request_id: requestId, record_id: recordId, record_kind: kind, action } = entry
  const basename = useBasename()
  const { locale } = useShop()
  const words = useWords([entry])
  const fields = Object.entries(changes)
  const hasBefore = action !== 'create' && fields.some(([, { before }]) => before !== undefined)
  const hasAfter = action !== 'delete'
  const filter = (value: object) => `${basename}/history?filter=${encodeURIComponent(JSON.stringify(value))}`
  return (
    <>
      {fields.length > 0 && (
        <TableContainer
          tabIndex={0}
          role='region'
          aria-label={texts.activity.details}
          sx={{ border: 1, borderColor: 'divider', borderRadius: 1 }}
        >
          <Table size='small' aria-label={texts.activity.details}>
            <TableHead>
              <TableRow>
                <TableCell>{texts.activity.field}</TableCell>
                {hasBefore && <TableCell>{texts.activity.before}</TableCell>}
                {hasAfter && <TableCell>{texts.activity.after}</TableCell>}
              </TableRow>
            </TableHead>
            <TableBody>
              {fields.map(([field]) => (
                <TableRow key={field}>
                  <TableCell component='th' scope='row' sx={{ whiteSpace: 'nowrap', verticalAlign: 'top' }}>
                    {fieldName(field, kind)}
                  </TableCell>
                  {hasBefore && (
                    <Value text={words.value(entry, field, 'before')} mark={hasAfter ? 'before' : undefined} />
                  )}
                  {hasAfter && (
                    <Value text={words.value(entry, field, 'after')} mark={hasBefore ? 'after' : undefined} />
                  )}
                </TableRow>
              ))}
            </TableBody>
          </Table>
        </TableContainer>
      )}
      {Object.keys(affected).length > 0 && (
        <Typography variant='body2' sx={{ mt: 1 }}>
          {texts.activity.affected} {affectedText(affected, locale)}
        </Typography>
      )}
      <Box sx={{ display: 'flex', gap: 2, flexWrap: 'wrap', py: 1 }}>
        <MuiLink component={Link} variant='body2' to={filter({ record_id: recordId })}>{texts.activity.record}</MuiLink>
        {requestId !== null && (
          <MuiLink component={Link} variant='body2' to={filter({ request_id: requestId })}>
            {`${texts.activity.request} ${requestId}`}
          </MuiLink>
        )}
      </Box>
    </>
  )
}

const COLORS = { before: 'error.main', after: 'success.main' }

function Value ({ text, mark }: { readonly text: string, readonly mark: 'before' | 'after' | undefined }) {
  const color = mark && COLORS[mark]
  return (
    <TableCell sx={{ verticalAlign: 'top', borderLeft: mark === undefined ? 0 : 3, borderLeftColor: color }}>
      <Box
        component={mark === 'before' ? 'del' : 'span'}
        sx={{
          textDecoration: 'none',
          whiteSpace: 'pre-wrap',
          overflowWrap: 'anywhere',
          maxHeight: 240,
          overflowY: 'auto',
          display: 'block'
        }}
      >
        {text}
      </Box>
    </TableCell>
  )
}
