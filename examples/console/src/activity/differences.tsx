import { Box, Link as MuiLink, Table, TableBody, TableCell, TableContainer, TableHead, TableRow, Typography } from '@mui/material'
import { useBasename, useGetOne } from 'react-admin'
import { Link } from 'react-router-dom'
import { moneyText } from '../money.ts'
import { texts } from '../texts.ts'
import { useShop } from '../viewer.tsx'
import { type Entry, fieldName, valueText } from './entry.ts'

/** The records that have amounts, and where they are read. */
const PRICED: Readonly<Record<string, string>> = { product: 'products', price: 'prices', order: 'orders' }

/** Each changed field, before and after. Values are text: nothing of them runs. */
export function Differences ({ entry: { changes, affected = {}, request_id: requestId, record_id: recordId, record_kind: kind, action } }: { readonly entry: Entry }) {
  const basename = useBasename()
  const shop = useShop()
  const fields = Object.entries(changes)
  // A change of the currency itself names both; else it is the record's. Of a record that is gone, amounts are minor units.
  const { currency } = changes
  const resource = PRICED[kind]
  const isNeeded = resource !== undefined && currency === undefined && fields.some(([field]) => field.endsWith('amount'))
  const { data: record } = useGetOne(resource ?? '', { id: recordId }, { enabled: isNeeded })
  const money = (end: 'before' | 'after') => {
    const code: unknown = currency === undefined ? record?.['currency'] : currency[end] ?? currency[end === 'after' ? 'before' : 'after']
    return typeof code === 'string' ? (amount: number) => moneyText(amount, code, shop.locale) : undefined
  }
  const hasBefore = action !== 'create' && fields.some(([, { before }]) => before !== undefined)
  const hasAfter = action !== 'delete'
  const filter = (value: object) => `${basename}/history?filter=${encodeURIComponent(JSON.stringify(value))}`
  return (
    <>
      {fields.length > 0 && (
        <TableContainer tabIndex={0} role='region' aria-label={texts.activity.details} sx={{ border: 1, borderColor: 'divider', borderRadius: 1 }}>
          <Table size='small'>
            <TableHead>
              <TableRow>
                <TableCell>{texts.activity.field}</TableCell>
                {hasBefore && <TableCell>{texts.activity.before}</TableCell>}
                {hasAfter && <TableCell>{texts.activity.after}</TableCell>}
              </TableRow>
            </TableHead>
            <TableBody>
              {fields.map(([field, { before, after }]) => (
                <TableRow key={field}>
                  <TableCell component='th' scope='row' sx={{ whiteSpace: 'nowrap', verticalAlign: 'top' }}>{fieldName(field)}</TableCell>
                  {hasBefore && <Value text={valueText(before, field, money('before'))} mark={hasAfter ? 'before' : undefined} />}
                  {hasAfter && <Value text={valueText(after, field, money('after'))} mark={hasBefore ? 'after' : undefined} />}
                </TableRow>
              ))}
            </TableBody>
          </Table>
        </TableContainer>
      )}
      {Object.keys(affected).length > 0 && <Typography variant='body2' sx={{ mt: 1 }}>{texts.activity.affected} {Object.entries(affected).map(([kind, count]) => `${count} ${kind.replaceAll('_', ' ')}`).join(', ')}</Typography>}
      <Box sx={{ display: 'flex', gap: 2, flexWrap: 'wrap', py: 1 }}>
        <MuiLink component={Link} variant='body2' to={filter({ record_id: recordId })}>{texts.activity.record}</MuiLink>
        {requestId !== null && <MuiLink component={Link} variant='body2' to={filter({ request_id: requestId })}>{`${texts.activity.request} ${requestId}`}</MuiLink>}
      </Box>
    </>
  )
}

function Value ({ text, mark }: { readonly text: string, readonly mark: 'before' | 'after' | undefined }) {
  const color = mark === undefined ? undefined : mark === 'before' ? 'error.main' : 'success.main'
  return (
    <TableCell sx={{ verticalAlign: 'top', borderLeft: mark === undefined ? 0 : 3, borderLeftColor: color }}>
      <Box component={mark === 'before' ? 'del' : 'span'} sx={{ textDecoration: 'none', whiteSpace: 'pre-wrap', overflowWrap: 'anywhere', maxHeight: 240, overflowY: 'auto', display: 'block' }}>{text}</Box>
    </TableCell>
  )
}
