import ImageIcon from '@mui/icons-material/ImageOutlined'
import { Box } from '@mui/material'
import { useState } from 'react'

/** What the server takes as a picture; the policy of the page keeps the browser from anything else. */
const LOADED = /^(?:https:\/\/[^/]|\/(?!\/))/i

interface PictureProps {
  /** Undefined if there is none. */
  readonly url: string | undefined
  /** The name of the product; empty where it stands beside the picture, so that nobody hears it twice. */
  readonly name: string
  /** In pixels. */
  readonly size: number
}

/** A picture of a product in a square. Where there is none, or it cannot be loaded, the place is empty. */
export function Picture ({ url, name, size }: PictureProps) {
  const [broken, setBroken] = useState<string>()
  const place = { width: size, height: size, flex: 'none', borderRadius: 1, bgcolor: 'action.hover' } as const
  if (url === undefined || url === broken || !LOADED.test(url)) {
    return (
      <Box aria-hidden sx={{ ...place, display: 'grid', placeItems: 'center', color: 'text.disabled' }}>
        <ImageIcon fontSize='small' />
      </Box>
    )
  }
  // The URL is last: a browser may request it before it knows the rest.
  return (
    <Box
      component='img'
      alt={name}
      loading='lazy'
      decoding='async'
      referrerPolicy='no-referrer'
      width={size}
      height={size}
      sx={{ ...place, display: 'block', objectFit: 'cover' }}
      onError={() => setBroken(url)}
      src={url}
    />
  )
}
