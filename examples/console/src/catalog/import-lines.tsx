import { Box, Card, TablePagination } from '@mui/material'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useCreatePath, useGetMany } from 'react-admin'
import { listUrl, rangeFrom } from '../api/http.ts'
import { useAnnounceResult } from '../layout/announcements.tsx'
import { CountChip } from '../layout/count-chip.tsx'
import { FoldingRow, FoldingTable } from '../layout/fold.tsx'
import { OfServer } from '../layout/of-server.tsx'
import { PageLink } from '../layout/page-link.tsx'
import { RowsSkeleton } from '../layout/page-skeleton.tsx'
import { EmptyState } from '../layout/page.tsx'
import { texts } from '../texts.ts'
import { countText } from '../times.ts'
import { useShop, useViewer } from '../viewer.tsx'
import { type Line, outcomesOf, type WholeImport } from './import.ts'

/** How many lines are on a page. */
const PER_PAGE = 25

const COLUMNS = texts.imports.lineColumns.map((name, index) => ({ name, isPlain: true, isNumber: index === 0 }))

/** What became of each line of an import, a page at a time: all of them, or those of one outcome. */
export function ImportLines ({ item }: { readonly item: WholeImport }) {
  const { call } = useViewer()
  const { id: shopId, locale } = useShop()
  const [status, setStatus] = useState<Line['status']>()
  const [page, setPage] = useState(0)
  const start = page * PER_PAGE
  const { data, isPlaceholderData } = useQuery({
    // Each step of an import changes some.
    queryKey: ['imports', shopId, item.id, 'lines', status, page, item.updated_at],
    queryFn: async () => {
      const filter = status === undefined ? {} : { status }
      const { json, headers } = await call<readonly Line[]>(
        listUrl(`/shops/${shopId}/imports/${item.id}/lines`, { skip: start, limit: PER_PAGE, filter })
      )
      return { lines: json, total: rangeFrom(headers).total }
    },
    placeholderData: (before) => before
  })
  const { lines, total } = data ?? { lines: [], total: 0 }
  useAnnounceResult(
    JSON.stringify([status, page]),
    isPlaceholderData || data === undefined ? undefined : texts.list.matches(start + 1, start + lines.length, total)
  )
  return (
    <Card component='section' aria-label={texts.imports.lines} sx={{ mt: 2 }}>
      <Box role='group' aria-label={texts.filters.title} sx={{ p: 2, display: 'flex', gap: 1, flexWrap: 'wrap' }}>
        {outcomesOf(item).map(([name, count]) => (
          <CountChip
            key={name}
            isChosen={status === name}
            label={texts.imports.outcome(texts.imports.outcomes[name], countText(count, locale))}
            onClick={() => {
              setStatus(status === name ? undefined : name)
              setPage(0)
            }}
          />
        ))}
      </Box>
      {data === undefined && <RowsSkeleton />}
      {data !== undefined && lines.length === 0 && <EmptyState title={texts.imports.noLines} />}
      {lines.length > 0 && (
        <FoldingTable name={texts.imports.lines} columns={COLUMNS}>
          <Rows lines={lines} />
        </FoldingTable>
      )}
      <TablePagination
        component='div'
        count={total}
        page={page}
        rowsPerPage={PER_PAGE}
        rowsPerPageOptions={[PER_PAGE]}
        onPageChange={(_event, page) => setPage(page)}
      />
    </Card>
  )
}

function Rows ({ lines }: { readonly lines: readonly Line[] }) {
  const createPath = useCreatePath()
  const ids = lines.flatMap(({ product_id: id }) => id ?? [])
  // Without those that were deleted since.
  const { data = [] } = useGetMany<{ readonly id: string, readonly name: string }>('products', { ids })
  const names = new Map(data.flatMap((product) => product === undefined ? [] : [[product.id, product.name] as const]))
  return lines.map(({ line, status, product_id: id, message }) => (
    <FoldingRow key={line}>
      {line}
      <Box component='span' sx={{ color: status === 'failed' ? 'error.main' : undefined }}>
        {texts.imports.outcomes[status]}
      </Box>
      <div>
        {id !== null && names.has(id) && (
          <PageLink to={createPath({ resource: 'products', type: 'edit', id })}>{names.get(id)}</PageLink>
        )}
        {message !== null && <OfServer text={message} />}
      </div>
    </FoldingRow>
  ))
}
