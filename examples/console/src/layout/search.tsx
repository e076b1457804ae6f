import { FilterLiveSearch } from 'react-admin'

/** Searches the list around by what is typed. */
export function Search ({ text }: { readonly text: string }) {
  return (
    <FilterLiveSearch source='q' hiddenLabel label={text} fullWidth slotProps={{ htmlInput: { 'aria-label': text } }} />
  )
}
