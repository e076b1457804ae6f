import { Chip } from '@mui/material'

interface CountChipProps {
  /** What is counted, and how many there are. */
  readonly label: string
  readonly isChosen: boolean
  readonly onClick: () => void
}

/** A part of a list by its count, which shows that part alone while it is chosen. */
export function CountChip ({ label, isChosen, onClick }: CountChipProps) {
  return (
    <Chip
      component='button'
      clickable
      aria-pressed={isChosen}
      variant={isChosen ? 'filled' : 'outlined'}
      color={isChosen ? 'primary' : 'default'}
      label={label}
      onClick={onClick}
    />
  )
}
