import ColumnsIcon from '@mui/icons-material/ViewWeekOutlined'
import { Button, Checkbox, FormControlLabel, Popover, Stack } from '@mui/material'
import { useState } from 'react'
import { FieldTitle, useResourceContext, useStore } from 'react-admin'
import { texts } from '../texts.ts'

interface ColumnsButtonProps {
  /** Of the list's DataTable. */
  readonly storeKey: string
  readonly sources: readonly string[]
  /** The sources that are not shown at first. */
  readonly hidden: readonly string[]
}

/**
 * Chooses the columns of a list. In place of react-admin's, whose checkboxes are options of a menu to a screen reader.
 */
export function ColumnsButton ({ storeKey, sources, hidden }: ColumnsButtonProps) {
  const resource = useResourceContext()
  const [chosen, setChosen] = useStore<readonly string[]>(storeKey, hidden)
  const [anchor, setAnchor] = useState<HTMLElement | null>(null)
  const toggle = (source: string) =>
    setChosen(chosen.includes(source) ? chosen.filter((one) => one !== source) : [...chosen, source])
  return (
    <>
      <Button
        size='small'
        startIcon={<ColumnsIcon />}
        aria-haspopup='dialog'
        aria-expanded={anchor !== null}
        onClick={({ currentTarget }) => setAnchor(currentTarget)}
      >
        {texts.list.columns}
      </Button>
      <Popover
        open={anchor !== null}
        anchorEl={anchor}
        onClose={() => setAnchor(null)}
        anchorOrigin={{ vertical: 'bottom', horizontal: 'left' }}
        slotProps={{ paper: { role: 'dialog', 'aria-label': texts.list.columns } }}
      >
        <Stack sx={{ px: 2, py: 1 }}>
          {sources.map((source) => (
            <FormControlLabel
              key={source}
              label={<FieldTitle source={source} resource={resource} />}
              control={
                <Checkbox
                  size='small'
                  checked={!chosen.includes(source)}
                  onChange={() => toggle(source)}
                />
              }
            />
          ))}
          <Button size='small' onClick={() => setChosen(hidden)}>{texts.list.reset}</Button>
        </Stack>
      </Popover>
    </>
  )
}
