import { Box } from '@mui/material'
import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useRef, useState } from 'react'
import { createPortal } from 'react-dom'
import { UNSEEN } from './unseen.ts'

interface Live {
  readonly announce: (text: string) => void
  /** Where what is said stands. */
  readonly region: HTMLElement | null
  /** Lets it be heard beside a dialog, which hides all that is not in it. */
  readonly open: () => void
}

const LiveContext = createContext<Live>({ announce: () => {}, region: null, open: () => {} })

/** @returns the one place of the page whose changes screen readers say */
export function useLiveRegion (): Live {
  return useContext(LiveContext)
}

/** @returns says a text to screen readers, once, when they have finished what they say */
export function useAnnounce (): (text: string) => void {
  return useLiveRegion().announce
}

/**
 * Says what a part of the page has become after something was chosen there, once. What it is at first is read with the
 * page.
 *
 * @param choice - what was chosen
 * @param text - undefined until it is known
 */
export function useAnnounceResult (choice: string, text: string | undefined): void {
  const announce = useAnnounce()
  const said = useRef(choice)
  useEffect(() => {
    if (text === undefined || said.current === choice) return
    said.current = choice
    announce(text)
  }, [choice, text, announce])
}

/** Says how far a long work is at each quarter. @param share - from 0 to 1; undefined while there is none */
export function useAnnounceProgress (share: number | undefined, text: string): void {
  useAnnounceResult(
    String(share === undefined ? undefined : Math.floor(share * 4)),
    share === undefined ? undefined : text
  )
}

/** Has the live region of the page. */
export function Announcements ({ children }: { readonly children: ReactNode }) {
  const [said, setSaid] = useState({ text: '', count: 0 })
  const [region, setRegion] = useState<HTMLElement | null>(null)
  const open = useCallback(() => region?.removeAttribute('aria-hidden'), [region])
  const announce = useCallback((text: string) => {
    open()
    setSaid(({ count }) => ({ text, count: count + 1 }))
  }, [open])
  const live = useMemo(() => ({ announce, region, open }), [announce, region, open])
  return (
    <LiveContext.Provider value={live}>
      {children}
      {createPortal(
        <div ref={setRegion} role='status' aria-live='polite' aria-atomic={false}>
          <Box sx={UNSEEN}>
            {/* Another element each time: the same words again are said again. */}
            <span key={said.count}>{said.text}</span>
          </Box>
        </div>,
        document.body
      )}
    </LiveContext.Provider>
  )
}
