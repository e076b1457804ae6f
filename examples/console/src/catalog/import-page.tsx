import DownloadIcon from '@mui/icons-material/FileDownloadOutlined'
import UndoIcon from '@mui/icons-material/Undo'
import { Alert, Box, Button } from '@mui/material'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { useBasename } from 'react-admin'
import { Link, useParams } from 'react-router-dom'
import { ActivityLink } from '../activity/activity-link.tsx'
import { actorOf } from '../activity/entry.ts'
import { UndoDialog } from '../activity/undo-dialog.tsx'
import { ActButton } from '../layout/act-button.tsx'
import { useAnnounceProgress } from '../layout/announcements.tsx'
import { Facts } from '../layout/facts.tsx'
import { NoRecord } from '../layout/no-record.tsx'
import { OfServer } from '../layout/of-server.tsx'
import { PageSkeleton } from '../layout/page-skeleton.tsx'
import { PageHeading } from '../layout/page.tsx'
import { Section } from '../layout/section.tsx'
import { texts } from '../texts.ts'
import { timeText } from '../times.ts'
import { useShop, useViewer } from '../viewer.tsx'
import { download } from './download.ts'
import { ImportLines } from './import-lines.tsx'
import { ImportState } from './import-state.tsx'
import { becameText, fileNameOf, isUnfinished, keyOf, POLL, type WholeImport } from './import.ts'
import { useImportEnd } from './use-import-end.ts'

/** One import: watched while it goes on, what became of each line, and what can be done about that. */
export function ImportPage () {
  const { call } = useViewer()
  const { id: shopId } = useShop()
  const { id = '' } = useParams()
  const { data: item, error } = useQuery({
    queryKey: keyOf(shopId, id),
    queryFn: async () => (await call<WholeImport>(`/shops/${shopId}/imports/${encodeURIComponent(id)}`)).json,
    refetchInterval: ({ state }) => state.data !== undefined && isUnfinished(state.data) ? POLL : false
  })
  if (item === undefined && error !== null) return <NoRecord error={error} />
  return item === undefined
    ? <PageSkeleton />
    : <Page key={item.id} item={item} />
}

function Page ({ item }: { readonly item: WholeImport }) {
  const basename = useBasename()
  const queryClient = useQueryClient()
  const { call } = useViewer()
  const { id: shopId } = useShop()
  const [isUndoing, setUndoing] = useState(false)
  const path = `/shops/${shopId}/imports/${item.id}`
  const changes = item.created + item.updated
  const isOver = !isUnfinished(item)
  useImportEnd(useMemo(() => [item], [item]))
  useAnnounceProgress(
    isOver || item.processed === 0 ? undefined : item.processed / item.total,
    texts.imports.progressText(item.processed, item.total)
  )
  const hasFailed = isOver && item.failed > 0
  return (
    <>
      <PageHeading
        title={fileNameOf(item)}
        text={<Link to={`${basename}/imports`} style={{ color: 'inherit' }}>{texts.imports.title}</Link>}
      >
        {!isOver && (
          <ActButton
            variant='outlined'
            act={async () =>
              await call(path, { method: 'DELETE' }).finally(async () =>
                await queryClient.invalidateQueries({ queryKey: ['imports'] })
              )}
          >
            {texts.imports.cancel}
          </ActButton>
        )}
        {hasFailed && <FailedLinesButton item={item} path={path} />}
        {isOver && item.reverted < changes && (
          <Button
            variant='outlined'
            startIcon={<UndoIcon />}
            onClick={() => setUndoing(true)}
          >
            {item.reverted === 0 ? texts.imports.undo : texts.imports.undoRest}
          </Button>
        )}
      </PageHeading>
      {/* Facts of the page, which interrupt nobody: the end of an import and of an undo are said by themselves. */}
      <Box sx={{ display: 'grid', gap: 1, mb: 2, overflowWrap: 'anywhere' }}>
        {item.reverted > 0 && <Alert role='note' severity='info'>{texts.imports.undone(item.reverted, changes)}</Alert>}
        {hasFailed && (
          <Alert role='note' severity='warning'>
            {texts.imports.failedWhy(item.failed)}{' '}
            <Link to={`${basename}/imports`} style={{ color: 'inherit' }}>{texts.imports.corrected}</Link>
          </Alert>
        )}
        {item.warnings.map((warning) => (
          <Alert key={warning} role='note' severity='warning'>
            <OfServer text={warning} />
          </Alert>
        ))}
      </Box>
      <Section title={texts.imports.one}>
        <ImportFacts item={item} />
      </Section>
      <ImportLines item={item} />
      {isUndoing && (
        <UndoDialog
          title={texts.imports.undoTitle}
          path='revert'
          data={{ import_id: item.id }}
          onClose={() => setUndoing(false)}
        />
      )}
    </>
  )
}

function FailedLinesButton ({ item, path }: { readonly item: WholeImport, readonly path: string }) {
  const { call } = useViewer()
  const name = (item.file_name ?? '').replace(/\.[^.]*$/, '')
  return (
    <ActButton
      variant='outlined'
      startIcon={<DownloadIcon />}
      act={async () => {
        const { headers, body } = await call(`${path}/failed`, { headers: new Headers({ accept: '*/*' }) })
        const ending = headers.get('content-type')?.startsWith('text/csv') === true ? 'csv' : 'jsonl'
        download([...name === '' ? [] : [name], `failed-lines.${ending}`].join('-'), body)
      }}
    >
      {texts.imports.failedLines}
    </ActButton>
  )
}

function ImportFacts ({ item }: { readonly item: WholeImport }) {
  const shop = useShop()
  const { id: viewerId } = useViewer()
  const { actor_kind: kind, actor_id: actorId, created_at: at, finished_at: end } = item
  const actor = kind === 'user' && actorId === viewerId ? texts.activity.you : actorOf(item)
  const { facts } = texts.imports
  const rows: ReadonlyArray<readonly [string, React.ReactNode]> = [
    [facts.state, <ImportState key='state' item={item} />],
    [facts.became, becameText(item)],
    [facts.who, actorId === null ? actor : <ActivityLink key='who' actorId={actorId}>{actor}</ActivityLink>],
    [facts.at, <time key='at' dateTime={at}>{timeText(at, shop)}</time>],
    ...end === null ? [] : [[facts.end, <time key='end' dateTime={end}>{timeText(end, shop)}</time>] as const]
  ]
  return <Facts facts={rows} />
}
