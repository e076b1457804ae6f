import AddIcon from '@mui/icons-material/Add'
import DeleteIcon from '@mui/icons-material/DeleteOutlineOutlined'
import DownIcon from '@mui/icons-material/ArrowDownward'
import EditIcon from '@mui/icons-material/EditOutlined'
import ExpandIcon from '@mui/icons-material/ChevronRight'
import HandleIcon from '@mui/icons-material/DragIndicator'
import MoveIcon from '@mui/icons-material/DriveFileMoveOutlined'
import UpIcon from '@mui/icons-material/ArrowUpward'
import { Box, IconButton, Tooltip, Typography } from '@mui/material'
import { type DragEvent, type MouseEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { texts } from '../texts.ts'
import type { Task } from './categories-page.tsx'
import { type Category, familyOf } from './tree.ts'

interface CategoryRowProps {
  readonly category: Category
  readonly depth: number
  /** Its place among its siblings, and how many there are. */
  readonly index: number
  readonly siblings: number
  readonly hasChildren: boolean
  readonly isOpen: boolean
  readonly categories: readonly Category[]
  readonly onToggle: () => void
  readonly onTask: (task: Task) => void
  readonly onPlace: (category: Category, parent: string | null, index: number) => void
}

/** What is dragged; nothing else may be dropped here. */
const DRAGGED = 'application/x-shop-category'

/** Where something is dropped on a row: before it, after it, or into it. */
type Drop = 'before' | 'into' | 'after'

/** @param at - how far down the row it is, from 0 to 1 */
function dropAt (at: number): Drop {
  if (at < 0.3) return 'before'
  return at > 0.7 ? 'after' : 'into'
}

/** Lines that show where something would be dropped. */
const SHADOWS: Readonly<Partial<Record<Drop, string>>> = { before: 'inset 0 2px', after: 'inset 0 -2px' }

/** A category with all that can be done with it: by its buttons, and its place also by dragging. */
export function CategoryRow (
  { category, depth, index, siblings, hasChildren, isOpen, categories, onToggle, onTask, onPlace }: CategoryRowProps
) {
  const [drop, setDrop] = useState<Drop>()
  const pressed = useRef<HTMLButtonElement | null>(null)
  const { id, name, parent_id: parent } = category
  // At an end, the arrow that led there has nowhere to go: the other one gets the focus.
  useEffect(() => {
    if (pressed.current?.disabled === true) {
      pressed.current.closest('[data-arrows]')?.querySelector<HTMLElement>('button:enabled')?.focus()
    }
    pressed.current = null
  }, [index])
  const by = (steps: number) => (event: MouseEvent<HTMLButtonElement>) => {
    pressed.current = event.currentTarget
    onPlace(category, parent, index + steps)
  }
  const over = (event: DragEvent<HTMLElement>) => {
    if (!event.dataTransfer.types.includes(DRAGGED)) return
    event.preventDefault()
    const { top, height } = event.currentTarget.getBoundingClientRect()
    setDrop(dropAt((event.clientY - top) / height))
  }
  const dropped = (event: DragEvent<HTMLElement>) => {
    event.preventDefault()
    setDrop(undefined)
    const moved = categories.find((category) => category.id === event.dataTransfer.getData(DRAGGED))
    if (moved === undefined || drop === undefined || familyOf(categories, moved.id).has(id)) return
    if (drop === 'into') return onPlace(moved, id, Infinity)
    // Without itself, its siblings below move up by one.
    const own = categories.filter((other) => other.parent_id === parent && other.position < moved.position).length
    const target = drop === 'before' ? index : index + 1
    onPlace(moved, parent, moved.parent_id === parent && own < target ? target - 1 : target)
  }
  const shadow = drop && SHADOWS[drop]
  return (
    <Box
      draggable
      onDragStart={(event) => {
        event.dataTransfer.setData(DRAGGED, id)
        event.dataTransfer.effectAllowed = 'move'
      }}
      onDragOver={over}
      onDragLeave={() => setDrop(undefined)}
      onDrop={dropped}
      sx={{
        display: 'flex',
        alignItems: 'center',
        gap: 0.5,
        pl: 1 + depth * 3,
        pr: 1,
        py: 0.25,
        minHeight: 44,
        flexWrap: { xs: 'wrap', sm: 'nowrap' },
        borderBottom: 1,
        borderColor: 'divider',
        bgcolor: drop === 'into' ? 'action.selected' : undefined,
        boxShadow: (theme) => shadow === undefined ? 'none' : `${shadow} ${theme.palette.primary.main}`,
        '&:hover': { bgcolor: 'action.hover' }
      }}
    >
      <HandleIcon
        fontSize='small'
        sx={{ color: 'text.disabled', cursor: 'grab', display: { xs: 'none', sm: 'block' } }}
        aria-hidden
      />
      {hasChildren
        ? (
          <IconButton
            size='small'
            aria-expanded={isOpen}
            aria-label={isOpen ? texts.categories.collapse(name) : texts.categories.expand(name)}
            onClick={onToggle}
          >
            <ExpandIcon fontSize='small' sx={{ transform: isOpen ? 'rotate(90deg)' : 'none' }} />
          </IconButton>
        )
        : <Box sx={{ width: 30 }} />}
      <Typography
        sx={{
          flex: { xs: '1 1 calc(100% - 60px)', sm: 1 },
          minWidth: 0,
          overflowWrap: 'anywhere',
          fontWeight: depth === 0 ? 600 : 400
        }}
      >
        {name}
      </Typography>
      <Box component='span' data-arrows sx={{ display: 'flex', gap: 0.5, ml: { xs: 4, sm: 0 } }}>
        <Act text={texts.categories.up(name)} isOff={index === 0} onClick={by(-1)}>
          <UpIcon fontSize='small' />
        </Act>
        <Act text={texts.categories.down(name)} isOff={index === siblings - 1} onClick={by(1)}>
          <DownIcon fontSize='small' />
        </Act>
      </Box>
      <Act text={texts.categories.move(name)} onClick={() => onTask({ kind: 'move', category })}>
        <MoveIcon fontSize='small' />
      </Act>
      <Act text={texts.categories.addBelow(name)} onClick={() => onTask({ kind: 'create', parent: category })}>
        <AddIcon fontSize='small' />
      </Act>
      <Act text={texts.categories.edit(name)} onClick={() => onTask({ kind: 'edit', category })}>
        <EditIcon fontSize='small' />
      </Act>
      {/* On a phone a finger that misses Edit must not delete. */}
      <Box component='span' sx={{ ml: { xs: 'auto', sm: 0 } }}>
        <Act text={texts.categories.remove(name)} onClick={() => onTask({ kind: 'remove', category })}>
          <DeleteIcon fontSize='small' />
        </Act>
      </Box>
    </Box>
  )
}

function Act (
  { text, isOff = false, onClick, children }: {
    readonly text: string,
    readonly isOff?: boolean,
    readonly onClick: (event: MouseEvent<HTMLButtonElement>) => void,
    readonly children: ReactNode
  }
) {
  return (
    <Tooltip title={text}>
      <span>
        <IconButton size='small' aria-label={text} disabled={isOff} onClick={onClick}>{children}</IconButton>
      </span>
    </Tooltip>
  )
}
