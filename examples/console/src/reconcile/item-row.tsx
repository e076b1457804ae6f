import { Box, Chip, Table, TableBody, TableCell, TableContainer, TableHead, TableRow, Typography } from '@mui/material'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useBasename } from 'react-admin'
import { useNavigate } from 'react-router-dom'
import { valueText } from '../activity/entry.ts'
import { ActButton } from '../layout/act-button.tsx'
import { OfServer } from '../layout/of-server.tsx'
import { texts } from '../texts.ts'
import { useViewer } from '../viewer.tsx'
import { CustomerLink } from './customer-link.tsx'
import { ACCOUNTS, type Candidate, type Item, remediesFor, type Run, RUNS } from './run.ts'

/** An account that a run found something about: what, stored against live, and what can be done. */
export function ItemRow ({ item }: { readonly item: Item }) {
  const { call } = useViewer()
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const basename = useBasename()
  const [done, setDone] = useState<string>()
  const remedies = remediesFor(item)
  const act = (path: string, said: string, data?: object) => async () => {
    await call(`${ACCOUNTS}/${encodeURIComponent(item.account_id)}/${path}`, {
      method: 'POST',
      ...data !== undefined && { data }
    })
    setDone(said)
    await queryClient.invalidateQueries({ queryKey: ['accounts'] })
  }
  const find = async () => {
    const { json: { id } } = await call<Run>(RUNS, {
      method: 'POST',
      data: { mode: 'link', accounts: [item.account_id] }
    })
    navigate(`${basename}/reconciliation/${id}`)
  }
  return (
    <Box component='li' sx={{ borderTop: 1, borderColor: 'divider', p: 2 }}>
      <Box sx={{ display: 'flex', gap: 1, flexWrap: 'wrap', alignItems: 'center' }}>
        <Typography sx={{ fontWeight: 650 }}>{item.account_name}</Typography>
        <Typography color='textSecondary' variant='body2'>{item.shop_name}</Typography>
        {item.outcome !== 'different' && (
          <Chip
            size='small'
            variant='outlined'
            color={item.outcome === 'failed' ? 'error' : 'info'}
            label={texts.reconcile.outcomes[item.outcome] ?? item.outcome}
          />
        )}
        {item.differences.map((kind) => (
          <Chip
            key={kind}
            size='small'
            variant='outlined'
            color='warning'
            label={texts.reconcile.differences[kind] ?? kind}
          />
        ))}
        <Box sx={{ flex: 1 }} />
        {done !== undefined && <Chip size='small' color='success' label={done} />}
        {done === undefined && remedies.includes('sync') && (
          <ActButton size='small' variant='outlined' act={act('sync-pay', texts.reconcile.synced)}>
            {texts.reconcile.sync}
          </ActButton>
        )}
        {remedies.includes('find') && (
          <ActButton size='small' variant='outlined' act={find}>{texts.reconcile.find}</ActButton>
        )}
        {done === undefined && remedies.includes('unlink') && (
          <ActButton
            size='small'
            color='error'
            question={{
              title: texts.reconcile.unlinkTitle(item.account_name),
              why: texts.reconcile.unlinkWhy(item.after!)
            }}
            act={act('unlink-pay', texts.reconcile.unlinked, { pay_customer_id: item.after })}
          >
            {texts.reconcile.unlink}
          </ActButton>
        )}
      </Box>
      <Typography variant='body2' color='textSecondary' sx={{ overflowWrap: 'anywhere' }}>
        {item.after === null ? texts.reconcile.noCustomer : <CustomerLink id={item.after} />}
        {item.reason !== null && (
          <>
            {' · '}
            <OfServer text={item.reason} />
          </>
        )}
        {item.error_code !== null && ` · ${texts.reconcile.reasons[item.error_code] ?? item.error_code}`}
      </Typography>
      {item.fields.length > 0 && <Fields item={item} />}
      {item.candidates.map((candidate) => (
        <CandidateRow
          key={candidate.pay_customer_id}
          candidate={candidate}
          onLink={done === undefined && remedies.includes('link')
            ? act('link-pay', texts.reconcile.linked, { pay_customer_id: candidate.pay_customer_id })
            : undefined}
        />
      ))}
    </Box>
  )
}

function Fields ({ item: { fields, account_name: name } }: { readonly item: Item }) {
  return (
    <TableContainer
      tabIndex={0}
      role='region'
      aria-label={`${texts.activity.details}: ${name}`}
      sx={{ mt: 1, border: 1, borderColor: 'divider', borderRadius: 1, maxWidth: 760 }}
    >
      <Table size='small' aria-label={`${texts.activity.details}: ${name}`}>
        <TableHead>
          <TableRow>
            <TableCell>{texts.activity.field}</TableCell>
            <TableCell>{texts.reconcile.stored}</TableCell>
            <TableCell>{texts.reconcile.live}</TableCell>
          </TableRow>
        </TableHead>
        <TableBody>
          {fields.map(({ field, stored, live }) => (
            <TableRow key={field}>
              <TableCell component='th' scope='row'>{field}</TableCell>
              <TableCell sx={{ borderLeft: 3, borderLeftColor: 'error.main', overflowWrap: 'anywhere' }}>
                {valueText(stored)}
              </TableCell>
              <TableCell sx={{ borderLeft: 3, borderLeftColor: 'success.main', overflowWrap: 'anywhere' }}>
                {valueText(live)}
              </TableCell>
            </TableRow>
          ))}
        </TableBody>
      </Table>
    </TableContainer>
  )
}

function CandidateRow (
  { candidate: { pay_customer_id: id, name, email, match, linked }, onLink }: {
    readonly candidate: Candidate,
    readonly onLink: (() => Promise<void>) | undefined
  }
) {
  return (
    <Box sx={{ display: 'flex', gap: 1, alignItems: 'center', flexWrap: 'wrap', mt: 1 }}>
      <Typography variant='body2' sx={{ overflowWrap: 'anywhere' }}>
        {texts.reconcile.candidate(match)}: <b>{name ?? id}</b>
        {email !== null && ` ${email}`}{' '}
        <Typography component='span' variant='caption' color='textSecondary'>
          <CustomerLink id={id} />
        </Typography>
      </Typography>
      {linked
        ? <Chip size='small' label={texts.reconcile.taken} />
        : onLink !== undefined && (
          <ActButton size='small' variant='contained' act={onLink}>{texts.reconcile.link}</ActButton>
        )}
    </Box>
  )
}
