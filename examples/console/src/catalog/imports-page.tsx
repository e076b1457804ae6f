import { Card, Typography } from '@mui/material'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useBasename } from 'react-admin'
import { FoldingRow, FoldingTable } from '../layout/fold.tsx'
import { PageLink } from '../layout/page-link.tsx'
import { EmptyState, PageHeading } from '../layout/page.tsx'
import { texts } from '../texts.ts'
import { timeText } from '../times.ts'
import { useShop, useViewer } from '../viewer.tsx'
import { ImportState } from './import-state.tsx'
import { becameText, fileNameOf, type Import, isUnfinished, POLL } from './import.ts'
import { NewImport } from './new-import.tsx'
import { useImportEnd } from './use-import-end.ts'

/** How many imports are shown. */
const SHOWN = 25

const COLUMNS = texts.imports.columns.map((name) => ({ name, isPlain: true }))

/** Files of products: a new one, and what became of earlier ones. */
export function ImportsPage () {
  const { call } = useViewer()
  const { id: shopId } = useShop()
  const queryClient = useQueryClient()
  const { data = [], isSuccess } = useQuery({
    queryKey: ['imports', shopId],
    queryFn: async () => (await call<readonly Import[]>(`/shops/${shopId}/imports?limit=${SHOWN}`)).json,
    refetchInterval: ({ state }) => state.data?.some(isUnfinished) === true ? POLL : false
  })
  useImportEnd(data)
  return (
    <>
      <PageHeading title={texts.imports.title} text={texts.imports.why} />
      <NewImport
        onSent={() => {
          queryClient.invalidateQueries({ queryKey: ['imports'] })
        }}
      />
      <Card sx={{ mt: 2 }}>
        {isSuccess && data.length === 0 && <EmptyState title={texts.imports.none} text={texts.imports.noneWhy} />}
        {data.length > 0 && (
          <FoldingTable name={texts.imports.title} columns={COLUMNS}>
            {data.map((item) => <ImportRow key={item.id} item={item} />)}
          </FoldingTable>
        )}
      </Card>
    </>
  )
}

function ImportRow ({ item }: { readonly item: Import }) {
  const shop = useShop()
  const basename = useBasename()
  return (
    <FoldingRow>
      <>
        <PageLink to={`${basename}/imports/${item.id}`}>{fileNameOf(item)}</PageLink>
        <Typography variant='caption' component='div' color='textSecondary'>
          {timeText(item.created_at, shop)}
        </Typography>
      </>
      <ImportState item={item} />
      {becameText(item)}
    </FoldingRow>
  )
}
