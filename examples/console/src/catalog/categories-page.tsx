import AddIcon from '@mui/icons-material/Add'
import { Alert, Box, Button, Card } from '@mui/material'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { inTurn } from '../api/in-turn.ts'
import { ifMatch } from '../api/save.ts'
import { useAnnounce } from '../layout/announcements.tsx'
import { RowsSkeleton } from '../layout/page-skeleton.tsx'
import { EmptyState, PageHeading } from '../layout/page.tsx'
import { useNotifyError } from '../layout/use-notify-error.tsx'
import { texts } from '../texts.ts'
import { useShop, useViewer } from '../viewer.tsx'
import { CategoryDialog, DeleteCategory, MoveCategory } from './category-dialogs.tsx'
import { CategoryRow } from './category-row.tsx'
import { type Branch, type Category, movesTo, treeFrom } from './tree.ts'
import { useCategories } from './use-catalog.ts'

/** What is done with which category. */
export type Task =
  | { readonly kind: 'create', readonly parent: Category | null }
  | { readonly kind: 'edit' | 'move' | 'remove', readonly category: Category }

/** The categories of the shop, as a tree that can be rearranged. */
export function CategoriesPage () {
  const { call } = useViewer()
  const { id: shopId } = useShop()
  const queryClient = useQueryClient()
  const notifyError = useNotifyError()
  const { data, isPending } = useCategories(0)
  const [task, setTask] = useState<Task>()
  const [isBusy, setBusy] = useState(false)
  const announce = useAnnounce()
  const categories = data?.rows ?? []

  const readAgain = async () => await queryClient.invalidateQueries({ queryKey: ['categories'] })
  const place = async (category: Category, parent: string | null, index: number) => {
    const moves = movesTo(categories, category.id, parent, index)
    // The keyboard reaches what the mouse does not while it is busy.
    if (moves.length === 0 || isBusy) return
    setBusy(true)
    try {
      // The category itself first: if it cannot be moved, its new siblings stay as they are.
      const own = moves.filter(({ id }) => id === category.id)
      const others = moves.filter(({ id }) => id !== category.id)
      for (const { id, changes } of own) {
        await call(`/shops/${shopId}/categories/${id}`, { method: 'PATCH', data: changes, headers: ifMatch(category) })
      }
      await inTurn(
        others,
        4,
        async ({ id, changes }) => await call(`/shops/${shopId}/categories/${id}`, { method: 'PATCH', data: changes })
      )
        .catch(({ message }: Error) => {
          throw new Error(texts.categories.movedPartly(category.name, message))
        })
      announce(texts.categories.moved(category.name))
    } finally {
      await readAgain()
      setBusy(false)
    }
  }
  const close = () => setTask(undefined)
  const add = (
    <Button
      variant='contained'
      startIcon={<AddIcon />}
      onClick={() => setTask({ kind: 'create', parent: null })}
    >
      {texts.categories.add}
    </Button>
  )
  const tree = treeFrom(categories)
  return (
    <>
      <PageHeading title={texts.categories.title} text={texts.categories.help}>{add}</PageHeading>
      {data !== undefined && data.total > categories.length && (
        <Alert severity='info' sx={{ mb: 1 }}>{texts.categories.more(categories.length, data.total)}</Alert>
      )}
      <Card aria-busy={isBusy} sx={{ opacity: isBusy ? 0.7 : 1, pointerEvents: isBusy ? 'none' : 'auto' }}>
        {isPending && <RowsSkeleton />}
        {data !== undefined && categories.length === 0 && <EmptyState title={texts.categories.none}>{add}</EmptyState>}
        <Branches
          branches={tree}
          depth={0}
          onTask={setTask}
          onPlace={(category, parent, index) => {
            place(category, parent, index).catch(notifyError)
          }}
          categories={categories}
        />
      </Card>
      {task?.kind === 'create' && <CategoryDialog parent={task.parent} onClose={close} onDone={readAgain} />}
      {task?.kind === 'edit' && (
        <CategoryDialog category={task.category} parent={null} onClose={close} onDone={readAgain} />
      )}
      {task?.kind === 'move' && (
        <MoveCategory
          category={task.category}
          categories={categories}
          onClose={close}
          onMove={async (parent) => await place(task.category, parent, Infinity)}
        />
      )}
      {task?.kind === 'remove' && (
        <DeleteCategory
          category={task.category}
          onClose={close}
          onDone={async () => {
            await readAgain()
            await queryClient.invalidateQueries({ queryKey: ['products'] })
          }}
        />
      )}
    </>
  )
}

interface BranchesProps {
  readonly branches: readonly Branch[]
  readonly depth: number
  readonly categories: readonly Category[]
  readonly onTask: (task: Task) => void
  readonly onPlace: (category: Category, parent: string | null, index: number) => void
}

function Branches ({ branches, depth, categories, onTask, onPlace }: BranchesProps) {
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set())
  const toggle = (id: string) =>
    setClosed(new Set(closed.has(id) ? [...closed].filter((one) => one !== id) : [...closed, id]))
  return (
    <Box component='ul' sx={{ listStyle: 'none', m: 0, p: 0 }}>
      {branches.map((branch, index) => (
        <Box component='li' key={branch.id}>
          <CategoryRow
            category={branch}
            depth={depth}
            index={index}
            siblings={branches.length}
            hasChildren={branch.children.length > 0}
            isOpen={!closed.has(branch.id)}
            categories={categories}
            onToggle={() => toggle(branch.id)}
            onTask={onTask}
            onPlace={onPlace}
          />
          {branch.children.length > 0 && !closed.has(branch.id) && (
            <Branches
              branches={branch.children}
              depth={depth + 1}
              categories={categories}
              onTask={onTask}
              onPlace={onPlace}
            />
          )}
        </Box>
      ))}
    </Box>
  )
}
