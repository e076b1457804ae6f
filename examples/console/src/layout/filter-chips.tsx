import { Box, Button, Checkbox, Chip, ListItemText, Menu, MenuItem, Stack, TextField } from '@mui/material'
import ArrowIcon from '@mui/icons-material/ArrowDropDown'
import ClearIcon from '@mui/icons-material/Close'
import { type ReactNode, useState } from 'react'
import { useGetList, useListContext } from 'react-admin'
import { texts } from '../texts.ts'
import { useAnnounceResult } from './announcements.tsx'
import { EmptyState } from './page.tsx'
import { Search } from './search.tsx'

export interface Choice {
  readonly id: string
  readonly name: string
}

/** How many choices can be seen without searching, and at most. */
const FEW = 10
const MOST_SHOWN = 200

/** The filter of a list with one field set or, for undefined, removed. */
function withField (filter: Readonly<Record<string, unknown>>, field: string, value: unknown): Record<string, unknown> {
  const { [field]: _, ...others } = filter
  return value === undefined ? others : { ...others, [field]: value }
}

/** Sets one field of the filter of the list around. */
export function useFilterField<Value> (
  field: string
): readonly [Value | undefined, (value: Value | undefined) => void] {
  const { filterValues, setFilters, displayedFilters } = useListContext()
  return [
    filterValues?.[field] as Value | undefined,
    (value) => setFilters(withField(filterValues, field, value), displayedFilters, false)
  ]
}

interface ListFiltersProps {
  /** What can be searched; undefined: nothing. */
  readonly search?: string
  /** The fields that `children` show. */
  readonly own?: readonly string[]
  readonly children?: ReactNode
}

/** What a list is limited to: a search, and a removable chip for each filter, also for those that only a link sets. */
export function ListFilters ({ search, own = [], children }: ListFiltersProps) {
  const { filterValues, setFilters, displayedFilters } = useListContext()
  const { q, ...others } = filterValues ?? {}
  useAnnounceMatches()
  return (
    <Stack sx={{ p: 2, gap: 1.5, flexDirection: { md: 'row' }, alignItems: { md: 'center' } }}>
      {search !== undefined && (
        <Box sx={{ width: { xs: '100%', md: 380 } }}>
          <Search text={search} />
        </Box>
      )}
      <Box
        role='group'
        aria-label={texts.filters.title}
        sx={{ display: 'flex', gap: 1, flexWrap: 'wrap', alignItems: 'center' }}
      >
        {children}
        {Object.keys(others).filter((field) => !own.includes(field)).map((field) => (
          <PlainChip key={field} field={field} />
        ))}
        {Object.keys(others).length > 0 && (
          <Button
            size='small'
            onClick={() => setFilters(q === undefined ? {} : { q }, displayedFilters, false)}
          >
            {texts.filters.clear}
          </Button>
        )}
      </Box>
    </Stack>
  )
}

/** Says how many records match, once somebody has searched, filtered, sorted or turned the page. */
function useAnnounceMatches (): void {
  const { filterValues, page, perPage, sort, total, isFetching } = useListContext()
  const last = Math.min(page * perPage, total ?? 0)
  useAnnounceResult(
    JSON.stringify([filterValues, page, perPage, sort]),
    isFetching || total === undefined ? undefined : texts.list.matches((page - 1) * perPage + 1, last, total)
  )
}

function PlainChip ({ field }: { readonly field: string }) {
  const [value, setValue] = useFilterField<unknown>(field)
  const clear = () => setValue(undefined)
  return (
    <ChipButton
      label={field.replaceAll('_', ' ')}
      value={typeof value === 'object' && !Array.isArray(value) ? JSON.stringify(value) : String(value)}
      isOpen={false}
      onOpen={clear}
      onClear={clear}
    />
  )
}

interface EmptyListProps {
  /** That there are none at all. */
  readonly title: string
  readonly text?: string
  readonly children?: ReactNode
}

/**
 * What the list around shows in place of records: that there are none yet, or that none matches the filters; nothing if
 * they could not be read.
 */
export function EmptyList ({ title, text, children }: EmptyListProps) {
  const { resource, data, filterValues, setFilters } = useListContext()
  const isFiltered = Object.keys(filterValues ?? {}).length > 0
  const { total, isPending } = useGetList(resource, { pagination: { page: 1, perPage: 1 } }, { enabled: isFiltered })
  if (data === undefined) return null
  if (!isFiltered || total === 0) return <EmptyState title={title} text={text}>{children}</EmptyState>
  if (isPending) return null
  // The list's own defaults are filters too: an empty object replaces them.
  return (
    <EmptyState title={texts.filters.nothing}>
      <Button variant='outlined' onClick={() => setFilters({}, undefined, false)}>{texts.filters.clearFilters}</Button>
    </EmptyState>
  )
}

interface ChipButtonProps {
  readonly label: string
  /** What is chosen; undefined: anything. */
  readonly value: string | undefined
  readonly onOpen: (anchor: HTMLElement) => void
  readonly onClear: () => void
  readonly isOpen: boolean
  readonly popup?: 'menu' | 'dialog'
}

/** A chip that opens its choices, and can be cleared. */
export function ChipButton ({ label, value, onOpen, onClear, isOpen, popup = 'menu' }: ChipButtonProps) {
  return (
    <Chip
      component='button'
      clickable
      aria-haspopup={popup}
      aria-expanded={isOpen}
      variant={value === undefined ? 'outlined' : 'filled'}
      color={value === undefined ? 'default' : 'primary'}
      label={value === undefined ? label : `${label}: ${value}`}
      onClick={({ currentTarget }: React.MouseEvent<HTMLElement>) => onOpen(currentTarget)}
      {...value === undefined
        ? { icon: <ArrowIcon />, sx: { flexDirection: 'row-reverse', pl: 0.5, pr: 0.5, '& .MuiChip-icon': { m: 0 } } }
        : { onDelete: onClear, deleteIcon: <ClearIcon aria-label={texts.filters.clear} /> }}
    />
  )
}

interface ChoiceChipProps {
  readonly field: string
  readonly label: string
  readonly choices: readonly Choice[]
  /** Only one of them at a time. */
  readonly isSingle?: boolean
}

/** A chip by which a field of the list around is limited to one or several of some values. */
export function ChoiceChip ({ field, ...chip }: ChoiceChipProps) {
  const [value, setValue] = useFilterField<string | readonly string[]>(field)
  return <ChoicesChip {...chip} value={value} onChange={setValue} />
}

interface ChoicesChipProps extends Omit<ChoiceChipProps, 'field'> {
  readonly value: string | readonly string[] | undefined
  readonly onChange: (value: string | readonly string[] | undefined) => void
  readonly onOpen?: () => void
}

/** A chip by which something is limited to one or several of some values. */
export function ChoicesChip ({ label, choices, isSingle = false, value, onChange, onOpen }: ChoicesChipProps) {
  const [anchor, setAnchor] = useState<HTMLElement | null>(null)
  const [typed, setTyped] = useState('')
  const chosen = value === undefined ? [] : [value].flat() as readonly string[]
  const names = chosen.map((id) => choices.find((choice) => choice.id === id)?.name ?? id)
  const toggle = (id: string) => {
    if (isSingle) return onChange(chosen.includes(id) ? undefined : id)
    const next = chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id]
    onChange(next.length === 0 ? undefined : next)
  }
  const found = choices.filter(({ name }) => name.toLowerCase().includes(typed.toLowerCase()))
  return (
    <>
      <ChipButton
        label={label}
        isOpen={anchor !== null}
        onOpen={(element) => {
          setAnchor(element)
          onOpen?.()
        }}
        onClear={() => onChange(undefined)}
        value={names.length === 0
          ? undefined
          : `${names[0]}${names.length > 1 ? ` ${texts.filters.more(names.length - 1)}` : ''}`}
      />
      <Menu
        anchorEl={anchor}
        open={anchor !== null}
        onClose={() => {
          setAnchor(null)
          setTyped('')
        }}
        slotProps={{ paper: { sx: { maxHeight: 420, minWidth: 220, maxWidth: 420 } } }}
      >
        {choices.length > FEW && (
          <Box
            component='li'
            role='none'
            sx={{ px: 1.5, pb: 1 }}
            onKeyDown={(event) => {
              if (event.key !== 'Escape') event.stopPropagation()
            }}
          >
            <TextField
              fullWidth
              autoFocus
              value={typed}
              onChange={({ target }) => setTyped(target.value)}
              placeholder={texts.filters.find}
              slotProps={{ htmlInput: { 'aria-label': texts.filters.find } }}
            />
          </Box>
        )}
        {found.slice(0, MOST_SHOWN).map(({ id, name }) => (
          <MenuItem
            key={id}
            role='menuitemcheckbox'
            aria-checked={chosen.includes(id)}
            onClick={() => toggle(id)}
            dense
          >
            <Checkbox
              checked={chosen.includes(id)}
              size='small'
              tabIndex={-1}
              disableRipple
              sx={{ p: 0, mr: 1.5 }}
              slotProps={{ input: { 'aria-hidden': true } }}
            />
            <ListItemText primary={name} slotProps={{ primary: { noWrap: true } }} />
          </MenuItem>
        ))}
      </Menu>
    </>
  )
}
