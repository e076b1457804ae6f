import FileIcon from '@mui/icons-material/UploadFileOutlined'
import { Alert, Box, Button, FormControlLabel, Stack, Switch, Typography } from '@mui/material'
import { useQueryClient } from '@tanstack/react-query'
import { type ChangeEvent, useId, useRef, useState } from 'react'
import { useBasename, useNotify } from 'react-admin'
import { useNavigate } from 'react-router-dom'
import { mayBeDone } from '../api/problem.ts'
import { useAnnounceResult } from '../layout/announcements.tsx'
import { AskBeforeLeaving, useUnsaved } from '../layout/ask-before-leaving.tsx'
import { FoldingRow, FoldingTable } from '../layout/fold.tsx'
import { ErrorText, OfServer } from '../layout/of-server.tsx'
import { Section } from '../layout/section.tsx'
import { useIsHere } from '../layout/use-go-on.ts'
import { priceText } from '../money.ts'
import { texts } from '../texts.ts'
import { useShop, useViewer } from '../viewer.tsx'
import { keyOf, type Preview, typeOfFile, type WholeImport, type WrongLine } from './import.ts'

const WRONG_COLUMNS = texts.imports.wrongColumns.map((name, index) => ({ name, isPlain: true, isNumber: index === 0 }))

/** How long the name of a file may be, in characters. */
const LONGEST_NAME = 255

/**
 * A file is checked as soon as it is chosen; what it would do is shown before it is imported. The page of the import
 * comes next.
 */
export function NewImport ({ onSent }: { readonly onSent: () => void }) {
  const { call } = useViewer()
  const { id: shopId, locale } = useShop()
  const notify = useNotify()
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const basename = useBasename()
  const unsaved = useUnsaved()
  const isHere = useIsHere()
  const input = useRef<HTMLInputElement>(null)
  const [file, setFile] = useState<File>()
  const [preview, setPreview] = useState<Preview>()
  const [error, setError] = useState<Error>()
  const [isBusy, setBusy] = useState(false)
  const [skips, setSkips] = useState(false)

  const send = async <Body extends Preview | WholeImport>(
    file: File,
    query: Readonly<Record<string, string>>,
    isRead: boolean
  ): Promise<Body> => {
    const headers = new Headers({ 'content-type': typeOfFile(file.name)! })
    const path = `/shops/${shopId}/imports?${new URLSearchParams(query)}`
    return (await call<Body>(path, { method: 'POST', body: file, headers, isRead })).json
  }
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    setBusy(true)
    setError(undefined)
    try {
      await work()
    } catch (error) {
      setError(error as Error)
    }
    setBusy(false)
  }
  const choose = ({ target }: ChangeEvent<HTMLInputElement>) => {
    const [chosen] = target.files ?? []
    // The same file, mended, can be chosen again.
    target.value = ''
    if (chosen === undefined) return
    setFile(chosen)
    setPreview(undefined)
    setSkips(false)
    if (typeOfFile(chosen.name) === undefined) setError(new Error(texts.imports.unknown))
    else attempt(async () => setPreview(await send<Preview>(chosen, { dry_run: 'true' }, true)))
  }
  const start = () => {
    attempt(async () => {
      const query = {
        file_name: [...file!.name].slice(0, LONGEST_NAME).join(''),
        ...skips && { skip_invalid: 'true' }
      }
      const sent = await send<WholeImport>(file!, query, false).catch((error: unknown) => {
        // The list below says whether it has begun.
        if (mayBeDone(error)) onSent()
        throw error
      })
      // Its page begins with that, and says the end also of an import that ends before the page has read it.
      queryClient.setQueryData(keyOf(shopId, sent.id), sent)
      setFile(undefined)
      setPreview(undefined)
      notify(texts.imports.sent, { type: 'success' })
      onSent()
      if (!isHere.current) return
      unsaved.forget()
      navigate(`${basename}/imports/${sent.id}`)
    })
  }
  const rangeText = (currency: string, lowest: string, highest: string): string =>
    texts.imports.range(priceText(`${lowest} ${currency}`, locale), priceText(`${highest} ${currency}`, locale))
  const changes = preview === undefined ? 0 : preview.created + preview.updated
  return (
    <Section title={texts.imports.new} text={texts.imports.newWhy}>
      <Stack direction='row' sx={{ gap: 1.5, flexWrap: 'wrap', alignItems: 'center' }}>
        <Button
          variant='outlined'
          startIcon={<FileIcon />}
          loading={isBusy}
          disabled={isBusy}
          onClick={() => input.current?.click()}
        >
          {texts.imports.choose}
        </Button>
        <input
          ref={input}
          type='file'
          accept='.csv,.tsv,.txt,.jsonl,.ndjson'
          onChange={choose}
          hidden
          aria-label={texts.imports.choose}
        />
        {file !== undefined && <Typography sx={{ overflowWrap: 'anywhere' }}>{file.name}</Typography>}
      </Stack>
      {error !== undefined && (
        <Alert severity='error' sx={{ mt: 2 }}>
          <ErrorText error={error} />
        </Alert>
      )}
      {preview !== undefined && (
        <>
          <AskBeforeLeaving />
          <Alert severity={preview.failed > 0 ? 'warning' : 'info'} sx={{ mt: 2 }}>
            {texts.imports.would(preview)}
          </Alert>
          {preview.prices.length > 0 && (
            <Alert severity='info' sx={{ mt: 1 }}>
              {preview.prices.map(({ currency, lowest, highest, lowest_before: from, highest_before: to }) => (
                <div key={currency}>
                  {texts.imports.prices(
                    currency,
                    rangeText(currency, lowest, highest),
                    from === null ? null : rangeText(currency, from, to!)
                  )}
                </div>
              ))}
              {preview.changed_prices.length > 0 && (
                <ChangedPrices prices={preview.changed_prices} count={preview.price_changes} />
              )}
            </Alert>
          )}
          {preview.warnings.map((warning) => (
            <Alert key={warning} severity='warning' sx={{ mt: 1, overflowWrap: 'anywhere' }}>
              <OfServer text={warning} />
            </Alert>
          ))}
          <Stack direction='row' sx={{ gap: 1.5, mt: 2, alignItems: 'center', flexWrap: 'wrap' }}>
            {/* First what the button waits for. */}
            {preview.failed > 0 && changes > 0 && (
              <FormControlLabel
                control={<Switch checked={skips} onChange={({ target }) => setSkips(target.checked)} />}
                label={texts.imports.skip(preview.failed, preview.unknown_columns.length)}
              />
            )}
            <Button
              variant='contained'
              onClick={start}
              disabled={isBusy || changes === 0 || (preview.failed > 0 && !skips)}
            >
              {texts.imports.start}
            </Button>
          </Stack>
          {preview.failed > 0 && <WrongLines lines={preview.errors} count={preview.failed} />}
        </>
      )}
    </Section>
  )
}

function ChangedPrices ({ prices, count }: { readonly prices: Preview['changed_prices'], readonly count: number }) {
  const { locale } = useShop()
  return (
    <Box component='ul' sx={{ m: 0, mt: 0.5, pl: 2.5, overflowWrap: 'anywhere' }}>
      {prices.map(({ line, name, before, after }) => (
        <li key={line}>
          {texts.imports.changedPrice(
            name,
            priceText(before, locale),
            after === null ? null : priceText(after, locale)
          )}
        </li>
      ))}
      {count > prices.length && <li>{texts.filters.more(count - prices.length)}</li>}
    </Box>
  )
}

/** How many wrong lines are shown before somebody wants them all: on a phone, each takes much of the screen. */
const FIRST = 10

/** Below what is decided: the first wrong lines, and on demand up to a hundred. */
function WrongLines ({ lines: all, count }: { readonly lines: readonly WrongLine[], readonly count: number }) {
  const id = useId()
  const [isWhole, setWhole] = useState(false)
  const lines = isWhole ? all : all.slice(0, FIRST)
  useAnnounceResult(String(isWhole), texts.list.matches(1, lines.length, count))
  return (
    <Box component='section' id={id} aria-label={texts.imports.wrong} sx={{ mt: 2 }}>
      {/* Above the lines: it stays where it is, and keeps the focus. */}
      {all.length > FIRST && (
        <Button
          size='small'
          aria-expanded={isWhole}
          aria-controls={id}
          onClick={() => setWhole(!isWhole)}
        >
          {isWhole ? texts.imports.showFewer : texts.imports.showWrong(all.length, count)}
        </Button>
      )}
      <FoldingTable name={texts.imports.wrong} columns={WRONG_COLUMNS}>
        {lines.map(({ line, message }, index) => (
          <FoldingRow key={index}>
            {line}
            <OfServer text={message} />
          </FoldingRow>
        ))}
      </FoldingTable>
      {count > lines.length && <Typography sx={{ p: 2 }}>{texts.filters.more(count - lines.length)}</Typography>}
    </Box>
  )
}
