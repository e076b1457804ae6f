import UpIcon from '@mui/icons-material/ArrowUpward'
import RemoveIcon from '@mui/icons-material/Close'
import { Box, FormHelperText, IconButton, Stack, TextField, Typography } from '@mui/material'
import { useRef, useState } from 'react'
import { useInput } from 'react-admin'
import { useWatch } from 'react-hook-form'
import { texts } from '../texts.ts'
import { messageIn } from './categories-input.tsx'
import { Picture } from './picture.tsx'

/** How many pictures a product may have. */
const MOST = 10

/**
 * The URLs of a product's pictures, each with the picture. The last line is empty, for one more; several can be pasted
 * there. A line that somebody types in loads its picture once it is left: no host hears of half an address.
 */
export function PicturesInput ({ source }: { readonly source: string }) {
  const { field, fieldState: { error } } = useInput({ source, defaultValue: [] })
  const [typed, setTyped] = useState<number>()
  const lines = useRef<Array<HTMLInputElement | null>>([])
  const name = (useWatch({ name: 'name' }) as string | undefined) ?? ''
  const urls = (field.value ?? []) as readonly string[]
  const rows = urls.length < MOST ? [...urls, ''] : urls
  const put = (index: number, text: string) => {
    const [first = '', ...more] = text.split(/\s+/).filter((url) => url !== '')
    field.onChange(index === urls.length && first === '' ? urls : urls.toSpliced(index, 1, first, ...more))
  }
  // The button that had the focus may be gone: its line keeps it, or the one that takes its place.
  const change = (changed: readonly string[], index: number) => {
    lines.current[index]?.focus()
    field.onChange(changed)
  }
  return (
    <Stack spacing={0.5}>
      <Typography variant='body2' color='textSecondary'>{texts.products.picturesHelp}</Typography>
      {rows.map((url, index) => (
        <Box key={index} sx={{ display: 'flex', gap: 1, alignItems: 'flex-start' }}>
          <Box sx={{ pt: 1 }}>
            <Picture url={url === '' || index === typed ? undefined : url} name={name} size={40} />
          </Box>
          <TextField
            label={index === urls.length ? texts.products.addPicture : texts.products.picture(index + 1)}
            value={url}
            error={error !== undefined && messageIn((error as any)[index]) !== undefined}
            helperText={messageIn((error as any)?.[index])}
            onChange={({ target, nativeEvent }) => {
              setTyped((nativeEvent as InputEvent).inputType === 'insertFromPaste' ? undefined : index)
              put(index, target.value)
            }}
            onBlur={() => {
              setTyped(undefined)
              if (urls.includes('')) field.onChange(urls.filter((url) => url !== ''))
              field.onBlur()
            }}
            inputRef={(input: HTMLInputElement | null) => {
              lines.current[index] = input
            }}
            slotProps={{ htmlInput: { inputMode: 'url', autoComplete: 'off', spellCheck: false } }}
          />
          {index < urls.length && (
            <Box sx={{ display: 'flex', pt: 1 }}>
              <IconButton
                size='small'
                aria-label={texts.products.pictureUp(index + 1)}
                disabled={index === 0}
                onClick={() => change(urls.with(index, urls[index - 1]!).with(index - 1, url), index - 1)}
              >
                <UpIcon fontSize='small' />
              </IconButton>
              <IconButton
                size='small'
                aria-label={texts.products.removePicture(index + 1)}
                onClick={() => change(urls.toSpliced(index, 1), index)}
              >
                <RemoveIcon fontSize='small' />
              </IconButton>
            </Box>
          )}
        </Box>
      ))}
      {typeof error?.message === 'string' && <FormHelperText error>{error.message}</FormHelperText>}
    </Stack>
  )
}
